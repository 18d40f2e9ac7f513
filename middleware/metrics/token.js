'use strict'

const { createHash, timingSafeEqual } = require('crypto')

/**
 * Whether a request has `Authorization: Bearer <token>`. The time that this takes does not depend on the token.
 *
 * @param {object} ctx
 * @param {string} token
 * @return {boolean}
 */
module.exports = function isToken (ctx, token) {
  const field = ctx.get('authorization')
  return /^Bearer /i.test(field) && timingSafeEqual(digest(field.slice('Bearer '.length)), digest(token))
}

function digest (text) {
  return createHash('sha256').update(text).digest()
}
