'use strict'

const { createHash } = require('node:crypto')
const http = require('node:http')
const https = require('node:https')
const { setTimeout: sleep } = require('node:timers/promises')

const HANGS = 10_000       // ms without a header section
const IDLE = 1000          // ms in which no byte of a body comes: a response that does not end
const LONGEST = 10_000     // ms of a body
const KEPT = 1024 * 1024   // bytes of a body that are compared one by one; the rest by its hash
const CLOSES_WITHIN = 10   // ms in which a server closes a connection that it does not keep

/** Asks one process of the app, on one connection, and keeps the cookies that it sets. */
class Client {
  /** @param {{ port: number, protocol: string }} server @param {string} host as the app is named by its clients */
  constructor ({ port, protocol }, host) {
    const { Agent, request } = protocol === 'https' ? https : http
    this.open = request
    this.port = port
    this.host = host
    this.cookies = new Map()
    this.agent = new Agent({ keepAlive: true, maxSockets: 1, rejectUnauthorized: false })
  }

  /**
   * @param {{ method: string, path: string, headers: object, body?: string|Buffer }} request
   * @return {Promise<object>} `{ status, reason, fields, body, size, hash, end }`, or `{ failure }`
   */
  async ask ({ method, path, headers = {}, body }) {
    const fields = { Host: this.host, ...headers, ...this.cookieField(headers) }
    if (body !== undefined) fields['Content-Length'] = Buffer.byteLength(body)
    const req = this.open({ host: '127.0.0.1', port: this.port, agent: this.agent, method, path, headers: fields, setHost: false })
    const timer = setTimeout(() => req.destroy(new Error(`no response within ${HANGS / 1000} s`)), HANGS)
    req.end(body)
    try {
      const res = await new Promise((resolve, reject) => req.once('response', resolve).once('error', reject))
      clearTimeout(timer)
      this.keep(res.headers['set-cookie'] ?? [])
      const { statusCode: status, statusMessage: reason, rawHeaders } = res
      return { status, reason, fields: pairs(rawHeaders), ...await read(res, req) }
    } catch (err) {
      return { failure: err.code === undefined ? err.message : `the connection failed (${err.code})` }
    } finally {
      clearTimeout(timer)
    }
  }

  /** What a browser recorded, and in its place what this process has set. */
  cookieField (headers) {
    const name = Object.keys(headers).find(name => name.toLowerCase() === 'cookie')
    const recorded = name === undefined ? [] : headers[name].split(/; */).map(pair => [pair.split('=')[0], pair])
    const all = new Map([...recorded, ...this.cookies])
    return all.size === 0 ? {} : { [name ?? 'Cookie']: [...all.values()].join('; ') }
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
    this.agent.destroy()
  }
}

function pairs (raw) {
  const fields = []
  for (let i = 0; i < raw.length; i += 2) fields.push([raw[i], raw[i + 1]])
  return fields
}

/** The body, and how it ended. */
async function read (res, req) {
  const { socket } = res
  const hash = createHash('sha256')
  const chunks = []
  let size = 0
  let end = 'complete'
  const began = performance.now()
  let timer
  const stop = () => {
    end = 'open'
    res.destroy()
  }
  const wait = () => {
    clearTimeout(timer)
    timer = setTimeout(stop, Math.min(IDLE, LONGEST - (performance.now() - began)))
  }
  wait()
  try {
    for await (const chunk of res) {
      wait()
      if (size < KEPT) chunks.push(chunk.subarray(0, KEPT - size))
      size += chunk.length
      hash.update(chunk)
    }
    if (end === 'complete' && !/close/i.test(res.headers.connection ?? '')) {
      await sleep(CLOSES_WITHIN)
      if (socket.destroyed || socket.readableEnded) end = 'complete, then the connection was closed'
    }
  } catch {
    if (end !== 'open') end = 'cut'
  } finally {
    clearTimeout(timer)
  }
  req.on('error', () => {})
  return { body: Buffer.concat(chunks), size, hash: end === 'open' ? null : hash.digest('hex'), end }
}

module.exports = { Client }
