'use strict'

const http = require('http')
const { Buffer } = require('buffer')
const { Duplex } = require('stream')
const { nodeListener } = require('./handover')

/** Node's parser creates one for each message, instead of an IncomingMessage that other code could see. */
class Message {
  constructor () {
    this._dumped = true // bytes of the body are dropped
    this.complete = false
    this.probe = null
  }

  reportTo (probe) {
    this.probe = probe
  }

  /** Of the header section, then of the trailers. */
  _addHeaderLines (raw) {
    if (this.complete) this.probe.onTrailers(raw)
  }

  push () {
    this.probe.onMessageEnd()
  }
}

/** Gives its options to new parsers. It emits nothing. */
const server = new http.Server({ IncomingMessage: Message })

/**
 * Finds out what node would make of bytes that cannot be handed over (yet): gives a copy to node's own parser. No other
 * code sees it, because node's request listener, events and diagnostics channels are not used.
 */
class Probe {
  /**
   * @param {http.Server} server
   * @param {{ maxHeaderSize: number, maxHeadersCount: number }} limits of the connection
   */
  constructor ({ insecureHTTPParser, httpValidation }, { maxHeaderSize, maxHeadersCount }) {
    this.error = null       // the error with which node would close the connection
    this.sawConnect = false
    this.isReading = false  // a message has begun and not ended
    this.hasHeaders = false // its header section is complete
    this.trailers = null    // of the last message: names and values in turn

    Object.assign(server, { maxHeaderSize, insecureHTTPParser, httpValidation, maxHeadersCount })
    const socket = new Duplex({ read () {}, write (chunk, encoding, callback) { callback() } })
    nodeListener.call(server, socket)
    this.parser = socket.parser
    this.socket = socket
    this.parser.onIncoming = message => {
      message.reportTo(this)
      this.hasHeaders = true
      if (message.method === 'CONNECT') this.sawConnect = true
      return this.sawConnect ? SKIP_REST : 0
    }
  }

  /**
   * @param {Buffer} bytes that come next; the first ones begin a message
   * @param {Buffer} [read] that they belong to, for the error
   * @param {number} [offset] in that read
   */
  feed (bytes, read = bytes, offset = 0) {
    if (this.error !== null || this.sawConnect) return
    this.isReading = true
    this.keepError(this.parser.execute(bytes), read, offset)
  }

  /** @return {Error|null} the error if no more comes */
  readEnd () {
    if (this.error === null && !this.sawConnect) this.keepError(this.parser.finish())
    return this.error
  }

  onTrailers (raw) {
    this.trailers = raw
  }

  /** A message is complete. What follows it in the same read counts from the next read on. */
  onMessageEnd () {
    this.isReading = this.hasHeaders = false
  }

  /** Does it refuse another message, because the last one ended the connection? */
  refusesMore () {
    this.feed(Buffer.from('G'))
    return this.error !== null
  }

  /** Frees the parser: node's list of connections refers to it until then. */
  release () {
    this.socket.destroy()
  }

  /** @param {Error|number} [result] of the parser */
  keepError (result, rawPacket, offset = 0) {
    if (!(result instanceof Error)) return
    const message = typeof result.reason === 'string' ? `Parse Error: ${result.reason}` : result.message
    const bytesParsed = result.bytesParsed + offset
    this.error = Object.assign(result, { rawPacket, message, bytesParsed })
  }
}

/** Returned to node's parser: what follows is another protocol. */
const SKIP_REST = 2

module.exports = { Probe }
