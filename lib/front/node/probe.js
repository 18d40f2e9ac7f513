'use strict'

const { AsyncLocalStorage } = require('async_hooks')
const http = require('http')
const { Buffer } = require('buffer')
const { Duplex } = require('stream')
const { nodeListener } = require('./handover')

/** Node's parser creates one for the message, instead of an IncomingMessage that other code could see. */
class Message {
  constructor () {
    this._dumped = true // bytes of the body are dropped
    this.complete = false
    this.probe = null
  }

  /** @return {number} for the parser: there is a body to read */
  reportTo (probe) {
    this.probe = probe
    return 0
  }

  /** Of the header section, then of the trailers. */
  _addHeaderLines (raw) {
    if (this.complete) this.probe.onTrailers(raw)
  }

  push () {
    this.probe.onEnd()
  }
}

/** Gives its options to new parsers. It emits nothing. */
const server = new http.Server(/** @type {any} */ ({ IncomingMessage: Message }))

/**
 * Finds out what node makes of a part of a chunked body: gives a copy to node's own parser. No other code sees it,
 * because node's request listener, events and diagnostics channels are not used.
 */
class Probe {
  /**
   * @param {{ insecureHTTPParser?: boolean, httpValidation?: string }} server
   * @param {{ maxHeaderSize?: number, maxHeadersCount?: number }} limits of the connection
   * @param {{ minor: number, closes: boolean }} section of the message of which node's parser reads the parts that
   *   are not plain
   */
  constructor ({ insecureHTTPParser, httpValidation }, { maxHeaderSize, maxHeadersCount }, { minor, closes }) {
    this.error = null    // the error with which node would close the connection
    this.hasEnded = false
    this.trailers = null // names and values in turn

    Object.assign(server, { maxHeaderSize, insecureHTTPParser, httpValidation, maxHeadersCount })
    const socket = new Duplex({ read () {}, write (chunk, encoding, callback) { callback() } })
    nodeListener.call(server, socket)
    this.parser = socket.parser
    this.socket = socket
    this.parser.onIncoming = message => message.reportTo(this)
    const connection = closes ? 'close' : 'keep-alive'
    this.feed(Buffer.from(`POST / HTTP/1.${minor}\r\nConnection: ${connection}\r\nTransfer-Encoding: chunked\r\n\r\n`))
  }

  /**
   * @param {Buffer} bytes that come next
   * @param {Buffer} [rawPacket] the read that they belong to, for the error
   * @param {number} [offset] in that read
   */
  feed (bytes, rawPacket = bytes, offset = 0) {
    const result = this.parser.execute(bytes)
    if (!(result instanceof Error)) return
    const message = typeof result.reason === 'string' ? `Parse Error: ${result.reason}` : result.message
    const bytesParsed = result.bytesParsed + offset
    this.error = Object.assign(result, { rawPacket, message, bytesParsed })
  }

  onTrailers (raw) {
    this.trailers = raw
  }

  onEnd () {
    this.hasEnded = true
  }

  /** Does it refuse another message, because this one ended the connection? */
  refusesMore () {
    this.feed(Buffer.from('G'))
    return this.error !== null
  }

  /** Frees the parser: node's list of connections refers to it until then. */
  release () {
    this.socket.destroy()
  }
}

/** Does `asyncReset()` of a handle of node's give it the current async context? A parser is such a handle. */
const RESETS = (() => {
  const storage = new AsyncLocalStorage()
  class ContextProbe extends Probe {
    onEnd () { this.hasEnded = storage.getStore() === true }
  }
  const probe = new ContextProbe({}, {}, { minor: 1, closes: false })
  const { parser } = probe
  if (typeof parser.asyncReset === 'function') storage.run(true, () => parser.asyncReset(parser))
  probe.feed(Buffer.from('0\r\n\r\n'))
  probe.release()
  storage.disable()
  return probe.hasEnded
})()

module.exports = { Probe, RESETS }
