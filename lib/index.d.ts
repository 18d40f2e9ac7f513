/// <reference types="node" />
import { AsyncLocalStorage } from 'node:async_hooks'
import { EventEmitter } from 'node:events'
import { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders, Server, ServerResponse } from 'node:http'
import { Http2ServerRequest, Http2ServerResponse } from 'node:http2'
import { ListenOptions, Socket } from 'node:net'
import { ParsedUrlQuery } from 'node:querystring'
import { URL } from 'node:url'
import composeFunction = require('./compose')

/**
 * The application: middleware, functions that are called after it, and the servers for both.
 *
 *    const app = new Kone()
 *    app.use(ctx => { ctx.body = 'hello' })
 *    app.listen(3000)
 *
 * `StateT` is the type of `ctx.state`, `ContextT` what the app adds to `ctx`. Without either, both have names of
 * any kind, as in Koa; with `StateT` alone, `ctx` has only names that are declared.
 */
declare class Application<
  StateT = Application.DefaultState,
  ContextT = Application.ContextOf<StateT>
> extends EventEmitter {
  constructor (options?: Application.Options)

  /**
   * Whose forwarded headers are trusted: nobody's (false), the peer's (true), those of so many
   * proxies (a number), or those of the addresses in the list.
   */
  // read as `any`: @types/koa has boolean here, and an app must fit where that one is expected
  get proxy (): any
  set proxy (trusted: Application.Proxy)
  /** The header with the addresses that proxies saw. */
  proxyIpHeader: string
  /** How many addresses are read from that header, counted from the right; 0: all. */
  maxIpsCount: number
  /** How many labels at the end of the host are not subdomains. */
  subdomainOffset: number
  /** `NODE_ENV`, or development. */
  env: string
  /** `true`: `onerror` prints no error, and no mistake is warned of. */
  silent: boolean
  /** Sign cookies. */
  keys: Application.Keygrip | string[]
  /** false: node:http serves every request, without the front. */
  http1: boolean
  compose: Application.Compose
  Promise: Application.PromiseClass
  // `any`: the elements are compared both ways when an app stands in for one of @types/koa
  middleware: Array<Application.Middleware<StateT, any>>
  /** What `final()` was given. */
  finals: Array<Application.Final<StateT, any>>
  /** The prototypes of `ctx`, `ctx.request` and `ctx.response`: what is put here, each request has. */
  context: Application.BaseContext & ContextT
  request: Application.BaseRequest
  response: Application.BaseResponse
  ctxStorage: AsyncLocalStorage<Application.ParameterizedContext<StateT, ContextT>> | undefined

  /** The context of the request that this code runs for; needs the `asyncLocalStorage` option. */
  readonly currentContext: Application.ParameterizedContext<StateT, ContextT> | undefined

  /** Add a middleware. */
  use<NewStateT = {}, NewContextT = {}> (
    middleware: Application.Middleware<StateT & NewStateT, ContextT & NewContextT>
  ): Application<StateT & Application.Added<StateT, NewStateT>, ContextT & Application.Added<ContextT, NewContextT>>

  /** Add a function that is called between the middleware and the response. */
  final (fn: Application.Final<StateT, ContextT>): this

  /** Create a server, front on, and listen. */
  listen (port?: number, hostname?: string, backlog?: number, listeningListener?: () => void): Server
  listen (port: number, hostname?: string, listeningListener?: () => void): Server
  listen (port: number, backlog?: number, listeningListener?: () => void): Server
  listen (port: number, listeningListener?: () => void): Server
  listen (path: string, backlog?: number, listeningListener?: () => void): Server
  listen (path: string, listeningListener?: () => void): Server
  listen (options: ListenOptions, listeningListener?: () => void): Server
  listen (listeningListener: () => void): Server
  listen (handle: any, backlog?: number, listeningListener?: () => void): Server
  listen (handle: any, listeningListener?: () => void): Server

  /** Serve a server made elsewhere as `listen()` serves its own. */
  attach<ServerT extends Application.AnyServer> (server: ServerT): ServerT

  /**
   * Accept nothing new, finish the requests in flight, call the functions of `onClose` when the last connection is
   * closed, and resolve.
   */
  close (options?: Application.CloseOptions): Promise<void>

  /**
   * Add a function that is called and awaited when the app is stopped and the last response was sent. The one that was
   * added last is called first.
   *
   *    app.onClose(() => redis.quit())
   */
  onClose (fn: () => unknown, options?: Application.OnCloseOptions): this

  /** Send a request through the app without a socket; `inject.websocket()` opens a WebSocket. */
  inject: Application.Inject

  /**
   * A web Request in, a web Response out: for Bun, Deno, and tests.
   *
   *    export default app
   *    const response = await app.fetch(new Request('http://localhost/'), { ip: '203.0.113.7' })
   *
   * `info` names the peer: Deno's info, Bun's server, or `{ ip }`; anything else is ignored.
   */
  fetch (this: void, request: globalThis.Request, info?: unknown): Promise<globalThis.Response>

  /** A request listener for `http.createServer()` and its kin. */
  callback (): (
    req: IncomingMessage | Http2ServerRequest,
    res: ServerResponse | Http2ServerResponse
  ) => Promise<void>

  createContext<StateT = Application.DefaultState> (
    req: IncomingMessage,
    res: ServerResponse
  ): Application.ParameterizedContext<StateT>

  /** For an app that is mounted in another one: a middleware that sets `currentContext`. */
  createAsyncCtxStorageMiddleware (): Application.Middleware<StateT, ContextT>

  /** The default listener of 'error': prints it, unless the client may read its message. */
  onerror (err: Error): void
  inspect (): any
  toJSON (): any

  // Any Error may arrive, most with more than Error's fields: as @types/koa, nothing is promised.
  on (event: 'error', listener: (err: any, ctx: Application.ParameterizedContext<StateT, ContextT>) => void): this
  on (event: 'finish', listener: (ctx: Application.ParameterizedContext<StateT, ContextT>) => void): this
  on (event: string | symbol, listener: (...args: any[]) => void): this
  once (event: 'error', listener: (err: any, ctx: Application.ParameterizedContext<StateT, ContextT>) => void): this
  once (event: 'finish', listener: (ctx: Application.ParameterizedContext<StateT, ContextT>) => void): this
  once (event: string | symbol, listener: (...args: any[]) => void): this
}

