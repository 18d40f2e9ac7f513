'use strict'

const redis = require('../_shared/redis')

/**
 * Sessions in Redis or Valkey, as JSON; Redis removes them when they expire.
 *
 * @api private
 */
module.exports = class RedisStore {
  constructor (client) {
    this.client = client
    this.redis = redis(client, 'session.redis')
    // a client of few commands: `touch` is done by `get` and `set`
    if (!this.redis.knowsTtl) this.touch = this.ttl = undefined
  }

  async get (id) {
    const text = await this.redis.get(id)
    if (text) return JSON.parse(text)
  }

  set (id, session, ttl) {
    return this.redis.set(id, JSON.stringify(session), Math.ceil(ttl))
  }

  async replace (id, session, ttl) {
    return await this.redis.replace(id, JSON.stringify(session), Math.ceil(ttl)) !== null
  }

  async touch (id, ttl) {
    return Boolean(await this.redis.pexpire(id, Math.ceil(ttl)))
  }

  ttl (id) {
    return this.redis.pttl(id)
  }

  destroy (id) {
    return this.redis.del(id)
  }
}
