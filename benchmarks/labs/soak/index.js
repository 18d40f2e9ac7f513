'use strict'

const { lab } = require('../../lib/run/lab')
const { list } = require('../../lib/servers/contenders')
const { mixed, soak } = require('./soak')

/*
 * A million requests: whether memory grows with their number. A round is a hundred thousand requests, of hello world, and
 * then of the mixture of the arena.
 */

const question = { request: { path: '/' }, expected: { status: 200, type: 'text/plain; charset=utf-8', body: 'Hello World' } }

lab(module, {
  name: 'soak',
  contenders: list(require.resolve('../battle/contenders'), { only: ['node', 'kone', 'koa', 'fastify'] }),
  probe: contender => ({ contender, ...question }),
  view: require('./view'),

  async measure (lab) {
    await lab.inTime([
      { name: 'soak', act: () => soak(lab, lab.contenders, { workload: 'soak', question }) },
      { name: 'mixed', act: () => mixed(lab, lab.contenders.map(({ name }) => name)) }
    ])
    lab.result.derived.rounds = 10
  }
})
