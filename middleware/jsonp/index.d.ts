import Kone = require('../../lib/index')

/** Respond to a GET that names a callback with a script that calls it. */
declare function jsonp (options?: jsonp.Options): Kone.Middleware

declare namespace jsonp {
  interface Options {
    // <options>
    /** Name of the query parameter. Default: `'callback'`. */
    callbackName?: string | undefined
    // </options>
  }

  /** The same for `app.final`. */
  function final (options?: Options): Kone.Final
}

export = jsonp
