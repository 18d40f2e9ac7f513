'use strict'

const { createHash } = require('node:crypto')
const { basename, resolve } = require('node:path')

/**
 * Where an app listens: a port, or the path of a Unix socket, each as the environment variable PORT has it.
 */

/**
 * @param {string} text of PORT
 * @return {number|string}
 */
function portOf (text) {
  return /^\d+$/.test(text) ? Number(text) : text
}

/** In messages: `port 4000` or `/run/app.sock`. */
function where (port) {
  return typeof portOf(port) === 'number' ? `port ${port}` : port
}

/** In names of files and in pm2's list: `4000` or `app.sock-2ae1c0f4`. */
function idOf (port) {
  if (typeof port === 'number') return String(port)
  const hash = createHash('sha256').update(port).digest('hex').slice(0, 8)
  return `${basename(port).replace(/[^\w.-]/g, '-').slice(-20)}-${hash}`
}

/** For the one who started it: `http://localhost:4000` or `http on /run/app.sock`. */
function urlOf (protocol, port, host = 'localhost') {
  if (typeof port === 'string') return `${protocol} on ${port}`
  return `${protocol}://${isReached(host) ? 'localhost' : host.includes(':') ? `[${host}]` : host}:${port}`
}

/** By the name localhost. */
function isReached (host) {
  return ['127.0.0.1', '::1', '0.0.0.0', '::'].includes(host)
}

/**
 * The port or path that `server.listen()` got.
 *
 * @param {Array} args
 * @return {number|string} NaN if it got neither
 */
function requested ([first]) {
  const value = first?.port ?? first?.path ?? first
  return typeof value === 'string' && typeof portOf(value) === 'string' ? resolve(value) : Number(value)
}

/**
 * Arguments of `server.listen()` with a host, if they have a port and no host: without one node listens on all
 * interfaces of the machine.
 *
 * @param {Array} args
 * @param {string} host
 * @return {Array}
 */
function withHost (args, host) {
  const [port, second, ...rest] = args
  if (port !== null && typeof port === 'object') {
    const isPort = port.port !== undefined && !port.host && port.path === undefined
    return isPort ? [{ ...port, host }, ...args.slice(1)] : args
  }
  if (typeof port === 'function') return [0, host, ...args]
  if (port !== undefined && port !== null && !/^\d+$/.test(port)) return args // a path
  if (typeof second === 'string' && second !== '') return args
  const isLeftOut = second === undefined || second === null || second === ''
  return [port ?? 0, host, ...(isLeftOut ? rest : [second, ...rest])]
}

module.exports = { idOf, portOf, requested, urlOf, where, withHost }
