import Kone = require('../../lib/index')

/** Cross-origin resource sharing by @koa/cors. */
declare function cors (options?: cors.Options): Kone.Middleware

declare namespace cors {
  type Origin = string | RegExp

  interface Options {
    // <options>
    /**
     * An origin, a RegExp, an array of both, or `ctx => string`, which may return a promise; a RegExp must match the
     * whole origin. Any other origin, and an empty string from the function, gets no headers. Default: `'*'`.
     */
    origin?: Origin | readonly Origin[] | ((ctx: Kone.Context) => string | Promise<string>) | undefined
    /** Methods that a page may use, a string or an array. Default: GET,HEAD,PUT,POST,DELETE,PATCH. */
    allowMethods?: string | string[] | undefined
    /** Headers of the response that a page may read, a string or an array. */
    exposeHeaders?: string | string[] | undefined
    /** Headers that a page may send, a string or an array. Default: those that the client requests. */
    allowHeaders?: string | string[] | undefined
    /** How long a client may cache a preflight response (s). */
    maxAge?: string | number | undefined
    /**
     * A boolean, or `ctx => boolean`, which may return a promise: whether a page may send cookies and read the
     * response; needs `origin`. Default: `false`.
     */
    credentials?: boolean | ((ctx: Kone.Context) => boolean | Promise<boolean>) | undefined
    /** Responses to errors have the headers, too. Default: `true`. */
    keepHeadersOnError?: boolean | undefined
    /** As in @koa/cors. Default: `false`. */
    secureContext?: boolean | undefined
    /** As in @koa/cors. Default: `false`. */
    privateNetworkAccess?: boolean | undefined
    // </options>
  }
}

export = cors
