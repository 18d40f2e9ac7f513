'use strict'

const { spawn } = require('node:child_process')
const { once } = require('node:events')
const cpu = require('../../../command/measure/cpu')

const START = 30_000 // ms a server may take to listen, and to reply
const running = new Set()

/**
 * One contender in a process of its own, on a port it chose itself. It lives as long as the lab:
 * serve.js ends it when the channel to the lab closes, however the lab ended.
 */
module.exports = class Server {
  /** Kill what is still running. */
  static killAll () {
    for (const server of running) server.kill()
  }

  /**
   * @param {object} contender as contenders.js lists them
   * @param {{ node: string, flags?: string[], pin?: string, within?: number }} how pin: cores; within: ms to listen
   * @return {Promise<Server>} listening
   */
  static async start (contender, how) {
    const server = new this(contender, how)
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
    const { node, flags = [], within = START } = this.how
    const host = workers ? [require.resolve('./cluster'), String(workers)] : [require.resolve('./host')]
    this.spawn([node, ...flags, ...host, file, ...key ? [key] : [], ...args], {
      env: { ...process.env, NODE_ENV: 'production', NODE_OPTIONS: '', ...env },
      stdio: ['ignore', 'ignore', 'pipe', 'ipc']
    })
    try {
      this.port = (await this.#message(within)).port
    } catch (err) {
      await this.stop()
      throw err
    }
  }

  /** A process on the cores of this server; what it says last is kept. */
  spawn (command, options) {
    const [file, ...args] = this.how.pin ? ['taskset', '-c', this.how.pin, ...command] : command
    this.process = spawn(file, args, options)
    this.said = ''
    running.add(this)
    this.process.stderr.on('data', chunk => { this.said = (this.said + chunk).slice(-8192) })
    // 'close' of the process never comes when it was this side that closed the channel.
    const gone = new Promise(resolve => this.process.once('exit', resolve).once('error', resolve))
    const silent = new Promise(resolve => this.process.stderr.once('close', resolve))
    this.ended = Promise.all([gone, silent]).then(() => running.delete(this))
  }

  /** A new process, on another port. */
  async restart () {
    await this.stop()
    await this.open()
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

  async stop () {
    if (this.process.connected) this.process.disconnect()
    const late = setTimeout(() => this.kill(), 2000)
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

  async #message (within) {
    const over = new AbortController()
    const timer = setTimeout(() => over.abort(), within)
    const ended = once(this.process, 'exit', over).then(async ([code]) => {
      await this.ended
      throw new Error(this.reason || `${this.name} ended with code ${code}`)
    })
    try {
      const [message] = await Promise.race([once(this.process, 'message', over), ended])
      return message
    } catch (err) {
      throw err.name === 'AbortError' ? new Error(`${this.name} did not respond in ${within} ms`) : err
    } finally {
      clearTimeout(timer)
      over.abort()
    }
  }
}
