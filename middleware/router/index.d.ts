import Kone = require('../../lib/index')
import type { PathParams } from './path'
import type { Verb } from './verb'

declare namespace Router {
  type Path = string | RegExp
  type Paths = Path | Path[]
  type Many = AnyMiddleware | AnyMiddleware[]
  type AnyMiddleware = Kone.Middleware<any, any>
  type ParamMiddleware = (value: string, ctx: Kone.ParameterizedContext<any, any>, next: Kone.Next) => unknown

  /**
   * What a path puts on `ctx.params`.
   *
   *    Router.Params<'/users/:id/posts/:post?'>   // { id: string, post?: string }
   *    Router.Params<'/users{/:id}', 8>           // { id?: string }
   */
  type Params<P extends Path, SyntaxT extends 6 | 8 = 6> = PathParams<P, SyntaxT>

  /** What the router puts on ctx, beside `params`. */
  interface Matching {
    router: Router<any, any, any, any>
    captures: string[]
    matched: Layer[]
    /** With `syntax: 8`: whether one of the routes has the path and the method. */
    routeMatched?: boolean
    routerPath: Path
    routerName: string | symbol | null
    _matchedRoute: Path
    _matchedRouteName?: string | symbol
  }

  /** What the handlers of a path have on ctx. */
  interface OfPath<PrefixT extends string, P extends Path, SyntaxT extends 6 | 8 = 6> extends Matching {
    params: PathParams<P extends string ? string extends PrefixT ? P : `${PrefixT}${P}` : P, SyntaxT>
  }

  /**
   * The type of a route's last function, if you write that in another place.
   *
   *    const show: Router.Handler<'/users/:id', State> = ctx => { ctx.body = ctx.params.id }
   */
  type Handler<P extends Path = string, StateT = Kone.DefaultState, ContextT = Kone.DefaultContextExtends> =
    Kone.Middleware<StateT, ContextT & OfPath<'', P>>

  interface Options<PrefixT extends string = string, SyntaxT extends 6 | 8 = 6 | 8> {
    // <options>
    /** Put before every path; may have params. */
    prefix?: PrefixT | ('' extends PrefixT ? string : never) | undefined
    /** What `ctx.host` must match, or an array of which it must match one. Default: any. */
    host?: string | RegExp | Array<string | RegExp> | undefined
    /**
     * Methods that `allowedMethods()` treats as implemented; others are 501. Default: `['HEAD', 'OPTIONS', 'GET',
     * 'PUT', 'PATCH', 'POST', 'DELETE']`.
     */
    methods?: string[] | undefined
    /** Path that is matched instead of the request's. Default: `ctx.path`. */
    routerPath?: string | undefined
    /** Run only the last matching route. Default: `false`. */
    exclusive?: boolean | undefined
    /** `true`: `/a` and `/A` differ. Default: `false`. */
    sensitive?: boolean | undefined
    /** `true`: `/a` and `/a/` differ. Default: `false`. */
    strict?: boolean | undefined
    /** 6: paths of path-to-regexp 6.3; 8: paths of path-to-regexp 8, like @koa/router from 14 on. Default: 6. */
    syntax?: SyntaxT | undefined
    // </options>
  }

  interface LayerOptions {
    // <register>
    /** Of the route, for `url()`. */
    name?: string | symbol | null | undefined
    /** `false`: longer paths match, too. Default: `true`. */
    end?: boolean | undefined
    /** `true`: `/a` and `/A` differ. Default: the router's. */
    sensitive?: boolean | undefined
    /** `true`: `/a` and `/a/` differ. Default: the router's. */
    strict?: boolean | undefined
    /** `true`: the path sets neither `ctx.captures` nor `ctx.params`. Default: `false`. */
    ignoreCaptures?: boolean | undefined
    /** Kept in the layer's `opts`; only that of the router is put before the path. */
    prefix?: string | undefined
    /** What the route says about itself to openapi. */
    operation?: Operation | undefined
    // </register>
  }

  /** What a route says about itself to openapi(): the second argument of a route, or the third behind a name. */
  interface Operation {
    // <operation>
    /** As the first argument of a route with a name. */
    name?: string | symbol | undefined
    /** One line. */
    summary?: string | undefined
    /** CommonMark. */
    description?: string | undefined
    /** Groups of the document. */
    tags?: string[] | undefined
    /** Unique in the app. Default: the route's name. */
    operationId?: string | undefined
    /** `true`: clients should stop using it. */
    deprecated?: boolean | undefined
    /** Names of `components.securitySchemes`, with their scopes. */
    security?: Array<Record<string, string[]>> | undefined
    /** By status: a description, or a Response Object. */
    responses?: Record<number | string, string | { description?: string, [field: string]: unknown }> | undefined
    /** Where to read on. */
    externalDocs?: { url: string, description?: string } | undefined
    /** As in OpenAPI. */
    servers?: Array<{ url: string, [field: string]: unknown }> | undefined
    /** As in OpenAPI. */
    callbacks?: Record<string, unknown> | undefined
    /** `true`: not in the document. Default: `false`. */
    hidden?: boolean | undefined
    // </operation>
  }

