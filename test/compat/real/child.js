'use strict'

/**
 * One app as a contender of the lab: benchmarks/lib/servers/host.js runs it from its own folder.
 *
 * @param {string[]} args the name of the app
 * @return {() => Promise<object>} starts its server, on a port of its choice
 */
exports.start = ([name]) => function listen () {
  process.chdir(__dirname) // Egg and Strapi look for their configuration there
  return require(`./${name}`).serve()
}
