'use strict'

const fs = require('fs')

/** Node's default for the option `highWaterMark`, in bytes. */
const DEFAULT = 64 * 1024

/** Larger pieces cost more memory for each client that reads slowly, in bytes. */
const LARGEST = 128 * 1024

/** A listener for any other event may count the pieces. Events named by symbols are node's own. */
const HARMLESS = new Set(['error', 'close', 'open', 'ready', 'end'])

const { open, read, close } = fs
const { _read, push, read: take, pipe } = fs.ReadStream.prototype

/**
 * Let an untouched fs.ReadStream make fewer trips to the thread pool. It reads only the declared length,
 * without a last read that finds the end of the file; a large file in larger pieces; a small one into a
 * smaller buffer. Everything else is node's own code.
 *
 *    prepare(fs.createReadStream('logo.svg'), 1024)
 *
 * @param {Stream} stream of any class; only an untouched fs.ReadStream is changed
 * @param {number} length of the body in bytes
 */
exports.prepare = function (stream, length) {
  if (!(stream instanceof fs.ReadStream) || !isUntouched(stream)) return
  const last = (stream.pos ?? 0) + length - 1
  if (last < stream.end) stream.end = last
  const state = stream._readableState
  if (state.highWaterMark === DEFAULT) state.highWaterMark = Math.max(1, Math.min(length, LARGEST))
}

function isUntouched (stream) {
  const { flowing, encoding, length } = stream._readableState
  return Object.getPrototypeOf(stream) === fs.ReadStream.prototype &&
    flowing === null && encoding === null && length === 0 && stream.bytesRead === 0 && !stream.destroyed &&
    stream._read === _read && stream.push === push && stream.read === take && stream.pipe === pipe &&
    fs.open === open && fs.read === read && fs.close === close && readsWith(stream, fs) &&
    stream.eventNames().every(name => typeof name === 'symbol' || HARMLESS.has(name))
}

/** The option `fs` of createReadStream(). */
function readsWith (stream, module) {
  const symbol = Object.getOwnPropertySymbols(stream).find(({ description }) => description === 'kFs')
  return symbol !== undefined && stream[symbol] === module
}
