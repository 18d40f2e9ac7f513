import Kone = require('../../lib/index')

/** Refuse requests that another site made a visitor's browser send. */
declare function csrf (options?: csrf.Options): Kone.Middleware

declare namespace csrf {
  interface Options {
    /** Default: a 403. */
    errorHandler?: ((ctx: Kone.Context) => any) | undefined
    /** Default: `GET`, `HEAD`, `OPTIONS`. */
    excludedMethods?: string[] | undefined
    /** true: no token from the query. */
    disableQuery?: boolean | undefined
    /** Paths that are not protected. */
    ignoredPathGlobs?: string[] | undefined
    /** Bytes, 16 to 1024; default: 18. */
    secretLength?: number | undefined
    /** Accepted for koa-csrf's sake, and not used. */
    saltLength?: number | undefined
  }
}

declare module '../../lib/index' {
  interface BaseState {
    /** The token for forms, different in every response. */
    _csrf: string
  }
}

export = csrf
