'use strict'

const { connect } = require('node:net')
const { tmpdir } = require('node:os')
const { urlOf, where } = require('./address')
const control = require('./control')
const { WORKER } = require('./dry-run')
const { releaseOf } = require('./release')
const { PAGE, read } = require('./settings')

const backends = {
  get pm2 () { return require('./pm2') },
  get node () { return require('./node') }
}

/**
 * Start an app in a cluster: pm2's if pm2 is installed, otherwise node:cluster's.
 *
 * @param {string} app path of its file, as it was given
 * @param {object} env PORT, INSTANCES, KONE_CLUSTER, DRAIN_TIMEOUT
 * @return {Promise<{ text: string, isOver: boolean }>} what to print; whether this process may end
 * @throws {Error} with one line
 */
async function start (app, env) {
  const settings = read(env)
  const cluster = settings.cluster || (backends.pm2.isThere() ? 'pm2' : 'node')
  const { by, protocol } = await backends[cluster].start(settings, releaseOf(app, WORKER))
  return {
    text: `${urlOf(protocol, settings.port, settings.host)} in ${settings.instances} ${settings.instances === 1 ? 'worker' : 'workers'} (${by})`,
    isOver: cluster === 'pm2'
  }
}

/**
 * Send a command to whichever serves the port, unless KONE_CLUSTER names one.
 *
 * @param {'reload'|'status'|'stop'} command
 * @param {object} env
 * @return {Promise<string[]>} lines to print
 * @throws {Error} with one line
 */
async function ask (command, env) {
  const settings = read(env)
  const { cluster, host, port } = settings
  const names = cluster ? [cluster] : backends.pm2.isThere() ? ['node', 'pm2'] : ['node']
  for (const name of names) {
    const reply = await backends[name].ask(command, settings)
    if (!reply) continue
    return command === 'status' ? reply.result.map(({ pid, state }) => `pid ${pid}  ${state}`) : []
  }
  const [other] = names.includes('node') ? await control.others(port) : []
  if (other !== undefined) throw new Error(`nothing was started on ${where(port)}, but on port ${other}: kone ${command} --port ${other}${PAGE}`)
  if (names.includes('node') && await isServed(port, host)) {
    throw new Error(`something listens on ${where(port)}, but this user has no socket of an instance there in TMPDIR ${tmpdir()}: ` +
      `give the command as kone start was given, or send a signal to the master process${PAGE}`)
  }
  throw new Error(`nothing was started on ${where(port)}: kone start <file> --port ${port}${PAGE}`)
}

function isServed (port, host) {
  return new Promise(resolve => {
    const socket = connect(typeof port === 'string' ? { path: port } : { port, host }, () => {
      socket.destroy()
      resolve(true)
    }).once('error', () => resolve(false))
  })
}

module.exports = { start, ask }
