/// <reference types="node" />
import { Readable } from 'node:stream'
import Kone = require('../../lib/index')

/** Give `ctx.sse()`, which responds with an event stream. */
declare function sse (options?: sse.Options): Kone.Middleware

declare namespace sse {
  interface Options {
    // <options>
    /** Time between the comments that keep a silent stream open; 0: no comments (ms). Default: 15,000. */
    heartbeat?: number | undefined
    /** What may be queued for one client (bytes). Default: 262,144. */
    limit?: number | undefined
    // </options>
  }

  interface Event {
    event?: string | undefined
    /** Sent as JSON when it is not text. */
    data?: any
    id?: string | number | undefined
    /** The time in ms after which the client connects again. */
    retry?: number | undefined
  }

  interface EventStream extends Readable {
    /** What the client saw last before it connected again, or ''. */
    readonly lastEventId: string
    /** false: not sent, since the stream is over or the client is behind (wait for 'drain'). */
    send (event: Event | string): boolean
    end (): void
  }
}

declare module '../../lib/index' {
  interface BaseContext {
    sse (): sse.EventStream
  }
}

export = sse
