'use strict'

const cluster = require('cluster')
const { clearInterval, setInterval } = require('../../lib/shared/timers')

const SWEEP = 60_000 // ms

/**
 * Sessions in this process' memory, as JSON: a change that a request does not save is invisible to other
 * requests. Expired sessions are evicted when they are read and by a sweep every minute.
 *
 *    app.use(session({ store: session.memory() }))
 *
 * @api private
 */
module.exports = class MemoryStore {
  constructor () {
    this.lazy = true
    this.sessions = new Map() // id -> { text, expires }
    this.timer = null
    // @ts-expect-error -- declared as an ES module
    if (cluster.isWorker) {
      process.emitWarning('a session kept in memory is unknown to the other workers: ' +
        'use session.sealedCookie() or session.redis()', { code: 'KONE_SESSION_MEMORY' })
    }
  }

  get (id) {
    const kept = this.find(id)
    return kept && JSON.parse(kept.text)
  }

  find (id) {
    const kept = this.sessions.get(id)
    if (kept === undefined || kept.expires > Date.now()) return kept
    this.sessions.delete(id)
  }

  textOf (id) {
    return this.sessions.get(id)?.text
  }

  set (id, session, ttl, text = JSON.stringify(session)) {
    this.sessions.set(id, { text, expires: Date.now() + ttl })
    if (this.timer === null) this.timer = setInterval(() => this.sweep(), SWEEP).unref()
  }

  replace (id, session, ttl, text) {
    if (this.find(id) === undefined) return false
    this.set(id, session, ttl, text)
  }

  touch (id, ttl) {
    const kept = this.find(id)
    if (kept === undefined) return false
    kept.expires = Date.now() + ttl
  }

  ttl (id) {
    return this.sessions.get(id)?.expires - Date.now()
  }

  destroy (id) {
    this.sessions.delete(id)
  }

  sweep () {
    const now = Date.now()
    for (const [id, { expires }] of this.sessions) {
      if (expires <= now) this.sessions.delete(id)
    }
    if (this.sessions.size > 0) return
    clearInterval(this.timer)
    this.timer = null
  }
}
