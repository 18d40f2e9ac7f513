'use strict'

/** A socket that drops everything: with it node's response ends, though its bytes were sent by other code. */
class NullSocket {
  constructor () {
    this.writable = true
    this.destroyed = false
    this.writableLength = 0
    this.writableCorked = 0
    this._writableState = { corked: 0 }
    this._httpMessage = null
  }

  on () {}
  removeListener () {}
  cork () {}
  uncork () {}
  write (data, encoding, callback) {
    if (typeof callback === 'function') callback()
    return true
  }
}

module.exports = NullSocket
