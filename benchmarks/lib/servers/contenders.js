'use strict'

const fs = require('node:fs')
const path = require('node:path')
const { READ_ON } = require('../run/options')
const { root } = require('./kone')

/**
 * What gives a contender's version: that of a package that the lab loads, its own or the checkout's, of kone, or of Node.
 *
 *    versionOf('koa')() // '2.16.4'
 */
const versionOf = exports.versionOf = function (name) {
  if (name === undefined) return node => node.slice(1)
  return () => {
    const folders = name === 'kone' ? [root] : module.paths.map(folder => path.join(folder, name))
    const file = folders.map(folder => path.join(folder, 'package.json')).find(fs.existsSync)
    return JSON.parse(fs.readFileSync(file, 'utf8')).version.replace(/^v/, '')
  }
}

/**
 * The contenders of a table, in its order.
 *
 *    list(require.resolve('./contenders'), { only: ['kone', 'node'] })
 *    // [{ name: 'kone', file: '/…/contenders.js', key: 'kone', version: [Function], about: undefined }, …]
 *
 * A contender for Node has `start(args)`, which gives what has Node's `listen(port, host, backlog)`, or a function of
 * these that gives a server or a promise of one. Its packages are loaded inside of `start`, because the lab itself
 * requires the table. `package` names the package whose version is shown (`kone` for the checkout; without it, the
 * version of Node), `about` is a remark. A program has `command`, as program.js takes it. The lab static reads two more:
 * `descriptorsEach`, open files per connection if not 1, and `leaks`, true for what does not close the file of a client
 * that has gone.
 *
 * @param {string} file that exports the table: contenders by name
 * @param {{ only?: string[] }} [which]
 * @return {object[]} `{ name, file, key, version: (node: string) => string, … }` and what the table has
 * @throws {TypeError} an entry has neither start nor command, or `only` names one that is missing
 */
exports.list = function (file, { only } = {}) {
  const table = require(file)
  return (only ?? Object.keys(table)).map(name => {
    if (!table[name]) throw new TypeError(`there is no contender ${name} in ${file}: expected ${Object.keys(table).join(', ')}${READ_ON}`)
    const { start, command, package: of, version, ...rest } = table[name]
    if (command) return { ...rest, name, program: table[name], version }
    if (typeof start !== 'function') throw new TypeError(`${name} of ${file} has neither start nor command: expected one${READ_ON}`)
    return { ...rest, name, file, key: name, package: of, version: versionOf(of) }
  })
}
