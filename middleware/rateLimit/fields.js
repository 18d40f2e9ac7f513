'use strict'

const { given, misuse } = require('../_shared/usage-error')

const MAX_INTEGER = 999_999_999_999_999 // of a structured field (RFC 9651, 3.3.1)
const NAMES = ['RateLimit-Policy', 'RateLimit']

/**
 * The fields of draft-ietf-httpapi-ratelimit-headers-11, structured fields. Each limiter adds an item to their lists:
 *
 *    RateLimit-Policy: "burst";q=100;w=60
 *    RateLimit: "burst";r=99;t=60
 *
 * @param {string} namespace name of the policy
 * @param {number} duration ms
 * @return {{ names: string[], set: Function }}
 * @throws {TypeError} for a name that is not ASCII
 * @api private
 */
module.exports = function fieldsOf (namespace, duration) {
  if (!/^[ -~]*$/.test(namespace)) {
    throw misuse('rateLimit', `options.namespace must be printable ASCII beside standardHeaders, not ${given(namespace)}`)
  }
  const name = `"${namespace.replace(/["\\]/g, '\\$&')}"`
  const window = seconds(duration)

  return {
    names: NAMES,
    set (ctx, max, left, wait) {
      append(ctx, 'RateLimit-Policy', `${name};q=${integer(max)};w=${window}`)
      append(ctx, 'RateLimit', `${name};r=${integer(left)};t=${seconds(wait)}`)
    }
  }
}

function append (ctx, name, item) {
  const others = ctx.response.get(name)
  ctx.set(name, others ? `${others}, ${item}` : item)
}

function seconds (ms) {
  return integer(Math.ceil(ms / 1000))
}

function integer (number) {
  return Math.min(Math.floor(number), MAX_INTEGER)
}
