'use strict'

const http = require('node:http')
const { createRequire } = require('node:module')
const path = require('node:path')

/**
 * An app, or what is behind it, as a contender of the lab: benchmarks/lib/servers/host.js runs it from the app's own folder.
 * With `KONE_FRONT=callback` its server is one that other code creates, as in Koa's own listen().
 *
 * @param {string[]} args the app's file, the function that starts it, and what that is called with
 * @return {() => Promise<object>} starts a server, on a port of its choice
 */
exports.start = ([file, part, ...given]) => function listen () {
  process.chdir(path.dirname(file)) // Egg and Strapi look for their configuration there
  if (process.env.KONE_FRONT === 'callback') {
    createRequire(file)('koa').prototype.listen = function (...args) {
      return http.createServer(this.callback()).listen(...args)
    }
  }
  return require(file)[part](...given)
}
