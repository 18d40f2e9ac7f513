import Kone = require('../../lib/index')

/**
 * Respond 503 at once while the process has more to do than it can.
 *
 *    app.use(overload({ maxEventLoopDelay: 100 })) // first, but after health and metrics
 */
declare function overload (options?: overload.Options): Kone.Middleware

declare namespace overload {
  interface Options {
    // <options>
    /** How long a request may have waited for the event loop; `false`: no limit (ms). Default: 200. */
    maxEventLoopDelay?: number | false | undefined
    /** Share of its time that the event loop is busy, from 0.01 to 1. */
    maxEventLoopUtilization?: number | undefined
    /** Memory of JavaScript (bytes, or as `'1mb'`). */
    maxHeapUsedBytes?: number | string | undefined
    /** Memory of the process (bytes, or as `'1mb'`). */
    maxRssBytes?: number | string | undefined
    /** Time between two readings of utilization and memory (ms). Default: 1000. */
    sampleInterval?: number | undefined
    /** Sent as `Retry-After` (s). Default: 10. */
    retryAfter?: number | undefined
    // </options>
  }

  interface State {
    /** A request was refused within the last `sampleInterval`. */
    isOverloaded: boolean
    /** In ms. */
    eventLoopDelay: number
    /** Only with its limit. */
    eventLoopUtilization?: number
    /** Only with its limit. */
    heapUsedBytes?: number
    /** Only with its limit. */
    rssBytes?: number
    /** How many requests, by what exceeded its limit. */
    refused: Record<string, number>
  }

  /** What it measures and has refused; null while the process has no overload(). */
  function state (): State | null
}

export = overload
