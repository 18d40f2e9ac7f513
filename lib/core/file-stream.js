'use strict'

const fs = require('fs')
const { Readable } = require('stream')
const lazy = require('../shared/lazy')

/** Node's default for the option `highWaterMark`, in bytes. Reuse of the buffers of smaller files gained nothing. */
const DEFAULT = 64 * 1024

/** Larger pieces cost more memory for each client that reads slowly, in bytes. */
const LARGEST = 128 * 1024

/** A rest of less than this, in bytes, is read into a buffer of its length: one of 128 KiB would save little. */
const SMALLEST = 16 * 1024

/** How many buffers are kept for later reads. */
const MOST = 32

/** A listener for any other event may count the pieces. Events named by symbols are node's own. */
const HARMLESS = new Set(['error', 'close', 'open', 'ready', 'end'])

/** A stream has this method if it wants each chunk back that was flushed, because nobody needs it any more. */
const kReuse = Symbol('kone.reuse')

const { open, read, close } = fs
const { push, read: take, pipe } = Readable.prototype

/** As they are when the first file is sent: node loads the class, and readline with it, when it is first read. */
const methods = lazy(() => {
  const { _read, _destroy } = fs.ReadStream.prototype
  return { _read, _destroy }
})

const free = []
const lent = new WeakSet()

exports.kReuse = kReuse

/**
 * Let an untouched fs.ReadStream make fewer trips to the thread pool. It reads only the declared length,
 * without a last read that finds the end of the file; a large file in larger pieces; a small one into a
 * smaller buffer. Where the sink says when a piece was flushed, the buffers of a large one are used again.
 *
 *    prepare(fs.createReadStream('logo.svg'), 1024, sink)
 *
 * @param {Stream} stream of any class; only an untouched fs.ReadStream is changed
 * @param {number} length of the body in bytes
 * @param {object} sink what the stream will be piped into
 */
exports.prepare = function (stream, length, sink) {
  if (!(stream instanceof fs.ReadStream) || !isUntouched(stream)) return
  const last = (stream.pos ?? 0) + length - 1
  if (last < stream.end) stream.end = last
  const state = stream._readableState
  if (state.highWaterMark === DEFAULT) state.highWaterMark = Math.max(1, Math.min(length, LARGEST))
  const isUsual = state.autoDestroy && state.highWaterMark <= LARGEST
  if (sink.reportsFlush && isUsual && length >= DEFAULT) readIntoLent(stream)
}

/**
 * A buffer for one read. V8 frees new ones only after many megabytes.
 *
 * @param {number} length in bytes, at most 128 KiB
 * @return {Buffer} its content is arbitrary
 */
exports.lend = function (length) {
  if (length < SMALLEST) return Buffer.allocUnsafeSlow(length)
  const buffer = Buffer.from(free.pop() ?? Buffer.allocUnsafeSlow(LARGEST).buffer, 0, length)
  lent.add(buffer)
  return buffer
}

/**
 * Take a buffer back, for another read: nobody may look at it any more. Any other is ignored, also a part of one,
 * because other code may still have the rest.
 *
 * @param {Buffer} chunk of `lend()`
 */
exports.takeBack = function (chunk) {
  if (lent.delete(chunk) && free.length < MOST) free.push(chunk.buffer)
}

/** @return {Buffer} the filled part of a lent buffer: it, too, may be given to takeBack() */
function filled (buffer, length) {
  if (length === buffer.length) return buffer
  const part = buffer.subarray(0, length)
  if (lent.delete(buffer)) lent.add(part)
  return part
}

// Node's own methods with another buffer. If the file was closed during a read, another file could get its descriptor
// before the read begins; node's `_destroy` waits for the end of node's own reads only.
function readIntoLent (stream) {
  let isReading = false
  let onRead = null
  stream[kReuse] = exports.takeBack
  stream._read = function (size) {
    const length = Math.min(stream.end - (stream.pos ?? stream.bytesRead) + 1, size)
    if (length <= 0) return stream.push(null)
    const chunk = exports.lend(length)
    isReading = true
    fs.read(stream.fd, chunk, 0, length, stream.pos, (err, bytes) => {
      isReading = false
      if (err || bytes === 0 || onRead !== null) exports.takeBack(chunk)
      if (onRead !== null) return onRead()
      if (err) return stream.destroy(err)
      if (stream.pos !== undefined) stream.pos += bytes
      stream.bytesRead += bytes
      stream.push(bytes === 0 ? null : filled(chunk, bytes))
    })
  }
  stream._destroy = function (err, done) {
    const destroy = () => methods()._destroy.call(stream, err, done)
    if (isReading) onRead = destroy
    else destroy()
  }
}

function isUntouched (stream) {
  const { flowing, encoding, length } = stream._readableState
  return Object.getPrototypeOf(stream) === fs.ReadStream.prototype &&
    flowing === null && encoding === null && length === 0 && stream.bytesRead === 0 && !stream.destroyed &&
    stream._read === methods()._read && stream._destroy === methods()._destroy &&
    stream.push === push && stream.read === take && stream.pipe === pipe &&
    fs.open === open && fs.read === read && fs.close === close && readsWith(stream, fs) &&
    stream.eventNames().every(name => typeof name === 'symbol' || HARMLESS.has(name))
}

/** The option `fs` of createReadStream(). */
function readsWith (stream, module) {
  const symbol = Object.getOwnPropertySymbols(stream).find(({ description }) => description === 'kFs')
  return symbol !== undefined && stream[symbol] === module
}
