'use strict'

const { createHash, randomBytes } = require('node:crypto')
const http = require('node:http')
const { setTimeout: sleep } = require('node:timers/promises')

/** ms that a client thinks at most between two requests. */
const THINKING = 300

/** ms that this process may be held up, so that its client thought for longer than it says. */
const HELD_UP = 150

/** ms after which a response will not come any more. */
const PATIENCE = 30000

const UPLOAD = randomBytes(96 * 1024)
const HASH = createHash('sha1').update(UPLOAD).digest('hex')
const CHUNKS = 12

/** What a client asks, and the whole response that it expects; test/cluster/fixtures/app.js gives it. */
const KINDS = {
  kept: { path: '/echo', expected: id => `${id}` },
  fresh: { path: '/echo', expected: id => `${id}`, fresh: true },
  upload: { path: '/upload', expected: id => `${id} ${HASH}`, upload: true },
  slow: { path: '/slow', expected: id => `${id} at last` },
  stream: { path: '/stream', expected: id => Array.from({ length: 20 }, (_, i) => `${id}.${i}\n`).join('') }
}

const MIX = { kept: 24, fresh: 10, upload: 6, slow: 5, stream: 5 }

/**
 * Fifty clients that ask again and again, and never the same twice: whatever fails is counted.
 *
 *    const load = start(port)
 *    const { answered, failures } = await load.stop()
 *
 * A response that is not exactly the expected one is a failure, and so is one that belongs to another
 * request.
 */
exports.start = function (port) {
  return new Load(port)
}

class Load {
  constructor (port) {
    this.port = port
    this.stopped = false
    this.last = 0
    this.counts = Object.fromEntries(Object.keys(KINDS).map(kind => [kind, 0]))
    this.failures = []
    this.workers = new Set()
    this.versions = new Set()
    this.sockets = new Set()
    this.ticked = performance.now()
    this.heldUp = 0 // when this process was held up last
    this.timer = setInterval(() => this.tick(), 20)
    this.owners = new WeakMap() // connection → the worker that has responded on it
    this.clients = Object.entries(MIX).flatMap(([kind, count]) => {
      return Array.from({ length: count }, () => this.client(kind))
    })
  }

  /** Requests so far: the last one's number. */
  asked () {
    return this.last
  }

  /** Connections that are open and on which `worker` has responded, or nobody yet. */
  held (worker) {
    return Array.from(this.sockets, socket => this.owners.get(socket) ?? worker).filter(owner => owner === worker).length
  }

  /** Resolves to itself when every client has its last response. */
  async stop () {
    this.stopped = true
    await Promise.all(this.clients)
    clearInterval(this.timer)
    return this
  }

  tick () {
    const now = performance.now()
    if (now - this.ticked > HELD_UP) this.heldUp = now
    this.ticked = now
  }

  get answered () {
    return Object.values(this.counts).reduce((sum, count) => sum + count)
  }

  async client (kind) {
    const { fresh } = KINDS[kind]
    const agent = fresh ? false : new http.Agent({ keepAlive: true, maxSockets: 1 })
    while (!this.stopped) {
      const id = ++this.last
      const began = performance.now()
      await this.ask(KINDS[kind], id, agent).then(
        () => { this.counts[kind]++ },
        err => { this.failures.push(new Failure(kind, id, err, this.owners.get(err.socket))) }
      )
      await sleep(Math.random() * THINKING)
      this.tick()
      // A server that drains ends a connection that has been silent for twice THINKING.
      if (this.heldUp > began && agent) agent.destroy()
    }
    if (agent) agent.destroy()
  }

  async ask ({ path, expected, upload }, id, agent) {
    const { status, headers, text, socket } = await this.send(`${path}?id=${id}`, upload, agent)
    const whole = expected(id)
    if (status !== 200 || text !== whole) {
      const what = `${status} ${JSON.stringify(text.slice(0, 60))}, ${text.length} of ${whole.length}`
      throw Object.assign(new Error(what), { socket })
    }
    this.workers.add(Number(headers['x-worker']))
    this.versions.add(headers['x-version'])
  }

  send (path, upload, agent) {
    return new Promise((resolve, reject) => {
      const fail = err => reject(Object.assign(err, { socket: req.socket }))
      const headers = upload ? { 'content-length': UPLOAD.length } : {}
      const req = http.request({
        host: '127.0.0.1', port: this.port, agent, path, headers, method: upload ? 'POST' : 'GET', timeout: PATIENCE
      })
      req.on('socket', socket => {
        if (this.sockets.has(socket)) return
        this.sockets.add(socket)
        socket.once('close', () => this.sockets.delete(socket))
      })
      req.on('timeout', () => req.destroy(new Error('no response')))
      req.on('error', fail)
      req.on('response', res => {
        const { socket } = res
        this.owners.set(socket, Number(res.headers['x-worker']))
        let text = ''
        res.setEncoding('utf8')
        res.on('data', chunk => { text += chunk })
        res.on('error', fail)
        res.on('end', () => resolve({ status: res.statusCode, headers: res.headers, text, socket }))
      })
      if (upload) trickle(req).catch(fail)
      else req.end()
    })
  }
}

class Failure {
  constructor (kind, id, err, worker) {
    this.id = id
    this.worker = worker // that had responded on the connection; undefined on one without any response
    this.toString = () => `${kind} ${id}, worker ${worker}: ${err.message}`
  }
}

async function trickle (req) {
  const size = UPLOAD.length / CHUNKS
  for (let i = 0; i < CHUNKS && !req.destroyed; i++) {
    req.write(UPLOAD.subarray(i * size, (i + 1) * size))
    await sleep(20)
  }
  req.end()
}