  interface UrlOptions {
    // <url>
    /** What is put behind the path: a string, or an object of values and lists. */
    query?: string | Record<string, unknown> | false | null | undefined
    /** Encodes the value of a param; `false`: values are sent as they are. Default: `encodeURIComponent`. */
    encode?: ((value: string) => string) | false | undefined
    /** What ends a param. Default: `'/#?'`; with `syntax: 8` `'/'`. */
    delimiter?: string | undefined
    /** `true`: a value has to match the pattern of its param in case, too; syntax 6. Default: `false`. */
    sensitive?: boolean | undefined
    /** `false`: a value need not match the pattern of its param; syntax 6. Default: `true`. */
    validate?: boolean | undefined
    // </url>
  }

  /** The params one by one, then the options. */
  type UrlArguments = Array<string | number | boolean | UrlOptions>

  interface AllowedMethodsOptions {
    // <allowedMethods>
    /** Throw the 405 or 501. Default: `false`. */
    throw?: boolean | undefined
    /** Makes the error that is thrown for 501. */
    notImplemented?: (() => unknown) | undefined
    /** Makes the error that is thrown for 405. */
    methodNotAllowed?: (() => unknown) | undefined
    // </allowedMethods>
  }

  interface Layer {
    opts: LayerOptions
    operation: Operation | undefined
    name: string | symbol | null
    methods: string[]
    paramNames: Array<{ name: string | number }>
    stack: AnyMiddleware[]
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

  /** What a middleware adds for those behind it: one that promises nothing (`any` name) adds nothing. */
  type Added<T> = string extends keyof T ? {} : T

  /** The body that validate() has schemas for, by status; any without. */
  type Sent<T> = T extends { readonly '~sent'?: infer BodyT } ? unknown extends BodyT ? any : BodyT : any

  /**
   * A route, for client(): the type of what the verbs return has one more of them.
   *
   *    { 'GET /users/:id': the context of its last function }
   */
  type Route<MethodT extends string, PrefixT extends string, P extends Path, ContextT> = {
    readonly '~routes': { [K in P extends string ? `${MethodT} ${Joined<PrefixT, P>}` : never]: ContextT }
  }

  /** The path of a route below a prefix, as the router joins them. */
  type Joined<PrefixT extends string, P extends string> = [PrefixT, P] extends [infer Before extends string, '/']
    ? Before extends '' ? '/' : Before
    : `${PrefixT}${P}`

  /** The routes of another router, below a path. */
  type Below<RoutesT, PrefixT extends string, P extends string> = {
    [K in keyof RoutesT as K extends `${infer Method} ${infer Path}` ? `${Method} ${Joined<`${PrefixT}${P}`, Path>}` : never]:
      RoutesT[K] & { params: PathParams<`${PrefixT}${P}`> }
  }

