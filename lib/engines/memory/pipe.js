'use strict'

const { Duplex } = require('stream')

/**
 * One end of a connection in memory, with the properties of a socket that Node reads.
 */
class End extends Duplex {
  /**
   * @param {object} [peer]
   * @param {string} [peer.address] becomes `remoteAddress`
   * @param {number} [peer.port]
   * @param {boolean} [peer.encrypted=false]
   */
  constructor ({ address, port, encrypted = false } = {}) {
    super()
    this.remoteAddress = address
    this.remotePort = port
    this.encrypted = encrypted
    this.other = null
    this.proceed = null
    this.bytesWritten = 0
  }

  /** Connect two ends: bytes written to one are read from the other. */
  connect (other) {
    this.join(other)
    other.join(this)
  }

  join (other) {
    this.other = other
  }

  /** The reader wants more: the pending write continues. */
  pulled () {
    const { proceed } = this
    this.proceed = null
    if (proceed) proceed()
  }

  _read () {
    if (this.other !== null) this.other.pulled()
  }

  _write (chunk, encoding, callback) {
    this.bytesWritten += chunk.length
    if (this.other === null || this.other.destroyed || this.other.push(chunk)) callback()
    else this.proceed = callback
  }

  _final (callback) {
    this.endOther()
    callback()
  }

  // As a socket's: the other end reads the bytes that were written, and then the end.
  _destroy (err, callback) {
    this.endOther()
    this._read() // what the other end writes is dropped
    callback(err)
  }

  endOther () {
    if (this.other !== null) this.other.push(null)
  }

  /** As a socket's: destroyed when all is written. */
  destroySoon () {
    if (this.writable) this.end()
    if (this.writableFinished) this.destroy()
    else this.once('finish', this.destroy)
  }

  setTimeout () { return this }
  setNoDelay () { return this }
  setKeepAlive () { return this }
  ref () { return this }
  unref () { return this }
}

module.exports = { End }
