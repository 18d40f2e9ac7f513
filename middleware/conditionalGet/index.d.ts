import Kone = require('../../lib/index')

/** Respond 304 when the client already has what would be sent. */
declare function conditionalGet (): Kone.Middleware

declare namespace conditionalGet {
  /** The same for `app.final`. */
  function final (): Kone.Final
}

export = conditionalGet
