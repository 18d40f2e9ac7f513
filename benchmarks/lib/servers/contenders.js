'use strict'

const fs = require('node:fs')
const path = require('node:path')
const { PAGE } = require('../run/options')
const { koneVersion, packageVersion } = require('./versions')

/**
 * The contenders of a folder: every file is one, named after it. Files that begin with `_` are what they share.
 *
 *    list(path.join(__dirname, 'contenders'), { first: ['kone', 'node'] })
 *    // [{ name: 'kone', file: '/…/contenders/kone.js', version: [Function], about: undefined }, …]
 *
 * A contender for Node exports `start(args)`, which gives what has Node's `listen(port, host, backlog)`, or a
 * function of these that gives a server or a promise of one. Its packages are loaded inside of `start`, because the
 * lab itself requires the file. `package` names the package whose version is shown (`kone` for the checkout; without
 * it, the version of Node), `about` is a remark. A program exports `command`, as program.js takes it. The lab static
 * reads two more: `descriptorsEach`, open files per connection if not 1, and `leaks`, true for what does not close the
 * file of a client that has gone.
 *
 * @param {string} folder
 * @param {{ first?: string[], only?: string[] }} [order] first: these before the others, which are in alphabetical
 *   order; only: these alone
 * @return {object[]} `{ name, file, version: (node: string) => string, … }` and what the file exports
 * @throws {TypeError} a file exports neither start nor command, or there is no file of a name in `first` or `only`
 */
exports.list = function (folder, { first = [], only } = {}) {
  const found = fs.readdirSync(folder).filter(name => /^[^_].*\.js$/.test(name)).map(name => path.basename(name, '.js')).sort()
  for (const name of [...first, ...only ?? []]) {
    if (!found.includes(name)) throw new TypeError(`there is no contender ${name} in ${folder}: expected ${found.join(', ')}${PAGE}`)
  }
  const names = [...new Set([...first, ...only ?? found])]
  return names.map(name => read(path.join(folder, `${name}.js`)))
}

/**
 * The contender of one file.
 *
 * @param {string} file
 * @return {object} as `list` gives it
 * @throws {TypeError} the file exports neither start nor command
 */
const read = exports.read = function (file) {
  const { start, command, package: of, version, ...rest } = require(file)
  const { about, descriptorsEach, leaks } = rest
  const name = path.basename(file, '.js')
  if (command) return { name, program: require(file), version, about, descriptorsEach, leaks }
  if (typeof start !== 'function') throw new TypeError(`${file} exports neither start nor command: expected one${PAGE}`)
  return { ...rest, name, file, package: of, version: versionOf(of) }
}

function versionOf (name) {
  if (name === undefined) return node => node.slice(1)
  return name === 'kone' ? koneVersion : () => packageVersion(name)
}
