'use strict'

const LIMIT = 64 * 1024
const END_OF_HEADERS = Buffer.from('\r\n\r\n')

/**
 * The responses in the bytes of one connection, read strictly and without keeping their bodies.
 *
 *    const responses = new Responses(['GET', 'HEAD'])
 *    responses.push(chunk)
 *    responses.whole // → [{ status, headers, length, letter, text }]
 */
class Responses {
  constructor (methods, patternOf = () => null) {
    this.methods = methods
    this.patternOf = patternOf
    this.whole = []
    this.partial = null   // its header section came, its body did not
    this.begun = false    // bytes of a header section came
    this.error = null     // not HTTP any more
    this.left = 0         // bytes of the body or of the chunk
    this.chunk = ''       // '', 'size', 'data', 'end', 'trailer'
    this.pending = Buffer.alloc(0)
    this.bytes = 0
  }

  push (bytes) {
    this.bytes += bytes.length
    if (this.pending.length > 0) bytes = Buffer.concat([this.pending, bytes])
    this.pending = bytes
    try {
      while (this.pending.length > 0 && this.step());
      if (this.partial === null && this.pending.length > LIMIT) throw new Error('a header section without an end')
    } catch (err) {
      this.error ??= `${err.message}: ${JSON.stringify(this.pending.toString('latin1', 0, 80))}`
      this.pending = Buffer.alloc(0)
    }
    this.begun = this.partial === null && this.pending.length > 0
  }

  /** The server ended the connection: for a body without a length that is its end. */
  end () {
    if (this.partial !== null && this.partial.untilEnd) this.finish()
  }

  step () {
    if (this.error !== null) return false
    if (this.partial === null) return this.headers()
    if (this.partial.untilEnd || this.chunk === '' || this.chunk === 'data') return this.body()
    return this.framing()
  }

  headers () {
    const end = this.pending.indexOf(END_OF_HEADERS)
    if (end < 0) return false
    const [first, ...lines] = this.pending.latin1Slice(0, end).split('\r\n')
    const match = /^HTTP\/1\.1 (\d{3}) /.exec(first)
    if (match === null) throw new Error('no status line')
    this.pending = this.pending.subarray(end + 4)
    const status = Number(match[1])
    if (status < 200) return true

    const headers = {}
    for (const line of lines) {
      const colon = line.indexOf(': ')
      if (colon < 1) throw new Error(`no header: ${line}`)
      const name = line.slice(0, colon).toLowerCase()
      const value = line.slice(colon + 2)
      const isRepeated = name in headers
      if (isRepeated && !name.startsWith('x-')) throw new Error(`${name} twice`)
      headers[name] = isRepeated ? `${headers[name]}, ${value}` : value
    }
    const response = { status, headers, length: 0, letter: -1, wrong: -1, text: '', untilEnd: false, startedAt: Date.now(), endedAt: 0 }
    this.partial = response
    if ('transfer-encoding' in headers && 'content-length' in headers) throw new Error('a length and a coding')
    if (!/^\d+$/.test(headers['content-length'] ?? '0')) throw new Error(`a length of ${headers['content-length']}`)
    const bodiless = status === 204 || status === 304 || this.methods[this.whole.length] === 'HEAD'
    this.chunk = ''
    this.left = 0
    if (bodiless) return this.finish()
    if (headers['transfer-encoding'] === 'chunked') this.chunk = 'size'
    else if ('content-length' in headers) this.left = Number(headers['content-length'])
    else response.untilEnd = true
    if (this.chunk === '' && !response.untilEnd && this.left === 0) return this.finish()
    return true
  }

  body () {
    const size = this.partial.untilEnd ? this.pending.length : Math.min(this.left, this.pending.length)
    this.take(this.pending.subarray(0, size))
    this.pending = this.pending.subarray(size)
    this.left -= size
    if (this.partial.untilEnd || this.left > 0) return true
    if (this.chunk === 'data') {
      this.chunk = 'end'
      return true
    }
    return this.finish()
  }

  /** What is around the data of a chunked body: one line at a time. */
  framing () {
    const end = this.pending.indexOf('\r\n')
    if (end < 0) return false
    const line = this.pending.latin1Slice(0, end)
    this.pending = this.pending.subarray(end + 2)
    if (this.chunk === 'size') {
      if (!/^[\da-f]+$/i.test(line)) throw new Error(`chunk size ${line}`)
      this.left = parseInt(line, 16)
      this.chunk = this.left === 0 ? 'trailer' : 'data'
    } else if (line !== '') {
      throw new Error(`${line} in place of an empty line`)
    } else if (this.chunk === 'end') {
      this.chunk = 'size'
    } else {
      return this.finish()
    }
    return true
  }

  /** A body is one letter over and over: what another response put into it is found without keeping it. */
  take (bytes) {
    const response = this.partial
    if (response.length < 40) response.text += bytes.toString('latin1', 0, 40)
    if (response.length === 0) response.letter = bytes[0]
    if (response.letter !== -1 && !uniform(bytes, response.letter)) response.letter = -1
    const pattern = this.patternOf(this.whole.length)
    if (pattern !== null && response.wrong === -1 && response.status < 400) {
      const wrong = firstWrong(bytes, pattern, response.length)
      if (wrong !== -1) response.wrong = response.length + wrong
    }
    response.length += bytes.length
  }

  finish () {
    this.partial.endedAt = Date.now()
    this.whole.push(this.partial)
    this.partial = null
    return true
  }
}

/** @return {number} the first byte that is not that of `pattern` over and over, of which `at` bytes came before; or -1 */
function firstWrong (bytes, pattern, at) {
  const sample = sampleOf(pattern)
  const step = sample.length - pattern.length
  for (let from = 0; from < bytes.length; from += step) {
    const part = bytes.subarray(from, from + step)
    const offset = (at + from) % pattern.length
    if (part.equals(sample.subarray(offset, offset + part.length))) continue
    for (let i = 0; i < part.length; i++) if (part[i] !== sample[offset + i]) return from + i
  }
  return -1
}

function sampleOf (pattern) {
  const key = pattern.toString('latin1')
  if (!samples.has(key)) samples.set(key, Buffer.alloc(LIMIT + 2 * pattern.length, pattern))
  return samples.get(key)
}

const samples = new Map()

function uniform (bytes, letter) {
  if (!samples.has(letter)) samples.set(letter, Buffer.alloc(LIMIT, letter))
  const sample = samples.get(letter)
  for (let at = 0; at < bytes.length; at += LIMIT) {
    const part = bytes.subarray(at, at + LIMIT)
    if (!part.equals(sample.subarray(0, part.length))) return false
  }
  return true
}

module.exports = { Responses }
