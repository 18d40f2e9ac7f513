'use strict'

const { lstatSync, mkdirSync, readdirSync, readlinkSync, unlinkSync } = require('node:fs')
const net = require('node:net')
const { tmpdir } = require('node:os')
const { join } = require('node:path')
const { idOf, where } = require('./address')
const errorLine = require('./error-line')
const { LONGEST_PATH, PAGE } = require('./settings')

/**
 * How the commands reach the master: a local socket that is named after the port or path. A command is one
 * line, the result one line of JSON, `{ error }` or `{ result }`.
 */

/** ms that a master may take to say its status, which needs no worker. */
const SILENCE = 10_000

/**
 * Listen for commands.
 *
 * @param {number} port
 * @param {object} commands functions by name; what they resolve to is sent back
 * @return {Promise<Function>} that ends it
 */
async function serve (port, commands) {
  const address = addressOf(port)
  const server = net.createServer(async socket => {
    socket.on('error', () => {}) // the client has left
    const name = (await firstLine(socket)).trim()
    if (!Object.hasOwn(commands, name)) return socket.destroy()
    const reply = await commands[name]().then(result => ({ result }), err => ({ error: errorLine(err) }))
    socket.write(`${JSON.stringify(reply)}\n`)
  })
  try {
    await listen(server, address)
  } catch (err) {
    if (err.code !== 'EADDRINUSE') throw noSocket(err)
    const taken = await ask(port, 'status').catch(() => true)
    if (taken) throw new Error(`${where(port)} is in use by an instance of its own: reload or stop that one, or set PORT${PAGE}`)
    unlinkSync(address) // of a master that was killed
    await listen(server, address)
  }
  return () => server.close()
}

/**
 * Send a command.
 *
 * @param {number} port
 * @param {string} command
 * @return {Promise<{ result: * }|undefined>} undefined if nobody is there
 * @throws what the command failed with
 */
async function ask (port, command) {
  const isStatus = command === 'status'
  // a reload or a stop takes as long as it takes: whether anybody is at work says the status
  if (!isStatus && await ask(port, 'status') === undefined) return undefined

  let connected = false
  let silent = false
  const socket = net.connect(addressOf(port), () => { connected = true })
  socket.on('error', () => {}) // 'close' follows
  const gone = new Promise(resolve => socket.once('close', resolve))
  if (isStatus) socket.setTimeout(SILENCE, () => { silent = true; socket.destroy() })
  socket.write(`${command}\n`)

  const text = await firstLine(socket)
  if (!connected) return undefined
  if (silent) {
    throw new Error(`the instance on ${where(port)} has not responded for ${SILENCE / 1000} s: ` +
      `its master process is stopped or hangs: continue it (kill -CONT) or end it (kill -KILL)${PAGE}`)
  }
  if (text === '') throw new Error(`the instance on ${where(port)} ended before it responded to ${command}: start it again${PAGE}`)
  const { error, result } = JSON.parse(text)
  if (command === 'stop') await gone // with its master
  socket.destroy()
  if (error !== undefined) throw new Error(error)
  return { result }
}

/** @return {Promise<number[]>} the ports of the user's other instances */
async function others (port) {
  if (process.platform === 'win32') return []
  const end = `${namespace()}.sock`
  const sockets = readdirSync(ownFolder()).filter(name => name.endsWith(end))
  const ports = sockets.map(name => parseInt(name)).filter(one => !Number.isNaN(one) && one !== port)
  const there = await Promise.all(ports.map(one => ask(one, 'status').catch(() => true)))
  return ports.filter((one, i) => there[i])
}

function listen (server, address) {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(address, resolve)
  })
}

/** '' if the other side ended before. */
function firstLine (socket) {
  return new Promise(resolve => {
    let text = ''
    socket.setEncoding('utf8')
    socket.on('data', chunk => {
      text += chunk
      if (text.includes('\n')) resolve(text)
    })
    socket.once('close', () => resolve(''))
  })
}

function addressOf (port) {
  if (process.platform === 'win32') return `\\\\.\\pipe\\kone-${idOf(port)}`
  const address = join(ownFolder(), `${idOf(port)}${namespace()}.sock`)
  if (Buffer.byteLength(address) > LONGEST_PATH) {
    throw new Error(`${address} is longer than the ${LONGEST_PATH} bytes that the path of a socket may have: set TMPDIR to a shorter one${PAGE}`)
  }
  return address
}

/** Where nobody else can put a socket. */
function ownFolder () {
  const uid = process.getuid()
  const folder = join(tmpdir(), `kone-${uid}`)
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
  } catch (err) {
    throw noSocket(err)
  }
  const stat = lstatSync(folder)
  if (!stat.isDirectory() || stat.uid !== uid || (stat.mode & 0o077) !== 0) {
    const found = stat.isDirectory() ? `one of user ${stat.uid} with mode ${(stat.mode & 0o777).toString(8)}` : 'something else'
    throw new Error(`${folder} must be a folder of user ${uid} with mode 700, not ${found}: remove it, or set TMPDIR${PAGE}`)
  }
  return folder
}

function noSocket (err) {
  return new Error(`the commands need a socket in a folder for temporary files: ${err.message}: set TMPDIR to one that this user can write to${PAGE}`)
}

/** The same port may be served once in each network namespace, and they share files. */
function namespace () {
  try {
    return `-${/\d+/.exec(readlinkSync('/proc/self/ns/net'))[0]}`
  } catch {
    return ''
  }
}

module.exports = { serve, ask, others }
