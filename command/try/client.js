'use strict'

const { createHash } = require('node:crypto')
const http = require('node:http')
const http2 = require('node:http2')
const https = require('node:https')
const { once } = require('node:events')
const { setTimeout: sleep } = require('node:timers/promises')

const HANGS = 10_000       // ms without a header section
const IDLE = 1000          // ms in which no byte of a body comes: a response that does not end
const LONGEST = 10_000     // ms of a body
const KEPT = 1024 * 1024   // bytes of a body that are compared one by one; the rest by its hash
const CLOSES_WITHIN = 10   // ms in which a server closes a connection that it does not keep
const CLOSED = ', then the connection was closed'
const SURPLUS = ', then came bytes of no response'

/** Header fields: a later value replaces that of a name that differs in case alone. */
function merged (...all) {
  const fields = new Map()
  for (const [name, value] of all.flatMap(Object.entries)) {
    const key = name.toLowerCase()
    fields.set(key, [fields.get(key)?.[0] ?? name, value])
  }
  return Object.fromEntries(fields.values())
}

/** Asks one process of the app, on one connection, and keeps the cookies that it sets. */
class Client {
  /** @param {{ port: number, protocol: string }} server @param {string} host as the app is named by its clients */
  constructor ({ port, protocol }, host) {
    this.wire = protocol.endsWith('2') ? new Http2(port, protocol) : new Http1(port, protocol)
    this.host = host
    this.cookies = new Map()
  }

  /**
   * @param {{ method: string, path: string, headers: object, body?: string|Buffer }} request
   * @return {Promise<object>} `{ status, reason, fields, body, size, hash, end }`, or `{ failure }`
   */
  async ask ({ method, path, headers, body }) {
    const fields = this.fieldsOf(headers)
    if (body !== undefined) fields['Content-Length'] = Buffer.byteLength(body)
    let timer
    try {
      const { req, response } = this.wire.send(method, path, fields)
      timer = setTimeout(() => req.destroy(new Error(`no response within ${HANGS / 1000} s`)), HANGS)
      req.end(body)
      const { status, reason, fields: received, stream, after } = await response
      clearTimeout(timer)
      this.keep(received.filter(([name]) => name.toLowerCase() === 'set-cookie').map(([, value]) => value))
      return { status, reason, fields: received, ...await read(stream, after) }
    } catch (err) {
      return { failure: err.code === undefined ? err.message : `the connection failed (${err.code})` }
    } finally {
      clearTimeout(timer)
    }
  }

  /** With the cookies that a browser recorded, or in their place those that this process has set. */
  fieldsOf (headers) {
    const fields = merged({ Host: this.host, Cookie: '' }, headers)
    const recorded = fields.Cookie.split(/; */).filter(Boolean).map(pair => [pair.split('=')[0], pair])
    fields.Cookie = [...new Map([...recorded, ...this.cookies]).values()].join('; ')
    if (fields.Cookie === '') delete fields.Cookie
    return fields
  }

  keep (lines) {
    for (const line of lines) {
      const [pair, ...attributes] = line.split(/; */)
      const name = pair.split('=')[0]
      const isOver = attributes.some(one => /^max-age=(?:0|-\d+)$/i.test(one) || (/^expires=/i.test(one) && Date.parse(one.slice(8)) < Date.now()))
      if (isOver) this.cookies.delete(name)
      else this.cookies.set(name, pair)
    }
  }

  close () {
    this.wire.close()
  }
}

/** One connection, kept. */
class Http1 {
  constructor (port, protocol) {
    const { Agent, request } = protocol === 'https' ? https : http
    this.agent = new Agent({ keepAlive: true, maxSockets: 1, rejectUnauthorized: false })
    this.open = request
    this.port = port
  }

  send (method, path, headers) {
    const req = this.open({ host: '127.0.0.1', port: this.port, agent: this.agent, method, path, headers, setHost: false })
    let surplus = false
    req.on('error', ({ code }) => { surplus = /^HPE_/.test(code) })
    const response = once(req, 'response').then(([res]) => {
      const { statusCode: status, statusMessage: reason, rawHeaders: raw, socket } = res
      const after = () => surplus ? SURPLUS : socket.destroyed || socket.readableEnded ? CLOSED : ''
      return { status, reason, fields: pairs(raw), stream: res, after }
    })
    return { req, response }
  }

  close () {
    this.agent.destroy()
  }
}

function pairs (raw) {
  const fields = []
  for (let i = 0; i < raw.length; i += 2) fields.push([raw[i], raw[i + 1]])
  return fields
}

/** One session, kept. */
class Http2 {
  constructor (port, protocol) {
    this.origin = `${protocol.slice(0, -1)}://127.0.0.1:${port}`
    this.session = null
  }

  send (method, path, { Host, ...fields }) {
    if (this.session === null || this.session.closed || this.session.destroyed) {
      this.session = http2.connect(this.origin, { rejectUnauthorized: false }).on('error', () => {}) // the stream has it, too
    }
    const { session } = this
    const headers = Object.fromEntries(Object.entries(fields).map(([name, value]) => [name.toLowerCase(), value]))
    const req = session.request({ ':method': method, ':path': path, ':authority': Host, ...headers })
    const closed = once(req.on('error', () => {}), 'close').then(() => { throw new Error('the stream was closed') })
    const response = Promise.race([once(req, 'response'), closed]).then(([{ ':status': status, ...received }]) => {
      const all = Object.entries(received).flatMap(([name, value]) => [value].flat().map(one => [name, one]))
      return { status, fields: all, stream: req, after: () => session.closed || session.destroyed ? CLOSED : '' }
    })
    return { req, response }
  }

  close () {
    this.session?.destroy()
  }
}

/** The body, and how it ended. */
async function read (stream, after) {
  const hash = createHash('sha256')
  const chunks = []
  let size = 0
  let end = 'complete'
  const began = performance.now()
  let timer
  const stop = () => {
    end = 'open'
    stream.destroy()
  }
  const wait = () => {
    clearTimeout(timer)
    timer = setTimeout(stop, Math.max(0, Math.min(IDLE, LONGEST - (performance.now() - began))))
  }
  wait()
  try {
    for await (const chunk of stream) {
      wait()
      if (size < KEPT) chunks.push(chunk.subarray(0, KEPT - size))
      size += chunk.length
      hash.update(chunk)
    }
    if (end === 'complete' && !/close/i.test(stream.headers?.connection ?? '')) {
      await sleep(CLOSES_WITHIN)
      end += after()
    }
  } catch {
    if (end !== 'open') end = 'cut'
  } finally {
    clearTimeout(timer)
  }
  return { body: Buffer.concat(chunks), size, hash: end === 'open' ? null : hash.digest('hex'), end }
}

module.exports = { Client, merged }
