import Kone = require('../../lib/index')

declare function requestId (options?: requestId.Options): Kone.Middleware<{ id: string }>

declare namespace requestId {
  interface Options {
    // <options>
    /** Request header with the id of the client; `false`: not read. Default: `'X-Request-Id'`. */
    header?: string | false | undefined
    /**
     * Query parameter with the id of the client, read before the header; `false`: not read. Default: `'requestId'`.
     */
    query?: string | false | undefined
    /** Response header that sends the id; `false`: not sent. Default: `'X-Request-Id'`. */
    expose?: string | false | undefined
    // </options>
  }
}

declare module '../../lib/index' {
  interface BaseState {
    /** The request's id. */
    id: string
  }
}

export = requestId
