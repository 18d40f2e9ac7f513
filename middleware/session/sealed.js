'use strict'

const { createCipheriv, createDecipheriv, createSecretKey, hkdfSync } = require('crypto')
const { misuse } = require('../_shared/usage-error')
const random = require('../_shared/random')
const { sealedCookie } = require('./options')

const CIPHER = 'aes-256-gcm'
const NONCE = 12 // bytes
const TAG = 16
const MIN_KEY = 32
const MAX_VALUE = 4096

/**
 * The session itself in the cookie, encrypted and authenticated.
 *
 *    cookie value = base64url(nonce ‖ tag ‖ AES-256-GCM([expires, session] as JSON))
 *
 * The cookie's name is authenticated with it, so that a client cannot use the
 * value of one cookie for another. The value has the time of expiry, so that a copy expires, too.
 *
 * @api private
 */
module.exports = class SealedCookie {
  constructor (options) {
    this.lazy = true
    this.keys = derive(sealedCookie.check(options).keys)
  }

  /**
   * @param {string} name of the cookie
   * @param {object} session
   * @param {number} ttl ms
   * @return {string} the cookie's value
   */
  seal (name, session, ttl) {
    const nonce = random(NONCE)
    const cipher = createCipheriv(CIPHER, this.keys[0], nonce, { authTagLength: TAG })
    cipher.setAAD(Buffer.from(name))
    const sealed = cipher.update(JSON.stringify([Date.now() + ttl, session]))
    const end = cipher.final()
    return Buffer.concat([nonce, cipher.getAuthTag(), sealed, end]).toString('base64url')
  }

  /**
   * @param {string} name of the cookie
   * @param {string} value
   * @return {object | undefined} undefined for anything but an unexpired session sealed by `seal`
   */
  open (name, value) {
    if (value.length > MAX_VALUE) return undefined
    const bytes = Buffer.from(value, 'base64url')
    if (bytes.length <= NONCE + TAG) return undefined

    for (const key of this.keys) {
      const text = decrypt(key, name, bytes)
      if (text === undefined) continue
      const [expires, session] = JSON.parse(text)
      return expires > Date.now() ? session : undefined
    }
  }
}

function decrypt (key, name, bytes) {
  const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, NONCE), { authTagLength: TAG })
  decipher.setAAD(Buffer.from(name))
  decipher.setAuthTag(bytes.subarray(NONCE, NONCE + TAG))
  const opened = decipher.update(bytes.subarray(NONCE + TAG))
  try {
    decipher.final()
  } catch {
    return undefined // sealed by another key, under another name, or altered
  }
  return opened.toString()
}

// HKDF derives a key of the cipher's length, which is used for nothing else.
function derive (keys) {
  if (!Array.isArray(keys) || keys.length === 0) {
    throw misuse('session.sealedCookie', 'options.keys must be an array of one key or more')
  }
  return keys.map(key => {
    if ((typeof key !== 'string' && !(key instanceof Uint8Array)) ||
        Buffer.byteLength(key) < MIN_KEY) {
      throw misuse('session.sealedCookie', `each of options.keys must be a string or a Buffer of ${MIN_KEY} bytes or more`)
    }
    const derived = hkdfSync('sha256', key, '', 'kone session sealed cookie', 32)
    return createSecretKey(new Uint8Array(derived))
  })
}
