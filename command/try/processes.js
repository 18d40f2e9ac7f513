'use strict'

const { spawn } = require('node:child_process')
const net = require('node:net')
const path = require('node:path')
const { once } = require('node:events')
const { setTimeout: sleep } = require('node:timers/promises')
const { koneFor } = require('../as-koa/replacement')
const cpu = require('../measure/cpu')
const { Channel } = require('./channel')

const CHILD = path.join(__dirname, 'child.js')
const WITHIN = 30_000 // ms until the app listens
const SETTLED = 400   // ms without another server
const LATER = 3000    // the same while the server of --port is missing
const ENDS = 100      // ms in which a process that has failed to respond ends
const TERMINATES = 500 // ms from SIGTERM to SIGKILL
const KILLED = 2000   // ms until a process is given up
const KEPT = 20       // lines of the app's output, for an error

/** An app that could not be tried: exit code 2. */
class Untried extends Error {}

/**
 * The app, started three times: with Koa, with Koa again, with kone. Each in a process group, which ends with it.
 *
 *    const group = new Processes()
 *    const koa = await group.start('koa', ['npm', 'start'])
 *    await group.stop()
 */
class Processes {
  constructor () {
    this.all = []
    this.isStopping = false
    this.hub = net.createServer(socket => this.accept(socket))
  }

  async open () {
    await once(this.hub.listen(0, '127.0.0.1'), 'listening')
  }

  /** Each process of an app sends first to whose it is. */
  accept (socket) {
    let side
    let pid
    const channel = new Channel(socket, message => {
      if (message.index !== undefined) [side, pid] = [this.all[message.index], message.pid]
      else if (message.listens !== undefined) side?.servers.push({ ...message.listens, channel, pid })
    })
  }

  /**
   * @param {string} side
   * @param {string[]} command
   * @param {string} [wanted] the port that the app names
   * @return {Promise<Side>}
   * @throws {Untried}
   */
  async start (side, command, wanted) {
    if (this.isStopping) throw new Error('kone try stops')
    const one = new Side(side, command, { index: this.all.length, port: this.hub.address().port })
    this.all.push(one)
    await one.ready(wanted)
    return one
  }

  async stop () {
    this.isStopping = true
    this.hub.close()
    await Promise.all(this.all.map(one => one.stop()))
  }
}

class Side {
  constructor (name, command, { index, port }) {
    this.name = name
    this.servers = []
    this.output = []
    this.exit = null
    const { NODE_OPTIONS = '' } = process.env
    const env = {
      ...process.env,
      KONE_AS_KOA: 'quiet',
      KONE_TRY: JSON.stringify({ isKone: name === 'kone', index, port }),
      NODE_OPTIONS: `${NODE_OPTIONS} --require ${JSON.stringify(CHILD)}`.trim()
    }
    this.child = spawn(command[0], command.slice(1), { env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
    for (const stream of [this.child.stdout, this.child.stderr]) stream.setEncoding('utf8').on('data', text => this.print(text))
    this.exited = new Promise(resolve => {
      this.child.once('error', err => resolve(this.exit = err.message))
      this.child.once('close', (code, signal) => resolve(this.exit ??= signal ?? `exit code ${code}`))
    })
  }

  print (text) {
    this.output.push(...text.split('\n').filter(Boolean))
    this.output.splice(0, this.output.length - KEPT)
  }

  /** Waits for its server: the one of the port that is wanted, or the only one. */
  async ready (wanted) {
    const until = performance.now() + WITHIN
    for (let count = 0; this.exit === null && performance.now() < until;) {
      if (count > 0 && count === this.servers.length) return this.choose(wanted)
      count = this.servers.length
      await this.exitsWithin(count === 0 ? 20 : this.servers.some(isOf(wanted)) ? SETTLED : LATER)
    }
    if (this.exit !== null) throw this.failed(`ended before it listened (${this.exit})`)
    throw this.failed(`did not listen within ${WITHIN / 1000} s`)
  }

  choose (wanted) {
    const known = this.servers.filter(isOf(wanted))
    const ports = [...new Set(this.servers.map(({ asked }) => String(asked)))]
    if (this.servers.some(({ isWorker }) => isWorker)) throw this.failed('starts a cluster of its own: name the file of a worker')
    if (known.length === 0) throw this.failed(`listens on ${ports.join(', ')}, not on ${wanted}`)
    if (new Set(known.map(({ asked }) => asked)).size > 1) throw this.failed(`listens on ${ports.join(' and ')}: choose one with --port`)
    const [server] = known
    const { koa, other } = server
    if (koa === null && other !== null) throw this.failed(`loads koa ${other}: use ${koneFor(other) ?? 'a kone of the same major version'}`)
    if (koa === null) throw this.failed('loads no Koa that can be replaced: it has none, or a bundle or a module system of its own holds it')
    this.server = server
  }

  failed (what) {
    const text = this.output.length > 0 ? `\n\n${this.output.map(line => `  ${line}`).join('\n')}\n` : ''
    return new Untried(`the app on ${this.name} ${what} (kone/docs/api/try.md)${text}`)
  }

  ask (what) {
    return this.server.channel.ask(what)
  }

  /** CPU time that its process has used so far, ns, and how long it waited for a core. */
  async usage () {
    return cpu.usage(this.server.pid) ?? { run: await this.ask('usage') * 1000, wait: 0 }
  }

  /** @return {Promise<string|null>} how its process has ended, if it has */
  async ended () {
    const isOver = await Promise.race([this.server.channel.closed.then(() => true), sleep(ENDS)])
    if (!isOver) return null
    await this.exitsWithin(ENDS)
    return this.exit ?? 'it ended'
  }

  /** Ends the whole group: `npm start` has children. A process that has left it ends with its channel. */
  async stop () {
    kill(this.child.pid, 'SIGTERM')
    await this.exitsWithin(TERMINATES)
    for (const { channel } of this.servers) channel.socket.destroy()
    kill(this.child.pid, 'SIGKILL')
    await this.exitsWithin(KILLED)
    this.child.unref()
    for (const stream of [this.child.stdout, this.child.stderr]) stream.destroy()
  }

  exitsWithin (ms) {
    return Promise.race([this.exited, sleep(ms, undefined, { ref: false })])
  }
}

const isOf = wanted => ({ asked }) => wanted === undefined || String(asked) === wanted

function kill (pid, signal) {
  try {
    if (pid !== undefined) process.kill(-pid, signal)
  } catch (err) {
    if (err.code !== 'ESRCH') throw err
  }
}

module.exports = { Processes, Untried }
