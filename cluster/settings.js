'use strict'

const { availableParallelism } = require('node:os')
const { resolve } = require('node:path')
const { Rule, integer, oneOf, shape, text } = require('../lib/shared/options')
const { LONGEST } = require('../lib/shared/timers')
const { portOf, where } = require('./address')
const errorLine = require('./error-line')
const { cwd } = require('./release')

/**
 * ms that a silent kept connection is left to send another request. `app.close()` leaves 600, which clients on
 * a machine with eight times the work that it has cores were seen to oversleep.
 */
const GRACE = 1000

/** ms beyond a drain's deadline after which a worker is taken for hung. */
const MARGIN = 2000

/** ms that an app may take until it listens. */
const START_TIMEOUT = 60000

/**
 * Messages to a worker beside `shutdown`: to call what precedes its drain, which it sends back when that is over; and
 * that its successor serves, so that nothing has to precede it.
 */
const BEFORE = 'kone:before'
const REPLACED = 'kone:replaced'

/** The end of a message: where to read on. */
const PAGE = ' (kone/docs/api/cluster.md)'

/** Bytes of a socket's path: `sun_path` without its last NUL. A longer one would be cut, or refused as invalid. */
const LONGEST_PATH = process.platform === 'linux' ? 107 : 103

const socket = new Rule('the path of a Unix socket (with a /)', value => typeof value === 'string' && value.includes('/'))
const mode = new Rule('octal digits, such as 660', value => /^0*[0-7]{1,3}$/.test(value))

/** The environment variables. */
const VARIABLES = shape({
  PORT: integer({ min: 1, max: 65535 }).or(socket).says('where the app listens: a port, or the path of ' +
    '[a Unix socket](#a-unix-socket); the other commands find the instance by it, and pm2 lists it as `kone-PORT`', { default: 4000 }),
  HOST: text.says('the name or the address of this machine where all workers listen on the port', { otherwise: 'all interfaces' }),
  KONE_SOCKET_MODE: mode.says('who may connect to the Unix socket, in octal digits: 660 for the user and the group',
    { otherwise: "the process's umask" }),
  INSTANCES: integer({ min: 1, max: 1024 }).says('how many workers', { default: availableParallelism(), otherwise: 'all cores' }),
  KONE_CLUSTER: oneOf('pm2', 'node').says('what starts them', { otherwise: '`pm2` if it is installed, else `node`' }),
  DRAIN_TIMEOUT: integer({ min: 0, max: LONGEST - GRACE - MARGIN }).says('ms that a worker may take to drain', { default: 10_000 }),
  KONE_MIN_LIFE: integer({ min: 0, max: 60_000 }).says(
    'ms that a new worker must live before a reload ends the old one', { default: 1000 }),
  KONE_REUSE_PORT: oneOf(0, 1).says('1: [each worker accepts its own connections](#without-a-primary), with node:cluster alone',
    { default: 0 }),
  PM2_HOME: text.says("pm2's folder", { otherwise: '`~/.pm2`' })
})

/** Variables that are no number even if they look like one. */
const TEXTS = ['HOST', 'KONE_SOCKET_MODE', 'PM2_HOME']

/**
 * Read the settings from environment variables.
 *
 *    read({ PORT: '80' })   // { port: 80, instances: 8, drainTimeout: 10000, minLife: 1000, cluster: undefined, … }
 *
 * @param {object} env see VARIABLES; an empty one is not set
 * @return {{ port: number|string, host?: string, socketMode?: string, instances: number, drainTimeout: number,
 *   minLife: number, cluster?: 'pm2'|'node', reusePort: boolean }}
 * @throws {Error} with one line that names the variable
 */
