import Kone = require('../../lib/index')

/** Cross-origin resource sharing by @koa/cors. */
declare function cors (options?: cors.Options): Kone.Middleware

declare namespace cors {
  interface Options {
    /** One or several that are allowed; a RegExp must match the whole origin. Default: `*`. */
    origin?: string | RegExp | readonly (string | RegExp)[]
      /** returns '' for none */
      | ((ctx: Kone.Context) => string | Promise<string>) | undefined
    /** Default: `GET,HEAD,PUT,POST,DELETE,PATCH`. */
    allowMethods?: string | string[] | undefined
    exposeHeaders?: string | string[] | undefined
    /** Default: the headers that the client requests. */
    allowHeaders?: string | string[] | undefined
    /** seconds */
    maxAge?: string | number | undefined
    /** Needs `origin`. */
    credentials?: boolean | ((ctx: Kone.Context) => boolean | Promise<boolean>) | undefined
    /** Default: true. */
    keepHeadersOnError?: boolean | undefined
    secureContext?: boolean | undefined
    privateNetworkAccess?: boolean | undefined
  }
}

export = cors