declare namespace Application {
  interface Options {
    // <options>
    /** Read by middleware that behaves differently in development. Default: `NODE_ENV` or `'development'`. */
    env?: string | undefined
    /** Signs cookies: a list of strings, or a Keygrip. */
    keys?: Keygrip | string[] | undefined
    /** Whose forwarded headers are trusted, see app.proxy. Default: `false`. */
    proxy?: Proxy | undefined
    /** The header with the addresses that proxies saw. Default: `'X-Forwarded-For'`. */
    proxyIpHeader?: string | undefined
    /** Addresses read from that header, counted from the right; 0: all. Default: 0. */
    maxIpsCount?: number | undefined
    /** How many labels at the end of the host are not subdomains. Default: 2. */
    subdomainOffset?: number | undefined
    /** `true`, or an `AsyncLocalStorage`: keeps app.currentContext. Default: `false`. */
    asyncLocalStorage?: boolean | AsyncLocalStorage<any> | undefined
    /** A function that replaces compose. Default: kone's own. */
    compose?: Compose | undefined
    /** The class of the promises that the app returns, see bluebird. Default: native. */
    Promise?: PromiseClass | undefined
    /** `false` leaves every request to node:http, see the front. Default: `true`. */
    http1?: boolean | undefined
    // </options>
  }

  type Proxy = boolean | number | string[]

  interface Compose {
    (middleware: Array<composeFunction.Middleware<any>>): (ctx: any, next?: any) => Promise<any>
  }

