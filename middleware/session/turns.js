'use strict'

const deadline = require('../_shared/deadline')

const all = new WeakMap()

/**
 * `replace` and `touch` for a store that lacks one of them: they read before they write, so that a record that was
 * destroyed is not written again. Operations on one record run one after the other, but only those of this process:
 * between the reading and the writing another process may change or destroy the record. A store that has both does
 * without this.
 *
 * @api private
 */
class Turns {
  #store
  #replaces
  #last = new Map() // id -> promise of the operation that was begun last

  constructor (store) {
    this.#store = store
    this.#replaces = typeof store.replace === 'function'
  }

  replace (id, session, ttl) {
    return this.#next(id, async () => {
      if (this.#replaces) return this.#store.replace(id, session, ttl)
      if (!isRecord(await this.#store.get(id))) return false
      await this.#store.set(id, session, ttl)
    })
  }

  touch (id, ttl) {
    return this.#next(id, async () => {
      const found = await this.#store.get(id)
      if (!isRecord(found)) return false
      const record = found._expire === undefined ? found : { ...found, _expire: Date.now() + ttl }
      if (this.#replaces) return this.#store.replace(id, record, ttl)
      await this.#store.set(id, record, ttl)
    })
  }

  destroy (id) {
    return this.#next(id, async () => { await this.#store.destroy(id) })
  }

  #next (id, operation) {
    const last = this.#last.get(id)
    const run = () => deadline(operation()) // one that never ends does not stop the others
    const ended = last === undefined ? run() : last.then(run, run)
    const forget = () => {
      if (this.#last.get(id) === ended) this.#last.delete(id)
    }
    this.#last.set(id, ended)
    ended.then(forget, forget)
    return ended
  }
}

function isRecord (value) {
  return value !== null && typeof value === 'object'
}

/**
 * @param {object} store
 * @return {Turns} the same for each session middleware that has this store
 */
module.exports = function turnsOf (store) {
  let turns = all.get(store)
  if (turns === undefined) all.set(store, turns = new Turns(store))
  return turns
}
