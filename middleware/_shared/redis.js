'use strict'

const { given, misuse } = require('./usage-error')

/**
 * The same few commands for both kinds of clients: ioredis takes all arguments of a command one by one,
 * node-redis takes some of them as an object.
 *
 * @param {object} client of `ioredis` or `redis`
 * @param {string} owner the caller, for the message
 * @return {{ get: Function, set: Function, replace: Function, del: Function, eval: Function, pexpire: Function,
 *   pttl: Function, knowsTtl: boolean }} each returns a promise; `replace` sets only a key that exists, and otherwise
 *   resolves with null; knowsTtl: the client has commands for `pexpire` and `pttl`
 * @throws {TypeError} if it is not a client
 * @api private
 */
module.exports = function redis (client, owner) {
  for (const command of ['get', 'set', 'del']) {
    if (typeof client?.[command] !== 'function') {
      throw misuse(owner, `the client must be one of ioredis or redis, with the methods get, set and del, not ${given(client)}`)
    }
  }

  // A client without an 'error' listener ends the process when its server goes away. The error needs no
  // other handling: each failed command rejects for its request.
  if (client.listenerCount?.('error') === 0) client.on('error', ignore)

  return isNodeRedis(client) ? byObject(client) : byPosition(client)
}

function isNodeRedis (client) {
  return typeof client.sendCommand === 'function' && typeof client.defineCommand !== 'function'
}

function byObject (client) {
  return {
    get: async key => client.get(key),
    set: async (key, value, ttl) => client.set(key, value, { PX: ttl }),
    replace: async (key, value, ttl) => client.set(key, value, { PX: ttl, XX: true }),
    pexpire: async (key, ttl) => client.pExpire(key, ttl),
    pttl: async key => client.pTTL(key),
    knowsTtl: typeof client.pExpire === 'function' && typeof client.pTTL === 'function',
    del: async key => client.del(key),
    eval: async (script, key, arg) => client.eval(script, { keys: [key], arguments: [arg] })
  }
}

function byPosition (client) {
  return {
    get: async key => client.get(key),
    set: async (key, value, ttl) => client.set(key, value, 'PX', ttl),
    replace: async (key, value, ttl) => client.set(key, value, 'PX', ttl, 'XX'),
    pexpire: async (key, ttl) => client.pexpire(key, ttl),
    pttl: async key => client.pttl(key),
    knowsTtl: typeof client.pexpire === 'function' && typeof client.pttl === 'function',
    del: async key => client.del(key),
    eval: async (script, key, arg) => client.eval(script, 1, key, arg)
  }
}

function ignore () {}
