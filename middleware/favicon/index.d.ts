import Kone = require('../../lib/index')

/** Respond to `/favicon.ico` from memory. */
declare function favicon (path?: string, options?: favicon.Options): Kone.Middleware

declare namespace favicon {
  interface Options {
    /** ms that a client may keep it; default: a day, at most a year */
    maxAge?: number | undefined
    /** Default: `image/x-icon`. */
    mime?: string | undefined
  }
}

export = favicon