  interface PromiseClass {
    new<T> (
      executor: (resolve: (value: T | PromiseLike<T>) => void, reject: (reason?: any) => void) => void
    ): PromiseLike<T>
    resolve (value?: any): PromiseLike<any>
    reject (reason?: any): PromiseLike<any>
  }

  /** A server of node:http, node:https or node:http2. */
  interface AnyServer {
    on (event: 'request', listener: (req: any, res: any) => void): any
    listen (...args: any[]): any
  }

  interface CloseOptions {
    // <close>
    /**
     * After this time, connections that are still open are destroyed, and functions of `onClose` that are not over
     * are reported and left (ms). Default: 10,000.
     */
    timeout?: number | undefined
    /**
     * How long a silent keep-alive connection stays open: a client that is about to send a request gets its
     * response, with `Connection: close`, instead of a reset (ms). Default: 600.
     */
    grace?: number | undefined
    // </close>
  }

  interface OnCloseOptions {
    // <onClose>
    /** `true`: called first, while the servers still accept requests; the drain waits for it. Default: `false`. */
    before?: boolean | undefined
    // </onClose>
  }

  interface Inject {
    /** A web Request goes through `fetch`. */
    (request: InjectRequest | globalThis.Request | string): Promise<InjectResponse>
    /**
     * Open a WebSocket of the app, whose other end the handler has. Rejects with an InjectRefusal if the response is
     * another one than 101.
     */
    websocket (path: string, options?: InjectWebSocketOptions): Promise<import('../middleware/websocket/index').Socket>
  }

  interface InjectWebSocketOptions {
    // <injectWebSocket>
    /** Its fields beside those of a handshake. Default: `Host: localhost`. */
    headers?: IncomingHttpHeaders | { [name: string]: string | number | string[] | undefined } | undefined
    /** The subprotocols that the client offers. Default: none. */
    protocols?: string[] | undefined
    /** As for `app.inject()`. Default: `'http1'`. */
    engine?: 'http1' | 'node' | undefined
    // </injectWebSocket>
  }

  /** The response to a handshake that is refused. */
  interface InjectRefusal extends Error {
    status: number
    headers: IncomingHttpHeaders
    body: Buffer
  }

  interface InjectRequest {
    // <inject>
    /** Its method. Default: `'GET'`. */
    method?: string | undefined
    /** Its target; a string instead of the object is the url. Default: `'/'`. */
    url?: string | undefined
    /** Its fields. Default: `Host: localhost`. */
    headers?: IncomingHttpHeaders | { [name: string]: string | number | string[] | undefined } | undefined
    /** A string, bytes, or an object that is sent as JSON. */
    body?: string | Uint8Array | object | undefined
    /**
     * `'http1'`: as on a server of `app.listen()`, the front, and node:http where kone falls back to it. `'node'`:
     * node:http alone. `'fetch'`: app.fetch, which has no connection. Default: `'http1'`.
     */
    engine?: 'http1' | 'node' | 'fetch' | undefined
    // </inject>
  }

  interface InjectResponse {
    status: number
    message: string
    headers: IncomingHttpHeaders
    body: Buffer
    text (): string
    /** `T` is what the app is known to send. */
    json<T = any> (): T
  }

  // What packages and apps add to: `declare module 'koa' { interface DefaultContextExtends { … } }`.
  // What an app with types of its own (`new Kone<State, Context>()`) is to see as well goes to
  // BaseContext and BaseState.

  // On a base of any, as in @types/koa: what nobody declared is any, and a state that nobody added
  // to passes wherever a certain one is expected.
  type Anything = any
  interface DefaultStateExtends extends Anything {}
  interface DefaultState extends DefaultStateExtends {}

  interface DefaultContextExtends {}
  interface DefaultContext extends DefaultContextExtends {
    [key: PropertyKey]: any
  }

  // The names of T that are written out. `state` is inferred beside: a middleware has it as a type of its own.
  type Declared<T> = 0 extends 1 & T ? {} : string extends keyof T
    ? { [K in keyof T as string extends K ? never : number extends K ? never : symbol extends K ? never : Exclude<K, 'state'>]: T[K] }
    : T

