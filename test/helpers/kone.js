'use strict'

/**
 * The class under test: kone, kone with bluebird (`KONE_PROMISE=bluebird`), kone in servers that other code creates
 * (`KONE_FRONT=callback`), or any package that claims to be Koa (`KONE_CLASS=koa`), which shows whether a test states
 * Koa's behaviour.
 */

const { KONE_CLASS, KONE_FRONT, KONE_PROMISE } = process.env

const Kone = require(KONE_CLASS || (KONE_PROMISE === 'bluebird' ? 'kone/bluebird' : 'kone'))

const FIRST = new Error('of the first request')

/** Every server is one that other code has created with `app.callback()`, and has had its first request. */
class Elsewhere extends Kone {
  #servers = new Set()

  attach (server) {
    const { drain, track } = require('../../lib/engines/drain')
    const listener = this.callback()
    server.on('request', listener)
    track(server)
    this.#servers.add(server.once('close', () => this.#servers.delete(server)))
    Object.defineProperty(server, 'listening', { value: true, configurable: true })
    try {
      // The app gets no such request, because it cannot create a context for it.
      listener({ headers: {}, socket: { server }, httpVersionMajor: 1, get url () { throw FIRST } }, {})
    } catch (err) {
      if (err !== FIRST) throw err
    } finally {
      delete server.listening
    }
    this.close = async options => {
      await Promise.all([...this.#servers].map(server => drain(server, { timeout: 10_000, grace: 600, ...options })))
    }
    return server
  }
}

module.exports = KONE_FRONT === 'callback' ? Object.assign(Elsewhere, { default: Elsewhere }) : Kone
