'use strict'

const { fork } = require('node:child_process')
const { channel } = require('node:diagnostics_channel')
const { once } = require('node:events')
const net = require('node:net')
const path = require('node:path')
const { canListen, load } = require('../cluster/app-file')
const { checkFile } = require('./file')
const { end, print, printJSON } = require('./print')
const { lines, middlewareOf, routesOf } = require('./table')

/**
 * `kone routes`: the app's file is loaded, but nothing listens.
 *
 * @param {string} file
 * @param {{ json?: boolean }} values of the flags
 */
module.exports = async function routes (file, { json = false }) {
  const { path: found, flags } = checkFile(file, { transpile: true })
  if (flags.some(flag => !process.execArgv.includes(flag))) return again(flags)

  const made = []
  let listens = false
  net.Server.prototype.listen = function () {
    listens = true
    return this
  }
  channel('kone:application').subscribe(({ app }) => made.push(app))
  const { write } = process.stdout
  if (json) process.stdout.write = (...args) => process.stderr.write(...args) // what the app prints is no JSON
  const failed = once(process, 'uncaughtException').then(([thrown]) => { throw thrown })
  // an app may wait until it listens, which never comes
  const exported = await Promise.race([load(found), once(process, 'beforeExit').then(() => undefined), failed])
  process.stdout.write = write
  const app = isApp(exported) ? exported : made.at(-1)
  if (app !== exported && app !== undefined && !listens && !canListen(exported)) throw new Error(`${file} exports neither an app nor a function nor a server, and nothing listens: export the app (kone/docs/api/command.md)`)
  if (app === undefined) throw new Error(`${file} makes no Kone app: expected one new Kone() in it or in what it loads (kone/docs/api/command.md)`)

  const list = [...new Set([...made, app])].flatMap(routesOf)
  if (json) {
    printJSON({ middleware: middlewareOf(app), routes: list })
  } else {
    const before = middlewareOf(app)
    if (before.length > 0) print([`every request: ${before.join(', ')}`])
    print(list.length === 0 ? ['no routes'] : lines(list))
  }
  end() // the app may keep connections open
}

function isApp (value) {
  return Array.isArray(value?.middleware) && typeof value.callback === 'function'
}

// The same in a process that has the flags.
function again (flags) {
  const child = fork(path.join(__dirname, 'index.js'), process.argv.slice(2), { execArgv: [...process.execArgv, ...flags] })
  child.once('exit', code => process.exit(code ?? 1))
}
