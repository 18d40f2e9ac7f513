'use strict'

const { ratios } = require('../../lib/report/findings')
const { matrix, ranking } = require('../../lib/report/tables')
const { PROFILES, hasFloor } = require('./profiles')

const names = Object.keys(PROFILES)

exports.claims = names.flatMap(name => [
  [`${PROFILES[name].about} ÷ Koa 2`, name, 'koa'],
  [`${PROFILES[name].about} ÷ node:http by hand`, name, 'node']
])

exports.overview = () => ({
  lines: names.map(name => [`${name}: ${PROFILES[name].about}`, name, hasFloor(PROFILES[name]) ? {} : { net: null }])
})

exports.sections = figures => [
  matrix(figures, {
    heading: 'server CPU, µs/request',
    columns: names.map(name => [name, name]),
    chart: ratios(figures, names, { what: 'Profiles', to: 'koa' })
  }),
  ...names.map(name => ranking(figures, name, { heading: `${name}: ${PROFILES[name].about}`, to: ['node', 'koa', 'fastify'] }))
]
