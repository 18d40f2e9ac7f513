'use strict'

const { fork } = require('node:child_process')
const { lookup } = require('node:dns/promises')
const { accessSync, constants, existsSync, lstatSync, unlinkSync } = require('node:fs')
const net = require('node:net')
const { dirname, join } = require('node:path')
const { where } = require('./address')
const { PAGE, START_TIMEOUT, portError } = require('./settings')

/** ms until a line says that the app listens on another port. */
const PATIENCE = 3000

/** ms for the app's listeners of 'exit', which end the programs that it has started. */
const END_TIMEOUT = 1000

const WORKER = join(__dirname, 'worker.js')

/**
 * Start the app in a process of its own, beside whatever serves its ports, and end it.
 *
 * @param {object} env of the workers
 * @param {{ cwd?: string, worker?: string, execArgv?: string[], signal?: AbortSignal }} [options] of the workers; the
 *   signal ends it
 * @return {Promise<'http'|'https'>} rejected with one line if it does not come to listen
 */
async function dryRun (env, { cwd = process.cwd(), worker = WORKER, execArgv = process.execArgv, signal } = {}) {
  checkFolder(cwd)
  const child = fork(worker, {
    execArgv,
    cwd,
    env: { ...env, KONE_DRY_RUN: '1' },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc']
  })
  const gone = new Promise(resolve => {
    for (const event of ['exit', 'error']) child.once(event, resolve) // of one that cannot be started only 'error'
  })
  const end = async () => {
    child.send?.('shutdown', () => {}) // not disconnect(): node emits no 'close' then
    await Promise.race([gone, new Promise(resolve => setTimeout(resolve, END_TIMEOUT).unref())])
    child.kill('SIGKILL')
    await gone
  }
  signal?.addEventListener('abort', end)
  try {
    return await untilReady(child, env.PORT)
  } finally {
    await end()
    signal?.removeEventListener('abort', end)
  }
}

/** Node reports that its own program is missing if the folder is. */
function checkFolder (cwd) {
  if (!existsSync(cwd)) throw new Error(`the folder ${cwd}, where it was started, does not exist: make it, or stop and start again${PAGE}`)
}

/**
 * Wait until a worker listens.
 *
 * @param {ChildProcess} child
 * @param {number|string} port or the path of a Unix socket
 * @return {Promise<'http'|'https'>} rejected with one line if it does not
 */
function untilReady (child, port) {
  return new Promise((resolve, reject) => {
    let reason
    let elsewhere
    let protocol = 'http'
    const printed = { stdout: '', stderr: '' }
    const found = () => elsewhere === undefined ? `nothing listens on ${where(port)}` : `the app listens on port ${elsewhere}, not on ${where(port)}`
    const patience = setTimeout(() => {
      if (elsewhere !== undefined) console.error(`kone: ${found()}: kone waits until it listens on process.env.PORT${PAGE}`)
    }, PATIENCE)
    const timer = setTimeout(() => {
      child.kill('SIGKILL')
      reject(new Error(`after ${START_TIMEOUT / 1000} s ${found()}: the app has to listen on process.env.PORT${PAGE}`))
    }, START_TIMEOUT)
    const end = () => {
      clearTimeout(patience)
      clearTimeout(timer)
    }

    child.on('message', message => {
      if (typeof message?.failed === 'string') {
        reason = message.failed
      } else if (message?.elsewhere !== undefined) {
        elsewhere = message.elsewhere
      } else if (message?.protocol !== undefined) {
        protocol = message.protocol
      } else if (message === 'ready' && reason === undefined) { // of two servers, the other one may have failed before
        end()
        resolve(protocol)
      }
    })
    child.once('error', err => { // it may also be node that cannot write to it, when it has died
      if (child.pid !== undefined) return
      end()
      reject(err)
    })
    for (const name of Object.keys(printed)) {
      child[name]?.setEncoding('utf8').on('data', text => { printed[name] = (printed[name] + text).slice(-10000) })
      child.once('exit', () => setImmediate(() => child[name]?.destroy())) // a program that the app has started keeps it open
    }
    child.once('close', (code, signal) => {
      end()
      const how = `it ended with ${signal || `exit code ${code}`} before it listened on ${where(port)}`
      const logged = lastWords(printed.stdout) // by a logger; it may also be anything else
      reject(new Error(reason || lastWords(printed.stderr) || `${how}${logged ? `: ${logged}` : ''}${PAGE}`))
    })
  })
}

/** What node prints itself: warnings, calls in C++, and its version below an error that nobody caught. */
const BY_NODE = /^(?:\(node:\d+\) |\(Use `node --trace-|Node\.js v\d|-+ Native stack|\s*\d+: 0x)/

/**
 * What an app said that ended itself: its last line, or the message of the error that it printed last, below which its
 * stack and its properties are.
 */
function lastWords (printed) {
  const lines = printed.split(/[\r\n]+/).filter(text => text.trim() && !BY_NODE.test(text))
  const isCall = text => /^\s+at /.test(text)
  const stack = lines.findLastIndex(isCall)
  if (stack === -1 || lines.slice(stack).some(text => /^[^\s}\]]/.test(text))) return lines.at(-1)
  const said = lines.slice(0, stack)
  const first = said.findLastIndex(text => /^(?!\s).*Error\b/.test(text))
  if (first === -1) return said.findLast(text => /^\S/.test(text))
  return lines.slice(first, lines.findIndex((text, i) => i > first && isCall(text))).join(' ')
}

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

module.exports = { WORKER, checkFolder, checkPort, dryRun, removeStale, untilReady }