  /** What a middleware adds: to an app of declared names, only declared names. */
  type Added<OwnT, NewT> = string extends keyof OwnT ? NewT : Declared<NewT>

  /** What ctx has in an app whose state is of this type: names of any kind only if the state has them, too. */
  // without the `params` of the router, which are any for DefaultContext alone
  type ContextOf<StateT> = string extends keyof StateT ? DefaultContext : Omit<Declared<DefaultContext>, 'params'>

  type Next = () => Promise<any>

  type Middleware<StateT = DefaultState, ContextT = DefaultContext, ResponseBodyT = any> =
    composeFunction.Middleware<ParameterizedContext<StateT, ContextT, ResponseBodyT>>

  type Final<StateT = DefaultState, ContextT = DefaultContext, ResponseBodyT = any> =
    (ctx: ParameterizedContext<StateT, ContextT, ResponseBodyT>) => any

  // Nothing is readonly here, as in @types/koa: tests put contexts together.

  /** Members of ctx.request that ctx delegates to. */
  interface DefaultContextDelegatedRequest {
    /** The header fields of the request, by names in lower case. `headers` is the same. */
    header: IncomingHttpHeaders
    headers: IncomingHttpHeaders
    /** The target as it was sent, or as a middleware rewrote it. */
    url: string
    /** `protocol://host`. */
    origin: string
    /** The whole URL that was requested. */
    href: string
    method: string
    /** The path of `url`, not decoded. Setting it keeps the query. */
    path: string
    /** The query as an object; a repeated key gives an array. */
    query: ParsedUrlQuery
    /** The query without `?`. */
    querystring: string
    /** The query with `?`, or nothing. */
    search: string
    /** Host and port that the client requested; behind a trusted proxy those of X-Forwarded-Host. */
    host: string
    /** `host` without the port; empty for what is no plain host. */
    hostname: string
    /** `href` parsed; an empty object where it is no URL. */
    URL: URL
    /** Whether the cached response of the client is still valid: then respond with 304. */
    fresh: boolean
    /** The opposite of `fresh`. */
    stale: boolean
    /** RFC 9110, 9.2.2. */
    idempotent: boolean
    socket: Socket
    /** `http` or `https`; behind a trusted proxy the value of X-Forwarded-Proto. */
    protocol: string
    /** Whether `protocol` is `https`. */
    secure: boolean
    /** The address of the client; empty on a Unix socket. */
    ip: string
    /** The addresses that trusted proxies name, client first. */
    ips: string[]
    /** The labels of the host before the last `app.subdomainOffset` ones, innermost first. */
    subdomains: string[]

    /** The best of `types` by Accept, false if none will do, all that is accepted if none is given. */
    accepts (): string[]
    accepts (...types: string[]): string | false
    accepts (types: string[]): string | false
    acceptsEncodings (): string[]
    acceptsEncodings (...encodings: string[]): string | false
    acceptsEncodings (encodings: string[]): string | false
    acceptsCharsets (): string[]
    acceptsCharsets (...charsets: string[]): string | false
    acceptsCharsets (charsets: string[]): string | false
    acceptsLanguages (): string[]
    acceptsLanguages (...languages: string[]): string | false
    acceptsLanguages (languages: string[]): string | false

    /** Whether Content-Type is one of `types`: the matching one, false if none, null without a body. */
    is (...types: string[]): string | false | null
    is (types: string[]): string | false | null
    /** A header field of the request, or an empty string. */
    get (field: string): string
  }

  /** Members of ctx.response that ctx delegates to. */
  interface DefaultContextDelegatedResponse {
    /** 404 until something is set. */
    status: number
    /** The reason phrase. */
    message: string
    /** A string, bytes, a stream, a Blob, a fetch Response, or what becomes JSON; null or undefined for none. */
    body: unknown
    /** Content-Length in bytes, or what it will be; undefined for a stream. */
    length: number
    /** Content-Type without its parameters. Set by extension, name or whole value. */
    type: string
    get lastModified (): Date
    set lastModified (date: Date | string)
    /** Quotes are added where they are missing. */
    etag: string
    /** Whether the header section was sent, so that nothing can be set any more. */
    headerSent: boolean
    /** Whether a response can still be sent: it has not ended, and the client is connected. */
    writable: boolean

