'use strict'

const http = require('node:http')
const https = require('node:https')
const { certificate } = require('../../lib/servers/certificate')
const kone = require('../../lib/servers/kone')
const { underAgent } = require('./agents')
const { workloads } = require('./workloads')

/*
 * The same apps on Koa and on kone; node is the same by hand.
 */

// The row, with the agent of it loaded, if it has one: before the framework, as its manual wants it.
function rowOf (name) {
  const row = workloads.find(({ workload }) => workload === name)
  if (row.load) require(row.load)
  return row
}

const on = (name, framework) => ([workload, folder]) => {
  const { agent, mount } = rowOf(workload)
  const make = (Framework, require) => {
    const app = new Framework()
    return mount(app, folder, require) ?? app
  }
  if (!agent) return make(framework())
  return (...where) => underAgent(agent, folder, name, require => make(require('koa'), require)).then(app => app.listen(...where))
}

module.exports = {
  koa: { package: 'koa', start: on('koa', () => require('koa')) },

  kone: { package: 'kone', start: on('kone', () => kone('.')) },

  node: {
    start ([workload, folder]) {
      const handler = rowOf(workload).byHand(folder)
      return workload === 'https' ? https.createServer(certificate(folder), handler) : http.createServer(handler)
    }
  },

  'kone-node': {
    package: 'kone',
    about: 'kone on node:http (http1: false)',
    start: on('kone', () => class extends kone('.') {
      constructor () {
        super({ http1: false })
      }
    })
  }
}
