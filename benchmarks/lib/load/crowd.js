'use strict'

const { merge } = require('./sample')
const { worker } = require('./worker')

const PER_PROCESS = 10_000 // connections: half of what a process may often hold open
const ATLEAST = 2 // processes

/**
 * Thousands of connections from several processes, each with source addresses of its own, 127.0.x.y. They stay
 * from one act to the next; what breaks is connected again.
 *
 *    const crowd = new Crowd({ connections: 10_000, pin })
 *    await crowd.open({ port, connections: 10_000, path })       // connected, nothing sent; message: what follows a handshake
 *    await crowd.greet()                                         // each has sent a request
 *    await crowd.paced({ rate: 1000, seconds: 2 })               // an open loop: 1000 requests per second of all together
 *    await crowd.arrivals({ rate: 1000, seconds: 2 })            // an open loop with independent arrivals
 *    await crowd.closed({ seconds: 2 })                          // each sends the next one when it has a response
 *    await crowd.reset()
 *    await crowd.hold({ port, connections, path }, act)          // open, greet, an act, reset
 *    crowd.stop()
 */
module.exports = class Crowd {
  constructor ({ connections, pin, processes = Math.max(ATLEAST, Math.ceil(connections / PER_PROCESS)) }) {
    this.workers = Array.from({ length: processes }, () => worker(require.resolve('./crowd-worker'), { pin }))
  }

  async open ({ connections, ...load }) {
    const { length } = this.workers
    const opened = await this.#all('open', i => ({
      ...load,
      // other systems than Linux know only the one address
      source: process.platform === 'linux' ? `127.0.${i + 1}` : undefined,
      connections: Math.floor(connections / length) + (i < connections % length ? 1 : 0)
    }))
    return { open: opened.reduce((sum, { open }) => sum + open, 0) }
  }

  greet = async () => merge(await this.#all('greet'))
  closed = async ({ seconds }) => merge(await this.#all('closed', () => ({ seconds })))
  paced = async how => merge(await this.#all('paced', () => this.#share(how)))

  // Each request is sent when it is due, not by the next millisecond: a process of this loop never sleeps, so it needs a
  // core of its own. All requests are counted.
  arrivals = async how => merge(await this.#all('arrivals', () => this.#share(how)))

  reset = () => this.#all('reset')

  async hold (where, act) {
    try {
      await this.open(where)
      const { errors } = await this.greet()
      if (errors) throw new Error(`${errors} errors in the first responses`)
      return await act()
    } finally {
      await this.reset()
    }
  }

  stop () {
    for (const { stop } of this.workers) stop()
  }

  #share = ({ rate, seconds }) => ({ rate: rate / this.workers.length, seconds })

  // Each has replied before anything fails: who had not would take the next act's reply for its own.
  async #all (act, of = () => ({})) {
    const replies = await Promise.allSettled(this.workers.map((one, i) => one.run({ act, ...of(i) })))
    const failed = replies.find(({ status }) => status === 'rejected')
    if (failed) throw failed.reason
    return replies.map(({ value }) => value)
  }
}
