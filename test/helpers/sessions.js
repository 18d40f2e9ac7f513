'use strict'

/**
 * A store of sessions, which keeps them as JSON. `operate(name, id, work, ttl)` decides when an operation is done, and whether.
 *
 *    const store = storeOf()
 *    const down = storeOf(async () => { throw new Error('down') })
 */
module.exports = function storeOf (operate = async (name, id, work) => work()) {
  const sessions = new Map()
  return {
    sessions,
    get: id => operate('get', id, () => JSON.parse(sessions.get(id) ?? 'null')),
    set (id, value, ttl) {
      const text = JSON.stringify(value)
      return operate('set', id, () => { sessions.set(id, text) }, ttl)
    },
    destroy: id => operate('destroy', id, () => { sessions.delete(id) })
  }
}
