'use strict'

const { breakerOf } = require('../_shared/breaker')
const { misuse } = require('../_shared/usage-error')
const redis = require('../_shared/redis')

// One script: a client that dies between INCR and PEXPIRE would leave a count that never expires.
const COUNT = `
local count = redis.call('INCR', KEYS[1])
local ttl = redis.call('PTTL', KEYS[1])
if ttl < 0 then
  redis.call('PEXPIRE', KEYS[1], ARGV[1])
  ttl = tonumber(ARGV[1])
end
return { count, ttl }`

/**
 * Counts in Redis or Valkey, for all instances together.
 *
 * @api private
 */
module.exports = class RedisLimiter {
  constructor (client, duration, prefix) {
    this.redis = redis(client, 'rateLimit: options.db')
    if (typeof client.eval !== 'function') {
      throw misuse('rateLimit', 'options.db must be a client of ioredis or redis: it has no method eval')
    }
    this.duration = String(Math.ceil(duration))
    this.breaker = breakerOf(client, () => this.redis.get(`${prefix}probe`))
  }

  get isStoreUp () { return this.breaker.isUp }

  async count (id) {
    const [count, ttl] = await this.breaker.run(() => this.redis.eval(COUNT, id, this.duration))
    return { count: Number(count), wait: Number(ttl) }
  }
}