function read (env) {
  const given = {}
  for (const name of VARIABLES.names) {
    if (env[name]) given[name] = TEXTS.includes(name) ? env[name] : portOf(env[name])
  }
  for (const [name, value] of Object.entries(given)) {
    const refusal = VARIABLES.members[name].refusal(value, name)
    if (refusal !== undefined) throw new Error(refusal + PAGE)
  }
  const { PORT, HOST, KONE_SOCKET_MODE, INSTANCES, DRAIN_TIMEOUT, KONE_CLUSTER, KONE_MIN_LIFE, KONE_REUSE_PORT } =
    VARIABLES.fill(given)
  const reusePort = KONE_REUSE_PORT === 1
  if (reusePort) checkReusePort(KONE_CLUSTER)
  const port = typeof PORT === 'string' ? resolve(cwd(), PORT) : PORT
  if (typeof port === 'string') checkSocketPath(port, { HOST, KONE_REUSE_PORT: reusePort })
  if (typeof port === 'number' && KONE_SOCKET_MODE !== undefined) {
    throw new Error(`KONE_SOCKET_MODE is for a Unix socket, but PORT is ${port}: leave it out${PAGE}`)
  }
  return {
    port,
    host: HOST,
    socketMode: KONE_SOCKET_MODE,
    instances: INSTANCES,
    drainTimeout: DRAIN_TIMEOUT,
    minLife: KONE_MIN_LIFE,
    cluster: reusePort ? 'node' : KONE_CLUSTER,
    reusePort
  }
}

function checkSocketPath (path, others) {
  const other = Object.keys(others).find(name => others[name])
  if (other !== undefined) {
    throw new Error(`${other} is for a port, but PORT is the path of a Unix socket, ${path}: leave one of them out${PAGE}`)
  }
  if (Buffer.byteLength(path) <= LONGEST_PATH) return
  throw new Error(`PORT: ${path} is longer than the ${LONGEST_PATH} bytes that the path of a socket may have${PAGE}`)
}

function checkReusePort (cluster) {
  if (cluster === 'pm2') throw new Error(`KONE_REUSE_PORT needs KONE_CLUSTER=node: pm2 accepts the connections of its workers itself${PAGE}`)
  if (!canReusePort()) {
    throw new Error(`KONE_REUSE_PORT needs Linux and Node 22.12, 23.1 or later, not ${process.platform} and ${process.versions.node}${PAGE}`)
  }
}

function canReusePort () {
  const [major, minor] = process.versions.node.split('.').map(Number)
  return process.platform === 'linux' && (major > 23 || (major === 23 && minor >= 1) || (major === 22 && minor >= 12))
}

/**
 * The same for the workers, defaults included: an app that listens itself reads PORT.
 *
 * @param {object} settings
 * @param {string} app absolute path
 * @return {object} environment variables
 */
function forWorkers ({ port, host, socketMode, instances, drainTimeout, reusePort }, app) {
  return {
    ...(host !== undefined && { HOST: host }),
    ...(socketMode !== undefined && { KONE_SOCKET_MODE: socketMode }),
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
 * @param {number|string} port or the path of a Unix socket
 * @param {Error} err
 * @param {boolean} [isOwn] whether this process itself listens there
 * @return {Error}
 */
function portError (port, err, isOwn = false) {
  const place = where(port)
  if (err.code === 'EADDRINUSE' && isOwn) {
    return new Error(`${place} is in use: the file listens there twice, or exports the app and calls listen() later: do one of them${PAGE}`)
  }
  if (err.code === 'EADDRINUSE') {
    return new Error(`${place} is in use: end what listens there, or set PORT${PAGE}`)
  }
  const remedy = err.syscall === 'getaddrinfo' || err.code === 'EADDRNOTAVAIL'
    ? 'HOST or --host must be a name or an address of this machine'
    : place === port
      ? 'set PORT to a path in a folder that exists, and that this user may write to'
      : 'set PORT to a port that this user may open'
  return new Error(`cannot listen on ${place}: ${errorLine(err)}: ${remedy}${PAGE}`)
}

module.exports = {
  BEFORE, GRACE, LONGEST_PATH, PAGE, REPLACED, START_TIMEOUT, VARIABLES, read, forWorkers, killTimeout, portError
}
