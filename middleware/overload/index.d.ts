import type { Middleware } from '../../lib/index'

/**
 * Respond 503 at once while the process has more to do than it can.
 *
 *    app.use(overload({ maxEventLoopDelay: 100 })) // first, but after health and metrics
 */
declare function overload (options?: overload.Options): Middleware

declare namespace overload {
  interface Options {
    /** ms that an event may have waited for the event loop; default 200 */
    maxEventLoopDelay?: number | false
    /** from 0.01 to 1: the share of its time that the event loop is busy; default none */
    maxEventLoopUtilization?: number
    /** bytes, or a string such as '500mb'; default none */
    maxHeapUsedBytes?: number | string
    /** bytes of the whole process, or a string such as '1gb'; default none */
    maxRssBytes?: number | string
    /** ms between two readings of utilization and memory; default 1000 */
    sampleInterval?: number
    /** seconds, sent as Retry-After; default 10 */
    retryAfter?: number
  }

  interface State {
    /** a request was refused within the last `sampleInterval` */
    isOverloaded: boolean
    /** ms */
    eventLoopDelay: number
    /** only with its limit */
    eventLoopUtilization?: number
    /** only with its limit */
    heapUsedBytes?: number
    /** only with its limit */
    rssBytes?: number
    /** how many requests, by what exceeded its limit */
    refused: Record<string, number>
  }

  /** What it measures and has refused; null while the process has no overload(). */
  function state (): State | null
}

export = overload
