import type { Context, Middleware, Next } from '../../lib/index'

declare namespace Router {
  type Path = string | RegExp
  type Paths = Path | Path[]
  type Many = Middleware | Middleware[]
  type ParamMiddleware = (value: string, ctx: Context, next: Next) => unknown

  interface Options {
    /** put before every path */
    prefix?: string
    /** only for requests to this host */
    host?: string | RegExp
    /** what allowedMethods() calls implemented */
    methods?: string[]
    /** match this instead of the request's path */
    routerPath?: string
    /** run the last matching route alone */
    exclusive?: boolean
    /** `/a` and `/A` differ */
    sensitive?: boolean
    /** `/a` and `/a/` differ */
    strict?: boolean
    /** paths by path-to-regexp 6.3, as in koa-router (default), or 8, as in @koa/router from 14 on */
    syntax?: 6 | 8
  }

  interface LayerOptions {
    name?: string | symbol | null
    end?: boolean
    sensitive?: boolean
    strict?: boolean
    prefix?: string
    ignoreCaptures?: boolean
  }

  interface UrlOptions {
    query?: string | Record<string, unknown>
  }

  interface AllowedMethodsOptions {
    throw?: boolean
    notImplemented?: () => unknown
    methodNotAllowed?: () => unknown
  }

  interface Layer {
    opts: LayerOptions
    name: string | symbol | null
    methods: string[]
    paramNames: Array<{ name: string | number }>
    stack: Middleware[]
    path: Path
    regexp: RegExp
    match (path: string): boolean
    params (path: string, captures: string[], params?: Record<string, string>): Record<string, string>
    captures (path: string): string[]
    url (params?: unknown, options?: UrlOptions): string
    param (param: string, middleware: ParamMiddleware): this
    setPrefix (prefix: string): this
  }

  interface Matched {
    path: Layer[]
    pathAndMethod: Layer[]
    route: boolean
  }

  interface Route<R> {
    (path: Paths, ...middleware: Middleware[]): R
    (name: string | symbol, path: Path, ...middleware: Middleware[]): R
  }

  /** what routes() returns: a middleware that another router can nest */
  interface Routes {
    (ctx: Context, next: Next): Promise<unknown>
    router: Router
  }
}

declare class Router {
  constructor (options?: Router.Options)

  opts: Router.Options
  methods: string[]
  exclusive: boolean
  params: Record<string, Router.ParamMiddleware>
  stack: Router.Layer[]
  host: string | RegExp | undefined

  static url (path: string, ...args: any[]): string

  use (...middleware: Middleware[]): this
  use (path: string | string[], ...middleware: Middleware[]): this
  prefix (prefix: string): this
  routes (): Router.Routes
  middleware (): Router.Routes
  allowedMethods (options?: Router.AllowedMethodsOptions): Middleware
  redirect (source: string | symbol, destination: string | symbol, code?: number): this
  register (
    path: Router.Path, methods: string[], middleware: Router.Many, opts?: Router.LayerOptions
  ): Router.Layer
  register (path: Router.Path[], methods: string[], middleware: Router.Many, opts?: Router.LayerOptions): this
  route (name: string | symbol): Router.Layer | false
  url (name: string | symbol, ...args: any[]): string | Error
  match (path: string, method: string): Router.Matched
  param (param: string, middleware: Router.ParamMiddleware): this

  all: Router.Route<this>
  get: Router.Route<this>
  head: Router.Route<this>
  post: Router.Route<this>
  put: Router.Route<this>
  patch: Router.Route<this>
  delete: Router.Route<this>
  del: Router.Route<this>
  options: Router.Route<this>
  link: Router.Route<this>
  unlink: Router.Route<this>
  trace: Router.Route<this>
  connect: Router.Route<this>
}

export = Router
