import Kone = require('../../lib/index')

/** Respond to `/favicon.ico` from memory. */
declare function favicon (path?: string, options?: favicon.Options): Kone.Middleware

declare namespace favicon {
  interface Options {
    // <options>
    /** How long a client may cache the icon, at most a year (ms). Default: 86,400,000. */
    maxAge?: number | undefined
    /** Content-Type of the icon. Default: `'image/x-icon'`. */
    mime?: string | undefined
    // </options>
  }
}

export = favicon
