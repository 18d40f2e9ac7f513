'use strict'

const net = require('node:net')
const tls = require('node:tls')

const PATIENCE = 10_000 // ms until a connection is made; Linux tries for two minutes
const BUFFER = Buffer.allocUnsafeSlow(65_536) // of all sockets: every read is used up before the next one

/**
 * The raw HTTP client of the generators: one connection that sends the bytes it is given, one request at a time, and
 * counts the bytes of the response instead of keeping them.
 *
 *    const client = await new Client({ port }).open()
 *    client.request(bytes({ port, path: '/' }), isGood => …) // whole, and its status is 200 or 101
 */
class Client {
  #where
  #isTls
  #keepsBody
  #text = '' // of the headers until they are complete; of the whole response if the body is kept
  #isHead = false // its response has no body, whatever its fields say
  #missing = -1 // bytes of the body still to come; -1 while the headers are not complete
  #chunks = null // of a chunked body, which is not kept
  #done = null

  /** @param {{ port: number, localAddress?: string, isTls?: boolean }} where isTls: whatever its certificate */
  constructor ({ port, localAddress, isTls = false }, { keepsBody = false, onclose = () => {} } = {}) {
    this.#where = { port, host: '127.0.0.1', localAddress }
    this.#isTls = isTls
    this.#keepsBody = keepsBody
    this.onclose = onclose
    this.isOpen = false
    this.isWhole = false // did the last response come whole, whatever its status?
    this.status = '' // of the last response
    this.size = 0 // bytes of the last response, headers included
    this.body = '' // of the last response, in latin1, if it is kept
  }

  /** connected */
  open () {
    return new Promise((resolve, reject) => {
      const socket = this.socket = (this.#isTls ? tls : net).connect({
        ...this.#where,
        noDelay: true,
        rejectUnauthorized: false, // of TLS
        timeout: PATIENCE,
        onread: { buffer: BUFFER, callback: length => this.#take(length) }
      })
      const late = () => socket.destroy(Object.assign(new Error(`not accepted within ${PATIENCE / 1000} s`), { code: 'ETIMEDOUT' }))
      socket.once('timeout', late)
      socket.once('error', reject)
      socket.once(this.#isTls ? 'secureConnect' : 'connect', () => {
        socket.setTimeout(0).off('timeout', late)
        this.isOpen = true
        socket.off('error', reject).on('error', () => {})
        resolve(this)
      })
      socket.on('end', () => socket.destroy())
      socket.once('close', () => this.#closed())
    })
  }

  /**
   * Send a request, or its first part.
   *
   * @param {{ size?: number, isHead?: boolean }} [response] size: where it is no HTTP, behind a 101
   */
  request (parts, done, { size = -1, isHead = false } = {}) {
    this.#text = this.body = ''
    this.status = size < 0 ? '' : '200'
    this.#missing = size
    this.#isHead = isHead
    this.#chunks = null
    this.size = Math.max(0, size)
    this.#done = done
    this.write(parts)
  }

  /** @param {(Buffer|string)[]} parts more of a request */
  write (parts) {
    if (parts.length > 1) this.socket.cork()
    for (const part of parts) this.socket.write(part, 'latin1')
    if (parts.length > 1) this.socket.uncork()
  }

  /** @param {{ reset?: boolean }} [how] reset: by an RST, which leaves no TIME_WAIT behind */
  destroy ({ reset = false } = {}) {
    this.onclose = () => {}
    this.#done = null
    if (reset && this.isOpen) this.socket.resetAndDestroy()
    else this.socket.destroy()
  }

  #take (length) {
    if (this.#chunks !== null) {
      this.size += length
      if (this.#chunks.end(BUFFER.latin1Slice(0, length))) this.#settle(true)
      return true
    }
    if (this.#missing < 0) {
      this.#text += BUFFER.latin1Slice(0, length)
      const end = this.#text.indexOf('\r\n\r\n')
      if (end < 0) return true
      this.status = this.#text.slice(9, 12)
      const isEmpty = this.#isHead || ['101', '204', '304'].includes(this.status)
      if (!isEmpty && /\r\ntransfer-encoding: *chunked/i.test(this.#text)) return this.#beginChunks(end + 4)
      const declared = isEmpty ? 0 : /\r\ncontent-length: *(\d+)/i.exec(this.#text)?.[1]
      this.size = end + 4 + Number(declared)
      this.#missing = this.size - this.#text.length
      if (this.#keepsBody) this.body = this.#text.slice(end + 4)
    } else {
      this.#missing -= length
      if (this.#keepsBody) this.body += BUFFER.latin1Slice(0, length)
    }
    // More than was announced, or no length at all, is no good response either.
    if (!(this.#missing > 0)) this.#settle(this.#missing === 0)
    return true
  }

  #beginChunks (start) {
    this.size = this.#text.length
    this.#chunks = new Chunks()
    if (this.#chunks.end(this.#text.slice(start))) this.#settle(true)
    return true
  }

  #closed () {
    if (!this.isOpen) return
    this.isOpen = false
    this.#settle(false)
    this.onclose()
  }

  #settle (isWhole) {
    const done = this.#done
    this.#done = null
    this.isWhole = isWhole
    done?.(isWhole && (this.status === '200' || this.status === '101'))
  }
}

/** Finds the end of a chunked body: reads the sizes, skips the data. */
class Chunks {
  #line = ''
  #skip = 0
  #isLast = false

  /** @return {boolean} whether the body ends in this text */
  end (text) {
    for (let at = 0; at < text.length;) {
      const skipped = Math.min(this.#skip, text.length - at)
      this.#skip -= skipped
      at += skipped
      const lineEnd = text.indexOf('\n', at)
      this.#line += text.slice(at, lineEnd < 0 ? text.length : lineEnd)
      if (lineEnd < 0) return false
      at = lineEnd + 1
      const line = this.#line
      this.#line = ''
      if (this.#isLast && line === '\r') return true
      const size = this.#isLast ? 0 : Number.parseInt(line, 16)
      if (size === 0) this.#isLast = true
      else this.#skip = size + 2
    }
    return false
  }
}

/** A request as bytes; a large body is not copied. */
function bytes ({ port, method = 'GET', path = '/', headers = {}, body = '', size = 0 }) {
  const content = size ? Buffer.alloc(size, 'x') : Buffer.from(body, 'latin1')
  const fields = { Host: `127.0.0.1:${port}`, ...headers }
  if (size) fields['Content-Type'] = 'application/octet-stream'
  if (content.length) fields['Content-Length'] = content.length
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
  const start = Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`, 'latin1')
  if (content.length === 0) return [start]
  return content.length < 65_536 ? [Buffer.concat([start, content])] : [start, content]
}

module.exports = { Client, bytes }
