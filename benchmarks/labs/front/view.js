'use strict'

const { ratios } = require('../../lib/report/findings')
const { ranking } = require('../../lib/report/tables')

/** The workload of app.fetch(). */
const FETCH = exports.FETCH = 'app.fetch'

exports.claims = [
  ['hello world ÷ node:http by hand', 'hello', 'node'],
  ['hello world ÷ node:http in its cheapest form', 'hello', 'node-cheapest'],
  ['hello world ÷ Koa 2', 'hello', 'koa'],
  ['hello world ÷ a raw socket that writes fixed bytes', 'hello', 'net'],
  ['the twelve headers of a browser ÷ node:http', 'browser', 'node'],
  ['the headers of a browser, another cookie each time ÷ node:http', 'browser, other cookies', 'node'],
  ['a JSON response ÷ node:http', 'json', 'node'],
  ...['', ' by bodyParser'].flatMap(by => ['node', 'koa'].flatMap(to => [['one read', 'post'], ['two reads', 'post, two reads']].map(([how, workload]) =>
    [`a JSON body in ${how}${by} ÷ ${to === 'node' ? 'node:http' : 'Koa 2 with koa-bodyparser'}`, workload, to, { contender: by ? 'kone-bodyParser' : 'kone' }]))),
  ['pipelined requests, 16 deep ÷ node:http', 'pipelined 16', 'node'],
  ['app.fetch() ÷ Hono’s', FETCH, 'hono']
]

const requests = figures => figures.workloads.filter(workload => workload !== FETCH)

exports.overview = figures => ({ lines: requests(figures).map(workload => [workload]) })

exports.chart = figures => ratios(figures, requests(figures), { what: 'The front', to: 'node' })

exports.sections = figures => [
  ...requests(figures).map(workload => ranking(figures, workload)),
  ranking(figures, FETCH, { heading: '`app.fetch(new Request())`, without a server', to: ['hono'] })
]
