import Kone = require('../../lib/index')

/** Refuse requests that another site made a visitor's browser send. */
declare function csrf (options?: csrf.Options): Kone.Middleware

declare namespace csrf {
  interface Options {
    // <options>
    /** `ctx => *`, called instead of responding 403. Default: 403 `Invalid CSRF token`. */
    errorHandler?: ((ctx: Kone.Context) => any) | undefined
    /** Methods that are not checked. Default: `['GET', 'HEAD', 'OPTIONS']`. */
    excludedMethods?: string[] | undefined
    /** `true`: do not read a token from the query. Default: `false`. */
    disableQuery?: boolean | undefined
    /** Paths that are not checked, in the syntax of multimatch without extended globs `+(…)`. Default: `[]`. */
    ignoredPathGlobs?: string[] | undefined
    /** Length of a session's secret, 16 to 1024 (bytes). Default: 18. */
    secretLength?: number | undefined
    /** Accepted and not used: these tokens have no salt. */
    saltLength?: number | undefined
    // </options>
  }
}

declare module '../../lib/index' {
  interface BaseState {
    /** The token for forms, different in every response. */
    _csrf: string
  }
}

export = csrf
