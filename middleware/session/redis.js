'use strict'

const redis = require('../_shared/redis')

/**
 * Sessions in Redis or Valkey, as JSON; Redis removes them when they expire.
 *
 * @api private
 */
module.exports = class RedisStore {
  constructor (client) {
    this.redis = redis(client, 'session.redis')
  }

  async get (id) {
    const text = await this.redis.get(id)
    if (text) return JSON.parse(text)
  }

  set (id, session, ttl) {
    return this.redis.set(id, JSON.stringify(session), Math.ceil(ttl))
  }

  destroy (id) {
    return this.redis.del(id)
  }
}