    /** Add to Vary. */
    vary (field: string | string[]): void
    /** Redirect, with 302 unless another status of a redirect is set. */
    redirect (url: string, alt?: string): void
    /** To the page the request came from, if it is of this host, else to `alt` (default: /). */
    back (alt?: string): void
    /** Let the client save the response as a file. */
    attachment (filename?: string, options?: AttachmentOptions): void
    /** Set header fields. Does nothing once the header section was sent. */
    set (fields: { [field: string]: string | number | string[] }): void
    set (field: string, value: string | number | string[]): void
    /** Add a value to a header field. */
    append (field: string, value: string | number | string[]): void
    has (field: string): boolean
    remove (field: string): void
    /** Send the header section now, before the body. */
    flushHeaders (): void
  }

  interface AttachmentOptions {
    type?: 'attachment' | 'inline' | string | undefined
    fallback?: string | boolean | undefined
  }

  interface BaseRequest extends DefaultContextDelegatedRequest {
    charset: string
    length: number
    type: string

    /**
     * The body's bytes: a Buffer if they have arrived, otherwise a promise.
     *
     * @param limit  bytes, default 1 MiB; a longer body is a 413, one cut short a 400
     */
    readBody (options?: { limit?: number | undefined }): Buffer | Promise<Buffer>

    inspect (): any
    toJSON (): any
  }

  interface BaseResponse extends DefaultContextDelegatedResponse {
    socket: Socket
    header: OutgoingHttpHeaders
    headers: OutgoingHttpHeaders

    is (...types: string[]): string | false | null
    is (types: string[]): string | false | null
    get (field: string): string
    inspect (): any
    toJSON (): any
  }

  /** What middleware puts on every `ctx.state`, whatever type an app gives to it. */
  interface BaseState {}

  // unknown leaves the state of an app as it is: one of any type stays that
  type SharedState = [keyof BaseState] extends [never] ? unknown : BaseState

  interface BaseContext extends DefaultContextDelegatedRequest, DefaultContextDelegatedResponse {
    state: SharedState
    /** Throw an http error unless a value is truthy, or two are equal. */
    assert: Assert
    /** Throw an http error; the client gets its message if its status is below 500. */
    throw (message: string, code?: number, properties?: {}): never
    throw (status: number): never
    throw (...properties: Array<number | string | {}>): never
    /** Send the response of an error, and report the error to `app.on('error')`. */
    onerror (err: Error): void

    /**
     * Call `fn` once: with null when the whole response was flushed, or with an error of code
     * `KONE_ERR_RESPONSE_LOST` when the connection closed before.
     */
    onFinished (fn: (err: NodeJS.ErrnoException | null) => void): void

    /** Has the state of the response: node's object, or one of the front, whose `res` is node's once that exists. */
    outgoing: ServerResponse | { res: ServerResponse | null }

    inspect (): any
    toJSON (): any
  }

  interface Request extends BaseRequest {
    app: Application
    req: IncomingMessage
    res: ServerResponse
    ctx: Context
    response: Response
    originalUrl: string
    accept: Accepts
  }

  interface Response extends BaseResponse {
    app: Application
    req: IncomingMessage
    res: ServerResponse
    ctx: Context
    request: Request
  }

  interface ExtendableContext extends BaseContext {
    app: Application
    request: Request
    response: Response
    req: IncomingMessage
    res: ServerResponse
    originalUrl: string
    /** `app.keys` sign only where an options object is passed. */
    cookies: Cookies
    /** Content negotiation: https://github.com/jshttp/accepts */
    accept: Accepts
    /** false: the handler responds by itself on `ctx.res`. */
    respond?: boolean | undefined
  }

