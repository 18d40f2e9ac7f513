'use strict'

const { spawn } = require('node:child_process')
const path = require('node:path')
const { read } = require('../cluster/settings')
const { checkFile } = require('./file')

/**
 * `kone dev`: the app in a process that node itself restarts when a file of it changes.
 *
 * @param {string} file
 * @param {{ port?: string, host?: string }} values of the flags
 */
module.exports = function dev (file, { port, host }) {
  const found = checkFile(file, { transpile: true })
  const env = { ...process.env, KONE_APP: found.path }
  if (port !== undefined) env.PORT = port
  if (host !== undefined) env.HOST = host
  const settings = read(env)
  env.PORT = String(settings.port) // also for an app that listens itself
  if (settings.host !== undefined) env.KONE_DEV_HOST = settings.host
  env.DRAIN_TIMEOUT = String(settings.drainTimeout)

  const child = spawn(process.execPath, [
    ...process.execArgv, ...found.flags, '--watch', path.join(__dirname, 'dev-app.js')
  ], { env, stdio: 'inherit' })
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal))
  child.once('exit', code => process.exit(code ?? 0))
}
