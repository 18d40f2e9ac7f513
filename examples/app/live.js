'use strict'

const { ServerResponse } = require('node:http')
const { monitorEventLoopDelay } = require('node:perf_hooks')

const EVERY = 1000 // ms between samples
const KEPT = 60 // samples
const RESOLUTION = 20 // ms between the timers that the event-loop delay is measured with
const WARM = 100 // requests until V8 has compiled what serves them
const ENOUGH = 20 // requests in a sample, for a CPU time that is not mostly the process' own timers

/**
 * The figures of this process: one sample per second, the last minute of them, and the event
 * streams that get each new one.
 *
 *    const live = new Live()
 *    app.use(live.count)
 *    router.get('/live', ctx => live.send(ctx.sse()))
 */
module.exports = class Live {
  constructor () {
    this.samples = []
    this.streams = new Set()
    this.total = 0
    this.fast = 0 // of `total`, on the fast path
    this.isFast = null // unknown before the first request
    this.cpu = null // µs per request, of the last sample with enough of them
    this.delay = monitorEventLoopDelay({ resolution: RESOLUTION })
    this.delay.enable()
    this.before = this.now()
    setInterval(() => this.sample(), EVERY).unref()

    /** The middleware that counts. */
    this.count = function live (ctx, next) {
      if (ctx.get('Upgrade') !== '') return next() // of a WebSocket, which is node:http's on every server
      this.total++
      if (!(ctx.outgoing instanceof ServerResponse)) this.fast++
      return next()
    }.bind(this)
  }

  /** Send all kept samples, and from then on each new one. */
  send (stream) {
    stream.send({ event: 'history', data: this.samples })
    this.streams.add(stream)
    stream.on('close', () => this.streams.delete(stream))
  }

  /** End the streams, so that a shutdown does not wait for them. */
  close () {
    for (const stream of this.streams) stream.end()
  }

  /** The newest sample. */
  get latest () {
    return this.samples.at(-1) || this.sample()
  }

  sample () {
    const { before, delay } = this
    const now = this.before = this.now()
    const requests = now.total - before.total
    if (requests > 0) this.isFast = now.fast > before.fast
    const cpu = requests >= ENOUGH && before.total >= WARM ? (now.cpu - before.cpu) / requests : null
    this.cpu = cpu ?? this.cpu
    const sample = {
      total: this.total,
      share: this.total > 0 ? this.fast / this.total : null,
      isFast: this.isFast,
      rate: requests / Math.max(now.at - before.at, EVERY) * 1000,
      cpu,
      latestCpu: this.cpu,
      // the histogram holds the time between two timers: what is over the resolution is the delay
      delay: delay.count > 0 ? Math.max(0, delay.percentile(99) / 1e6 - RESOLUTION) : 0 // ms
    }
    delay.reset()
    this.samples.push(sample)
    if (this.samples.length > KEPT) this.samples.shift()
    for (const stream of this.streams) stream.send({ event: 'sample', data: sample })
    return sample
  }

  now () {
    const { user, system } = process.cpuUsage()
    return { at: performance.now(), cpu: user + system, total: this.total, fast: this.fast }
  }
}