  /** What routes() returns: a middleware, of kone and of Koa, that another router can nest. */
  interface Routes<RoutesT = unknown> {
    /** only a type, for client() */
    readonly '~routes': RoutesT
    (ctx: any, next: Kone.Next): Promise<unknown>
    router: Router<any, any, any, any>
  }
}

/** `new` may be left out. */
declare function Router<
  StateT = Kone.DefaultState,
  ContextT = Kone.DefaultContextExtends,
  PrefixT extends string = '',
  SyntaxT extends 6 | 8 = 6
> (options?: Router.Options<PrefixT, SyntaxT>): Router<StateT, ContextT, PrefixT, SyntaxT>

/**
 * Routes by method and path. Handlers know the parameters of their path:
 *
 *    const router = new Router<State>()
 *    router.get('/users/:id/posts/:post?', ctx => {
 *      ctx.params   // { id: string, post?: string }
 *    })
 *
 * `StateT` is the type of `ctx.state`; `ContextT` what ctx has beside its own, when left out what
 * packages and apps declare for every context; `PrefixT` the path of `options.prefix`, `SyntaxT`
 * `options.syntax`.
 */
declare class Router<
  StateT = Kone.DefaultState,
  ContextT = Kone.DefaultContextExtends,
  PrefixT extends string = '',
  SyntaxT extends 6 | 8 = 6
> {
  constructor (options?: Router.Options<PrefixT, SyntaxT>)

  opts: Router.Options
  methods: string[]
  exclusive: boolean
  params: Record<string, Router.ParamMiddleware>
  stack: Router.Layer[]
  host: string | RegExp | Array<string | RegExp> | undefined
  /** only a type, for client(): the routes of a chain */
  readonly '~routes': unknown

  static url (path: string, params?: unknown, options?: Router.UrlOptions): string
  static url (path: string, ...params: Router.UrlArguments): string

  /** Runs for all routes that follow. The returned router's routes have the types that the middleware adds. */
  use<RoutesT> (
    routes: Router.Routes<RoutesT>, ...middleware: Array<Kone.Middleware<any, any>>
  ): this & { readonly '~routes': Router.Below<RoutesT, PrefixT, ''> }
  use<P extends string, RoutesT> (
    path: P, routes: Router.Routes<RoutesT>, ...middleware: Array<Kone.Middleware<any, any>>
  ): this & { readonly '~routes': Router.Below<RoutesT, PrefixT, P> }
  use<S1 = {}, C1 = {}> (
    m1: Kone.Middleware<StateT & S1, ContextT & Router.OfPath<PrefixT, '', SyntaxT> & C1>
  ): Router<StateT & Router.Added<S1>, ContextT & Router.Added<C1>, PrefixT, SyntaxT> & Pick<this, '~routes'>
  use<S1 = {}, C1 = {}, S2 = {}, C2 = {}> (
    m1: Kone.Middleware<StateT & S1, ContextT & Router.OfPath<PrefixT, '', SyntaxT> & C1>,
    m2: Kone.Middleware<
      StateT & Router.Added<S1> & S2,
      ContextT & Router.OfPath<PrefixT, '', SyntaxT> & Router.Added<C1> & C2
    >
  ): Router<
    StateT & Router.Added<S1> & Router.Added<S2>,
    ContextT & Router.Added<C1> & Router.Added<C2>,
    PrefixT,
    SyntaxT
  > & Pick<this, '~routes'>
  use (
    ...middleware: Array<Kone.Middleware<StateT, ContextT & Router.OfPath<PrefixT, '', SyntaxT>>>
  ): this
  /** Runs below a path, for some of the routes only: these routes declare the added types themselves. */
  use<P extends string, S1 = {}, C1 = {}> (
    path: P | P[],
    m1: Kone.Middleware<StateT & S1, ContextT & Router.OfPath<PrefixT, P, SyntaxT> & C1>
  ): this
  use<P extends string, S1 = {}, C1 = {}, S2 = {}, C2 = {}> (
    path: P | P[],
    m1: Kone.Middleware<StateT & S1, ContextT & Router.OfPath<PrefixT, P, SyntaxT> & C1>,
    m2: Kone.Middleware<
      StateT & Router.Added<S1> & S2,
      ContextT & Router.OfPath<PrefixT, P, SyntaxT> & Router.Added<C1> & C2
    >
  ): this
  use<P extends string> (
    path: P | P[],
    ...middleware: Array<Kone.Middleware<StateT, ContextT & Router.OfPath<PrefixT, P, SyntaxT>>>
  ): this

  /** Before the paths of this router; those registered on what is returned have its parameters. */
  prefix<P extends string> (prefix: P): Router<StateT, ContextT, P, SyntaxT>
  routes (): Router.Routes<this['~routes']>
  middleware (): Router.Routes<this['~routes']>
  allowedMethods (options?: Router.AllowedMethodsOptions): (ctx: any, next: Kone.Next) => Promise<unknown>
  redirect (source: string | symbol, destination: string | symbol, code?: number): this
  register (
    path: Router.Path, methods: string[], middleware: Router.Many, opts?: Router.LayerOptions
  ): Router.Layer
  register (path: Router.Path[], methods: string[], middleware: Router.Many, opts?: Router.LayerOptions): this
  route (name: string | symbol): Router.Layer | false
  url (name: string | symbol, params?: unknown, options?: Router.UrlOptions): string | Error
  url (name: string | symbol, ...params: Router.UrlArguments): string | Error
  match (path: string, method: string): Router.Matched
  param<N extends string> (
    param: N,
    middleware: (
      value: string,
      ctx: Kone.ParameterizedContext<StateT, ContextT & Router.Matching & { params: { [K in N]: string } }>,
      next: Kone.Next
    ) => unknown
  ): this

  all: Verb<'ALL', StateT, ContextT, PrefixT, SyntaxT>
  get: Verb<'GET', StateT, ContextT, PrefixT, SyntaxT>
  head: Verb<'HEAD', StateT, ContextT, PrefixT, SyntaxT>
  post: Verb<'POST', StateT, ContextT, PrefixT, SyntaxT>
  put: Verb<'PUT', StateT, ContextT, PrefixT, SyntaxT>
  patch: Verb<'PATCH', StateT, ContextT, PrefixT, SyntaxT>
  delete: Verb<'DELETE', StateT, ContextT, PrefixT, SyntaxT>
  del: Verb<'DELETE', StateT, ContextT, PrefixT, SyntaxT>
  options: Verb<'OPTIONS', StateT, ContextT, PrefixT, SyntaxT>
  link: Verb<'LINK', StateT, ContextT, PrefixT, SyntaxT>
  unlink: Verb<'UNLINK', StateT, ContextT, PrefixT, SyntaxT>
  trace: Verb<'TRACE', StateT, ContextT, PrefixT, SyntaxT>
  connect: Verb<'CONNECT', StateT, ContextT, PrefixT, SyntaxT>
}

declare module '../../lib/index' {
  interface BaseContext {
    /** The parameters of the path, which the router's own handlers know. */
    params: unknown
    /** The path and the name of the route that ran, for logs; undefined before, and without a route. */
    _matchedRoute?: Router.Path | undefined
    _matchedRouteName?: string | symbol | undefined
  }
  interface DefaultContext {
    /** as any name that nobody declared */
    params?: any
  }
}

export = Router
