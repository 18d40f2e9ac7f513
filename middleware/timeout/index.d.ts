import Kone = require('../../lib/index')

/** @param ms from 1 to 2147483647 */
declare function timeout (ms: number): Kone.Middleware<{}, timeout.TimeoutContext>

declare namespace timeout {
  interface TimeoutContext {
    /** Aborted when the time is over. */
    readonly signal: AbortSignal
  }
}

declare module '../../lib/index' {
  interface BaseContext {
    readonly signal: AbortSignal
  }
}

export = timeout