  type ParameterizedContext<StateT = DefaultState, ContextT = DefaultContext, ResponseBodyT = unknown> =
    & ExtendableContext
    & { state: StateT }
    & ContextT
    & { body: ResponseBodyT, response: { body: ResponseBodyT } }

  interface Context extends ParameterizedContext {}

  interface Assert {
    (value: any, status?: number, message?: string, properties?: Record<string, any>): asserts value
    (value: any, status?: number, properties?: Record<string, any>): asserts value
    ok (value: any, status?: number, message?: string, properties?: Record<string, any>): asserts value
    fail (status?: number, message?: string, properties?: Record<string, any>): void
    equal<T> (a: T, b: T, status?: number, message?: string, properties?: Record<string, any>): void
    notEqual<T> (a: T, b: T, status?: number, message?: string, properties?: Record<string, any>): void
    strictEqual (a: any, b: any, status?: number, message?: string, properties?: Record<string, any>): void
    notStrictEqual (a: any, b: any, status?: number, message?: string, properties?: Record<string, any>): void
    deepEqual (a: any, b: any, status?: number, message?: string, properties?: Record<string, any>): void
    notDeepEqual (a: any, b: any, status?: number, message?: string, properties?: Record<string, any>): void
  }

  // Types of the packages that ctx uses, declared here so that an app need not install them.

  interface Accepts {
    charset: Negotiate
    charsets: Negotiate
    encoding: Negotiate
    encodings: Negotiate
    language: Negotiate
    languages: Negotiate
    lang: Negotiate
    langs: Negotiate
    type (types: string[]): string[] | string | false
    type (...types: string[]): string[] | string | false
    types (types: string[]): string[] | string | false
    types (...types: string[]): string[] | string | false
  }

  interface Negotiate {
    (): string[]
    (offered: string[]): string | false
    (...offered: string[]): string | false
  }

  interface Keygrip {
    sign (data: any): string
    verify (data: any, digest: string): boolean
    index (data: any, digest: string): number
  }

  interface Cookies {
    secure: boolean
    request: IncomingMessage
    response: ServerResponse
    get (name: string, options?: { signed?: boolean | undefined }): string | undefined
    set (name: string, value?: string | null, options?: CookieOptions): this
  }

  /** `maxAge` is in milliseconds. */
  interface CookieOptions {
    maxAge?: number | undefined
    expires?: Date | undefined
    path?: string | undefined
    domain?: string | undefined
    secure?: boolean | undefined
    secureProxy?: boolean | undefined
    httpOnly?: boolean | undefined
    sameSite?: 'strict' | 'lax' | 'none' | boolean | undefined
    signed?: boolean | undefined
    overwrite?: boolean | undefined
    priority?: 'low' | 'medium' | 'high' | undefined
    partitioned?: boolean | undefined
  }

  interface HttpError<N extends number = number> extends Error {
    status: N
    statusCode: N
    /** Whether the client may read the message. */
    expose: boolean
    headers?: { [name: string]: string } | undefined
    [key: string]: any
  }

  type CreateHttpErrorArgument = Error | string | { [key: string]: any }

  interface CreateHttpError {
    <N extends number = number> (status: N, ...rest: CreateHttpErrorArgument[]): HttpError<N>
    (...rest: CreateHttpErrorArgument[]): HttpError
    /** `createHttpError.NotFound` and so on, and the same by number. */
    [name: string]: any
  }

  /** For `instanceof`: it cannot be called, and `createHttpError()` makes one. */
  const HttpError: abstract new (...args: any[]) => HttpError
  const createHttpError: CreateHttpError
  function isHttpError (value: unknown): value is HttpError
  const compose: typeof composeFunction
}

// For `import Kone from 'kone'` of an ES module, and one compiled to `require()` without interop.
// In a block of its own, because one `export` in a block makes the rest of the block private.
declare namespace Application {
  export { Application as default, Application as Kone }
}

export = Application
