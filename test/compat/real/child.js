'use strict'

const http = require('node:http')

/**
 * One app as a contender of the lab: benchmarks/lib/servers/host.js runs it from its own folder. With
 * `KONE_FRONT=callback` its server is one that other code creates, as in Koa's own listen().
 *
 * @param {string[]} args the name of the app
 * @return {() => Promise<object>} starts its server, on a port of its choice
 */
exports.start = ([name]) => function listen () {
  process.chdir(__dirname) // Egg and Strapi look for their configuration there
  if (process.env.KONE_FRONT === 'callback') {
    require('koa').prototype.listen = function (...args) {
      return http.createServer(this.callback()).listen(...args)
    }
  }
  return require(`./${name}`).serve()
}
