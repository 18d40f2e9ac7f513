'use strict'

const { spawn } = require('node:child_process')
const cpu = require('../run/cpu')

const START = 30_000 // ms a server may take to listen, and to reply
const HOST = require.resolve('./host')
const CLUSTER = require.resolve('./cluster')
const running = new Set()

/**
 * One contender in a process of its own, on a port it chose itself. It lives as long as the lab:
 * serve.js ends it when the channel to the lab closes, however the lab ended.
 */
class Server {
  /** listening */
  static async start (contender, { node, flags = [], pin, within = START }) {
    const server = new Server(contender, { node, flags, pin, within })
    await server.open()
    return server
  }

  constructor (contender, how) {
    this.name = contender.name
    this.contender = contender
    this.how = how
  }

  /** @throws {Error} as `start` does */
  async open () {
    const { file, key, args = [], workers, env } = this.contender
    const { node, flags, pin, within } = this.how
    const command = [node, ...flags, ...workers ? [CLUSTER, String(workers)] : [HOST], file, ...key ? [key] : [], ...args]
    if (pin) command.unshift('taskset', '-c', pin)
    this.process = spawn(command[0], command.slice(1), {
      env: { ...process.env, NODE_ENV: 'production', NODE_OPTIONS: '', ...env },
      stdio: ['ignore', 'ignore', 'pipe', 'ipc']
    })
    this.follow()

    try {
      this.port = (await this.#message(within)).port
    } catch (err) {
      await this.stop()
      throw err
    }
  }

  /** A new process, on another port. */
  async restart () {
    await this.stop()
    await this.open()
  }

  /** Keep what it says last, and its place among the running. */
  follow () {
    this.said = ''
    running.add(this)
    this.process.stderr.on('data', chunk => { this.said = (this.said + chunk).slice(-8192) })
    this.ended = ended(this.process).then(() => running.delete(this))
  }

  /** The one line of what it said that tells why it ended. */
  get reason () {
    return this.said.split('\n').find(line => /^\w*Error\b/.test(line)) ?? this.said.trim().split('\n')[0]
  }

  get pid () {
    return this.process.pid
  }

  /** CPU time used so far. */
  async usage () {
    const used = cpu.usage(this.pid)
    if (used) return used
    const { exitCode, signalCode } = this.process
    if (exitCode !== null || signalCode !== null) throw new Error(`it ended: ${this.reason || signalCode || exitCode}`)
    return { run: (await this.#ask('usage')).cpu * 1000, wait: 0 }
  }

  /** Resident memory after a garbage collection (with the flag --expose-gc). */
  async resident () {
    const { resident } = await this.#ask('collect')
    return cpu.resident(this.pid) ?? resident
  }

  /** The 99th percentile of its event loop's delay, in ms, since this was last requested. */
  async delay () {
    return (await this.#ask('delay')).delay
  }

  async stop () {
    if (this.process.connected) this.process.disconnect()
    const late = setTimeout(() => this.process.kill('SIGKILL'), 2000)
    await this.ended
    clearTimeout(late)
  }

  /** At once, for signals and crashes of the lab. */
  kill () {
    this.process.kill('SIGKILL')
  }

  async #ask (what) {
    const message = this.#message(START) // a collection among a hundred thousand connections takes its time
    this.process.send(what)
    return message
  }

  #message (within) {
    return new Promise((resolve, reject) => {
      const settle = (act, value) => {
        clearTimeout(timer)
        this.process.off('message', message)
        this.process.off('error', failed)
        this.process.off('exit', exited)
        act(value)
      }
      const message = value => settle(resolve, value)
      const failed = err => settle(reject, err)
      const exited = code => this.ended.then(() => {
        settle(reject, new Error(this.reason || `${this.name} ended with code ${code}`))
      })
      const timer = setTimeout(() => failed(new Error(`${this.name} did not respond in ${within} ms`)), within)
      this.process.once('message', message)
      this.process.once('error', failed)
      this.process.once('exit', exited)
    })
  }
}

/** Kill what is still running. */
Server.killAll = function () {
  for (const server of running) server.kill()
}

module.exports = Server

// 'close' never comes when it was this side that closed the channel.
function ended (child) {
  const gone = new Promise(resolve => child.once('exit', resolve).once('error', resolve))
  const silent = new Promise(resolve => child.stderr.once('close', resolve))
  return Promise.all([gone, silent])
}
