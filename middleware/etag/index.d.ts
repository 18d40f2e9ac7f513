import Kone = require('../../lib/index')

/** Give responses an ETag. */
declare function etag (options?: etag.Options): Kone.Middleware

declare namespace etag {
  interface Options {
    /** true: all tags are weak, false: none; default: those of files. */
    weak?: boolean | undefined
  }

  /** The same for `app.final`. */
  function final (options?: Options): Kone.Final
}

export = etag
