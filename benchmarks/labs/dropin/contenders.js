'use strict'

const kone = require('../../lib/servers/kone')
const { start } = require('./app')

/*
 * The same apps on Koa and on kone; node is the same by hand.
 */
module.exports = {
  koa: { package: 'koa', start: args => start(args, () => require('koa'), 'koa') },
  kone: { package: 'kone', start: args => start(args, () => kone('.'), 'kone') },
  node: require('./by-hand'),
  'kone-node': {
    package: 'kone',
    about: 'kone on node:http (http1: false)',
    start: args => start(args, () => class extends kone('.') {
      constructor () {
        super({ http1: false })
      }
    })
  }
}
