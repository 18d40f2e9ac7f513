import Kone = require('../../lib/index')

/** Respond to a GET that names a callback with a script that calls it. */
declare function jsonp (options?: jsonp.Options): Kone.Middleware

declare namespace jsonp {
  interface Options {
    /** The query's field; default: `callback`. */
    callbackName?: string | undefined
  }

  /** The same for `app.final`. */
  function final (options?: Options): Kone.Final
}

export = jsonp
