import Kone = require('../../lib/index')

/** Give responses an ETag. */
declare function etag (options?: etag.Options): Kone.Middleware

declare namespace etag {
  interface Options {
    // <options>
    /** `true`: all tags are weak; `false`: no tag is weak. Default: files only. */
    weak?: boolean | undefined
    // </options>
  }

  /** The same for `app.final`. */
  function final (options?: Options): Kone.Final
}

export = etag
