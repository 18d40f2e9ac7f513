import type { Middleware } from '../../lib/index'

declare function requestId (options?: requestId.Options): Middleware<{ id: string }>

declare namespace requestId {
  interface Options {
    /** request header to take the id from; default 'X-Request-Id' */
    header?: string | false
    /** query parameter to take the id from; default 'requestId' */
    query?: string | false
    /** response header for the id; default 'X-Request-Id' */
    expose?: string | false
  }
}

declare module '../../lib/index' {
  interface BaseState {
    /** The request's id. */
    id: string
  }
}

export = requestId
