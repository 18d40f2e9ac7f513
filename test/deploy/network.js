'use strict'

const { execFile, spawn, spawnSync } = require('node:child_process')
const { once } = require('node:events')
const path = require('node:path')
const { promisify } = require('node:util')
const pause = require('../helpers/pause')
const { hasEnded } = require('./site')

const ROOT = path.join(__dirname, '../..')
const run = promisify(execFile)

/**
 * Three hosts, `edge`, `a` and `b`, that reach each other and can be cut off.
 *
 *    const network = namespaces()             // or loopback()
 *    await network.open()
 *    network.address.a                        // '198.18.7.11', which this process reaches too
 *    network.spawn('a', 'node', ['app.js'], { PORT: '4000' })
 *    await network.cut('a')
 *    await network.mend('a')
 *    await network.close()                    // and end whatever runs on them
 *
 * What runs on them ends with this process, however that ends.
 */
class Network {
  constructor (address) {
    this.address = address
    this.running = [] // { host, child }
  }

  async open () {}

  /** Start a program on a host; what it has printed so far is its `printed`. */
  spawn (host, program, args, env) {
    const [command, ...rest] = [...this.enter(host), 'setpriv', '--pdeathsig', 'KILL', program, ...args]
    const child = spawn(command, rest, {
      cwd: ROOT,
      env: { ...process.env, NODE_TEST_CONTEXT: undefined, ...env },
      stdio: ['ignore', 'pipe', 'pipe']
    })
    child.printed = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', text => { child.printed += text })
    }
    child.ended = once(child, 'close')
    this.running.push({ host, child })
    return child
  }

  async close () {
    for (const { child } of this.running) child.kill('SIGKILL')
    await Promise.all(this.running.map(({ child }) => child.ended))
  }
}

/** Each host has its own network stack and a cable to a switch; a cut takes the cable's end at the switch down. */
class Namespaces extends Network {
  constructor () {
    const net = `198.18.${process.pid % 256}` // set aside for tests (RFC 2544); two of them may run at once
    super({ edge: `${net}.1`, a: `${net}.11`, b: `${net}.12`, here: `${net}.100` })
    this.holders = {}
  }

  async open () {
    // A namespace is there as long as a process is in it: `cat` ends when this process does.
    for (const host of ['edge', 'a', 'b']) {
      const holder = spawn('unshare', ['--net', 'sh', '-c', 'echo; exec cat'], { stdio: ['pipe', 'pipe', 'inherit'] })
      holder.ended = once(holder, 'exit')
      this.holders[host] = holder
      await once(holder.stdout, 'data')
      await this.ip(host, 'link set lo up')
    }
    await this.ip('edge', 'link add switch type bridge')
    await this.ip('edge', `address add ${this.address.edge}/24 dev switch`)
    await this.ip('edge', 'link set switch up')
    for (const host of ['a', 'b', 'here']) {
      const cable = host === 'here' ? `kone${process.pid}` : 'cable'
      const there = host === 'here' ? [] : ['netns', String(this.holders[host].pid)]
      await run('ip', ['link', 'add', `to-${host}`, 'netns', String(this.holders.edge.pid), 'type', 'veth',
        'peer', 'name', cable, ...there])
      await this.ip('edge', `link set to-${host} master switch up`)
      await this.ip(host, `address add ${this.address[host]}/24 dev ${cable}`)
      await this.ip(host, `link set ${cable} up`)
    }
  }

  enter (host) { return host === 'here' ? [] : ['nsenter', `--net=/proc/${this.holders[host].pid}/ns/net`] }

  ip (host, line) {
    const [command, ...args] = [...this.enter(host), 'ip', ...line.split(' ')]
    return run(command, args)
  }

  cut (host) { return this.ip('edge', `link set to-${host} down`) }

  mend (host) { return this.ip('edge', `link set to-${host} up`) }

  async close () {
    await super.close()
    // Goes with its namespace otherwise, which connections to a host that is cut off keep for a while.
    await run('ip', ['link', 'delete', `kone${process.pid}`]).catch(() => {})
    for (const holder of Object.values(this.holders)) {
      holder.stdin.end()
      await holder.ended
    }
  }
}

/** Addresses of one stack: a host that is cut off is one whose processes stand still. */
class Loopback extends Network {
  constructor () { super({ edge: '127.0.0.10', a: '127.0.0.11', b: '127.0.0.12' }) }

  enter () { return [] }

  async cut (host) { await Promise.all(this.childrenOn(host).map(pause)) }

  async mend (host) {
    for (const child of this.childrenOn(host)) child.kill('SIGCONT')
  }

  childrenOn (which) {
    return this.running.filter(({ host, child }) => host === which && !hasEnded(child)).map(({ child }) => child)
  }
}

/** Whether this process may make network namespaces and put cables between them. */
function areAllowed () {
  return spawnSync('unshare', ['--net', 'ip', 'link', 'add', 'type', 'veth'], { stdio: 'ignore' }).status === 0
}

exports.areAllowed = areAllowed
exports.namespaces = () => new Namespaces()
exports.loopback = () => new Loopback()
