'use strict'

const crypto = require('crypto')

/**
 * The strong entity tag of some bytes: their length and their SHA-1, written as the package `etag`
 * writes them, so that what clients have cached stays valid.
 *
 *    entityTag('hello') // '"5-qvTGHdzF6KLavt4PO0gs2a6pQ00"'
 *
 * @param {string | Buffer} entity
 * @return {string}
 * @api private
 */
module.exports = function entityTag (entity) {
  return `"${Buffer.byteLength(entity).toString(16)}-${sha1(entity).slice(0, 27)}"`
}

// crypto.hash, from Node 20.12, makes no Hash object: less than half the cost for a small body
const sha1 = typeof crypto.hash === 'function'
  ? entity => crypto.hash('sha1', entity, 'base64')
  : entity => crypto.createHash('sha1').update(entity).digest('base64')
