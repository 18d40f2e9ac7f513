'use strict'

const { constants: { MAX_LENGTH } } = require('buffer')
const zlib = require('zlib')
const createError = require('../../lib/shared/http-errors')

const KB = 1024
const MB = 1024 * KB

// RFC 9659: a decoder of zstd need not accept a larger window
const ZSTD_WINDOW_LOG = 23

// RFC 1951, 3.2.5: a match has at most 258 bytes, in two codes of at least one bit each: at most 1032 bytes for one
// (also https://zlib.net/zlib_tech.html, "Maximum Compression Factor")
const GZIP_FACTOR = 1032

/**
 * Per Content-Encoding: the function of node:zlib, its options, the memory of a decoder of these bytes, and how much
 * they can become, if the format bounds it.
 */
const GZIP = { decompress: zlib.unzip, memory: () => 64 * KB, output: bytes => bytes.length * GZIP_FACTOR + 64 * KB }
const DECODERS = {
  gzip: GZIP,
  'x-gzip': GZIP,
  deflate: GZIP,
  br: { decompress: zlib.brotliDecompress, memory: bytes => brotliWindow(bytes[0]) + 64 * KB },
  zstd: { // Node 22.15 and later
    // @ts-expect-error -- newer than @types/node here
    decompress: zlib.zstdDecompress,
    // @ts-expect-error -- the same
    params: { [zlib.constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG },
    memory: () => 2 ** ZSTD_WINDOW_LOG + 256 * KB
  }
}

const MAX_WAITING = 1000
const DEFAULT_MEMORY = 64 * MB

// of the process, as memory is: not of an app
let used = 0
let waitingBytes = 0
const waiting = []

/**
 * @param {string} encoding of Content-Encoding, in lower case
 * @return {object|undefined} undefined for an encoding that this Node cannot read
 * @api private
 */
exports.decoderOf = function (encoding) {
  const decoder = Object.hasOwn(DECODERS, encoding) ? DECODERS[encoding] : undefined
  return decoder?.decompress === undefined ? undefined : decoder
}

/**
 * Decompress bytes. 40 bytes of Brotli make a decoder fill a window of 16 MB before it returns any output,
 * so that a limit of the output does not bound the memory (test/security/decoders.test.js). The decoders
 * of the process together use at most `memory`; further bytes are queued. One decoder that needs more
 * runs alone.
 *
 * @param {object} decoder of decoderOf()
 * @param {Buffer} bytes
 * @param {number} limit of the output
 * @param {number} [memory] in bytes, default 64 MB
 * @return {Promise<Buffer>} rejects with the error of node:zlib, or a 503 if the queue is full
 * @api private
 */
exports.decompress = function (decoder, bytes, limit, memory = DEFAULT_MEMORY) {
  memory = Math.max(memory, 1)
  const output = Math.min(decoder.output?.(bytes) ?? Infinity, limit)
  const needed = Math.min(decoder.memory(bytes) + output, memory)
  return new Promise((resolve, reject) => {
    const start = () => run(decoder, bytes, limit, needed, resolve, reject)
    if (waiting.length === 0 && used + needed <= memory) start()
    else if (waiting.length < MAX_WAITING && waitingBytes + bytes.length <= memory) {
      waitingBytes += bytes.length
      waiting.push({ start, needed, memory, length: bytes.length })
    } else reject(busy())
  })
}

function run (decoder, bytes, limit, needed, resolve, reject) {
  const maxOutputLength = Math.min(Math.max(limit, 1), MAX_LENGTH) // node:zlib refuses others
  const ended = (err, result) => {
    used -= needed
    if (err === null) resolve(result)
    else reject(err)
    next()
  }
  used += needed
  try {
    decoder.decompress(bytes, { maxOutputLength, params: decoder.params }, ended)
  } catch (err) {
    ended(err) // there is no memory for a decoder
  }
}

// In the order of arrival, so that no request is overtaken for ever
function next () {
  while (waiting.length > 0 && used + waiting[0].needed <= waiting[0].memory) {
    const { start, length } = waiting.shift()
    waitingBytes -= length
    start()
  }
}

function busy () {
  return createError(503, 'too many compressed bodies are waiting', {
    type: 'decoders.busy',
    expose: true,
    headers: { 'Retry-After': '1' }
  })
}

/**
 * RFC 7932, 9.1: the first bits of a stream are WBITS; its window has 2 ** WBITS - 16 bytes.
 */
function brotliWindow (byte) {
  return 2 ** windowBits(byte)
}

function windowBits (byte) {
  if ((byte & 1) === 0) return 16
  const high = byte >> 1 & 7
  if (high !== 0) return 17 + high
  const low = byte >> 4 & 7
  return low === 0 ? 17 : 8 + low // 9 is reserved, and refused by the decoder
}
