'use strict'

const { Client } = require('./client')

const STALLS = 10_000 // ms without a response on any connection

/**
 * Kept connections to one server, in a closed loop: each sends its next request when it has a response.
 *
 *    const load = new Load({ port, connections: 50 }, [{ parts: bytes({ port, path: '/' }), status: '200' }])
 *    await load.run({ requests: 5000 }) // { requests: 5000, seconds: 0.31, … }
 *    load.close()
 */
class Load {
  /**
   * @param {{ port: number, isTls?: boolean, connections: number }} where
   * @param {{ parts: (Buffer|string)[], status: string, isHead?: boolean }[]} requests sent in turn; status: that
   *   responses must have
   */
  constructor ({ connections, ...where }, requests) {
    this.where = where
    this.connections = connections
    this.requests = requests
    this.clients = []
  }

  /**
   * @param {{ requests?: number, seconds?: number }} most which of them ends it
   * @return {Promise<object>} the sample
   * @throws {Error} at the first response that is not whole or has another status, and if none comes for ten seconds
   */
  async run ({ requests = Infinity, seconds = Infinity }) {
    await this.open()
    const began = performance.now()
    const until = began + seconds * 1000
    let begun = 0
    let done = 0
    let bytes = 0
    let seen = -1
    let isStalled = false
    const watch = setInterval(() => {
      isStalled = done === seen
      if (isStalled) for (const { socket } of this.clients) socket.destroy()
      seen = done
    }, STALLS)
    await Promise.all(this.clients.map(client => new Promise((resolve, reject) => {
      const next = () => {
        if (begun === requests || performance.now() >= until) return resolve()
        const { parts, status, isHead } = this.requests[begun++ % this.requests.length]
        if (!client.isOpen) return reject(new Error(CLOSED))
        client.request(parts, () => {
          if (client.status !== status || !client.isWhole) return reject(new Error(reasonOf(client, status)))
          done++
          bytes += client.size
          next()
        }, { isHead })
      }
      next()
    }))).catch(err => {
      this.close() // what is under way is no part of the next run
      throw isStalled ? new Error(`no response within ${STALLS / 1000} s`) : err
    }).finally(() => clearInterval(watch))
    const spent = (performance.now() - began) / 1000
    const { length } = this.clients
    const latencyMeanMs = length * spent * 1000 / done // none of the connections was ever without a request
    return { requests: done, seconds: spent, errors: 0, bytes, requestsPerSecond: done / spent, latencyMeanMs }
  }

  /** A server may have closed those that were idle. */
  async open () {
    this.clients = this.clients.filter(({ isOpen }) => isOpen)
    try {
      while (this.clients.length < this.connections) this.clients.push(await new Client(this.where).open())
    } catch ({ code }) {
      throw new Error(`the connection failed (${code})`)
    }
  }

  close () {
    for (const client of this.clients) client.destroy()
    this.clients = []
  }
}

const CLOSED = 'the connection was closed'

const reasonOf = ({ status, isWhole }, wanted) =>
  status === '' || (status === wanted && !isWhole) ? CLOSED : `its status became ${status} (it was ${wanted})`

module.exports = { Load }
