'use strict'

const { lookup } = require('node:dns/promises')
const { accessSync, constants, lstatSync, unlinkSync } = require('node:fs')
const net = require('node:net')
const { dirname } = require('node:path')
const { PAGE, portError } = require('./settings')

/**
 * Can it be listened on? It is not tried with a server: that would accept connections, and reset them as it closes. A
 * Unix socket that a killed process has left is removed.
 *
 * @param {{ port: number|string, host?: string }} settings
 * @return {Promise} rejected with one line
 */
async function checkPort ({ port, host }) {
  try {
    if (typeof port === 'number') return await bind(port, host)
    await removeStale(port)
    accessSync(dirname(port), constants.W_OK | constants.X_OK)
  } catch (err) {
    throw err.syscall === undefined ? err : portError(port, err)
  }
}

/** Give the port to a client's socket for a moment, which connects to itself: nobody else can connect to it. */
async function bind (port, host) {
  const address = host === undefined ? undefined : (await lookup(host)).address
  await new Promise((resolve, reject) => {
    const socket = net.connect({ host: address ?? '127.0.0.1', port, localAddress: address, localPort: port })
    socket.once('connect', () => socket.resetAndDestroy())
    socket.once('error', err => { if (err.syscall === 'bind') reject(err) })
    socket.once('close', resolve)
  })
}

/** A socket whose process was killed; one that is served, and any other file, are errors. */
async function removeStale (path) {
  const stat = lstatSync(path, { throwIfNoEntry: false })
  if (stat === undefined) return
  if (!stat.isSocket()) throw new Error(`${path} is not a Unix socket: set PORT to another path, or remove it${PAGE}`)
  const { code } = await new Promise(resolve => {
    const socket = net.connect(path, () => {
      socket.destroy()
      resolve({ code: 'EADDRINUSE' })
    }).once('error', resolve)
  })
  if (code !== 'ECONNREFUSED') throw portError(path, { code: 'EADDRINUSE' }) // it may be busy, or of another user
  try {
    unlinkSync(path)
  } catch (err) {
    throw portError(path, err)
  }
}

module.exports = { checkPort, removeStale }
