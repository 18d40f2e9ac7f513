import Kone = require('../../lib/index')

/** Give responses an ETag. */
declare function etag (options?: etag.Options): Kone.Middleware

declare namespace etag {
  interface Options {
    /** All tags weak, or none; when left out those of files are. */
    weak?: boolean | undefined
  }

  /** The same for `app.final`. */
  function final (options?: Options): Kone.Final
}

export = etag
