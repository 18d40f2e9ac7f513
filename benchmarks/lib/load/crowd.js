'use strict'

const worker = require('./worker')
const { quantile } = require('../run/stats')

const PER_PROCESS = 10_000 // connections: half of what a process may often hold open
const ATLEAST = 2 // processes

/**
 * Thousands of connections from several processes, each with source addresses of its own, 127.0.x.y. They stay
 * from one act to the next; what breaks is connected again.
 *
 *    const crowd = new Crowd({ connections: 10_000, pin })
 *    await crowd.open({ port, connections: 10_000 })    // connected, nothing sent
 *    await crowd.greet()                                // each has sent a request
 *    await crowd.paced({ rate: 1000, seconds: 2 })      // an open loop over all of them
 *    await crowd.arrivals({ rate: 1000, seconds: 2 })   // an open loop with independent arrivals
 *    await crowd.closed({ seconds: 2 })                 // each sends the next one when it has a response
 *    await crowd.reset()
 *    crowd.stop()
 */
class Crowd {
  constructor ({ connections, pin, processes = Math.max(ATLEAST, Math.ceil(connections / PER_PROCESS)) }) {
    this.workers = Array.from({ length: processes }, () => worker(require.resolve('./crowd-worker'), { pin }))
  }

  /** @param {{ port: number, connections: number, host?: string, path?: string }} where */
  async open ({ port, connections, host = '127.0.0.1', path = '/' }) {
    const { length } = this.workers
    const opened = await this.#all(i => ({
      act: 'open',
      host,
      port,
      path,
      // other systems than Linux know only the one address
      source: process.platform === 'linux' ? `127.0.${i + 1}` : undefined,
      connections: Math.floor(connections / length) + (i < connections % length ? 1 : 0)
    }))
    return { open: opened.reduce((sum, { open }) => sum + open, 0) }
  }

  async greet () {
    return merge(await this.#all(() => ({ act: 'greet' })))
  }

  /** @param {{ seconds: number }} how */
  async closed ({ seconds }) {
    return merge(await this.#all(() => ({ act: 'closed', seconds })))
  }

  /** @param {{ rate: number, seconds: number, patience?: number }} how rate: requests per second of all together */
  async paced ({ rate, seconds, patience }) {
    return merge(await this.#all(() => ({ act: 'paced', rate: rate / this.workers.length, seconds, patience })))
  }

  /**
   * The same with the gaps of independent clients (exponential), each request sent when it is due, not by the next
   * millisecond: a process of this loop never sleeps, so it needs a core of its own. All requests are counted.
   */
  async arrivals ({ rate, seconds }) {
    return merge(await this.#all(() => ({ act: 'arrivals', rate: rate / this.workers.length, seconds })))
  }

  async reset () {
    await this.#all(() => ({ act: 'reset' }))
  }

  stop () {
    for (const { stop } of this.workers) stop()
  }

  // Each has replied before anything fails: who had not would take the next act's reply for its own.
  async #all (of) {
    const replies = await Promise.allSettled(this.workers.map((one, i) => one.run(of(i))))
    const failed = replies.find(({ status }) => status === 'rejected')
    if (failed) throw failed.reason
    return replies.map(({ value }) => value)
  }
}

/**
 * A crowd as a generator like the others: connections are made, each has sent a request before the load begins, and
 * they are gone afterwards.
 */
const generatorOf = act => function ({ pin }) {
  let crowd = null
  return {
    async run ({ mark = () => {}, ...load }) {
      crowd ??= new Crowd({ connections: load.connections, pin })
      try {
        await crowd.open(load)
        await crowd.greet()
        mark('settled')
        const sample = await act(crowd, load)
        mark('over')
        return sample
      } finally {
        await crowd.reset()
      }
    },
    stop: () => crowd?.stop()
  }
}

/** What several processes measured, as one sample. */
function merge (parts) {
  const sum = name => parts.reduce((total, part) => total + part[name], 0)
  const latencies = Float64Array.from(parts.flatMap(part => part.latencies))
  const requests = sum('requests')
  const seconds = Math.max(...parts.map(part => part.seconds))
  let total = 0
  for (const ms of latencies) total += ms
  const at = p => latencies.length ? quantile(latencies, p) : NaN
  return {
    requests,
    seconds,
    bytes: sum('bytes'),
    errors: sum('errors'),
    reconnects: sum('reconnects'),
    requestsPerSecond: requests / seconds,
    latencyMeanMs: total / latencies.length,
    p50: at(0.5),
    p90: at(0.9),
    p99: at(0.99),
    p999: at(0.999)
  }
}

module.exports = Object.assign(Crowd, {
  merge,
  generator: generatorOf((crowd, { seconds }) => crowd.closed({ seconds })),
  paced: generatorOf((crowd, { rate, seconds }) => crowd.paced({ rate, seconds, patience: 200 })) // at a fixed rate
})
