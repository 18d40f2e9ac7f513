'use strict'

const { availableParallelism } = require('node:os')
const errorLine = require('./error-line')

/**
 * ms that a silent kept connection is left to send another request. `app.close()` leaves 600, which clients on
 * a machine with eight times the work that it has cores were seen to oversleep.
 */
const GRACE = 1000

/** ms beyond a drain's deadline after which a worker is taken for hung. */
const MARGIN = 2000

/** ms that an app may take until it listens. */
const START_TIMEOUT = 60000

const LONGEST_TIMER = 2 ** 31 - 1

/** The end of a message: where to read on. */
const PAGE = ' (kone/docs/api/cluster.md)'

/**
 * Read the settings from environment variables.
 *
 *    read({ PORT: '80' })   // { port: 80, instances: 8, drainTimeout: 10000, cluster: undefined }
 *
 * @param {object} env PORT, INSTANCES, DRAIN_TIMEOUT (ms), KONE_CLUSTER, KONE_REUSE_PORT; an empty one is not set
 * @return {{ port: number, instances: number, drainTimeout: number, cluster?: 'pm2'|'node', reusePort: boolean }}
 * @throws {Error} with one line that names the variable
 */
function read (env) {
  const cluster = env.KONE_CLUSTER || undefined
  if (cluster && cluster !== 'pm2' && cluster !== 'node') {
    throw new Error(`KONE_CLUSTER must be pm2 or node, not ${cluster}${PAGE}`)
  }
  const reusePort = wantsReusePort(env, cluster)
  return {
    port: whole(env, 'PORT', 4000, 1, 65535),
    instances: whole(env, 'INSTANCES', availableParallelism(), 1, 1024),
    drainTimeout: whole(env, 'DRAIN_TIMEOUT', 10000, 0, LONGEST_TIMER - GRACE - MARGIN),
    cluster: reusePort ? 'node' : cluster,
    reusePort
  }
}

function wantsReusePort ({ KONE_REUSE_PORT: text }, cluster) {
  if (!text || text === '0') return false
  if (text !== '1') throw new Error(`KONE_REUSE_PORT must be 1 or 0, not ${text}${PAGE}`)
  if (cluster === 'pm2') throw new Error(`KONE_REUSE_PORT needs KONE_CLUSTER=node: pm2 accepts the connections of its workers itself${PAGE}`)
  if (!canReusePort()) {
    throw new Error(`KONE_REUSE_PORT needs Linux and Node 22.12, 23.1 or later, not ${process.platform} and ${process.versions.node}${PAGE}`)
  }
  return true
}

function canReusePort () {
  const [major, minor] = process.versions.node.split('.').map(Number)
  return process.platform === 'linux' && (major > 23 || (major === 23 && minor >= 1) || (major === 22 && minor >= 12))
}

function whole (env, name, otherwise, least, most) {
  const text = env[name]
  if (!text) return otherwise
  const value = Number(text)
  if (/^\d+$/.test(text) && value >= least && value <= most) return value
  throw new Error(`${name} must be a whole number from ${least} to ${most}, not ${text}${PAGE}`)
}

/**
 * The same for the workers, defaults included: an app that listens itself reads PORT.
 *
 * @param {object} settings
 * @param {string} app absolute path
 * @return {object} environment variables
 */
function forWorkers ({ port, instances, drainTimeout, reusePort }, app) {
  return {
    KONE_APP: app,
    PORT: String(port),
    INSTANCES: String(instances),
    DRAIN_TIMEOUT: String(drainTimeout),
    KONE_REUSE_PORT: reusePort ? '1' : '0'
  }
}

/** ms after which a worker that has to end is killed. */
const killTimeout = ({ drainTimeout }) => drainTimeout + GRACE + MARGIN

/**
 * The error of a port that an app cannot listen on: the same before a start, in a worker and in `kone dev`.
 *
 * @param {number|string} port
 * @param {Error} err
 * @return {Error}
 */
function portError (port, err) {
  if (err.code === 'EADDRINUSE') {
    return new Error(`port ${port} is in use: end what listens there, or set PORT${PAGE}`)
  }
  return new Error(`cannot listen on port ${port}: ${errorLine(err)}: set PORT to a port that this user may open${PAGE}`)
}

module.exports = { GRACE, PAGE, START_TIMEOUT, read, forWorkers, killTimeout, portError }
