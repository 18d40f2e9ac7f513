import Kone = require('../../lib/index')

/** Respond 429 to a client that sends too many requests. */
declare function rateLimit (options?: rateLimit.Options): Kone.Middleware & {
  /** False while the store does not respond; requests then fail, or pass, at once. */
  readonly isStoreUp: boolean
}

declare namespace rateLimit {
  interface Options {
    // <options>
    /** Where requests are counted. Default: `redis` if `db` is a client, otherwise `memory`. */
    driver?: 'memory' | 'redis' | undefined
    /** A client of `ioredis` or `redis`, or a Map that holds the newest windows. Default: a new Map. */
    db?: RedisClient | Map<string, any> | undefined
    /** Length of a window (ms). Default: 3,600,000. */
    duration?: number | undefined
    /**
     * What a client may send in a window, or `ctx => max`, which may return a promise (requests). Default: 2500.
     */
    max?: number | ((ctx: Kone.Context) => number | Promise<number>) | undefined
    /**
     * Key that a request is counted under, or a promise of it; `false`: the request is not counted. Default: `ctx =>
     * ctx.ip`.
     */
    id?: ((ctx: Kone.Context) => string | false | Promise<string | false>) | undefined
    /** Usually 64: all addresses of an IPv6 network of this size count as one client; excludes `id` (bits). */
    ipv6Subnet?: number | undefined
    /** Prefix of the keys. Default: `'limit'`. */
    namespace?: string | undefined
    /** Other names of the headers. */
    headers?: { remaining?: string, reset?: string, total?: string } | undefined
    /** `true`: send none of these headers. Default: `false`. */
    disableHeader?: boolean | undefined
    /** `'draft-11'`: send `RateLimit` and `RateLimit-Policy`, too (IETF fields). Default: `false`. */
    standardHeaders?: 'draft-11' | false | undefined
    /** Body of the 429, text or object. Default: `Rate limit exceeded, retry in …`. */
    errorMessage?: string | object | undefined
    /** 4xx or 5xx. Default: 429. */
    status?: number | undefined
    /** Throw the 429 instead of sending it. Default: `false`. */
    throw?: boolean | undefined
    /** `ctx => *`, awaited; `ctx.state.rateLimit` is `{ after, headers, id, message }`. */
    onLimited?: ((ctx: Kone.Context) => any) | undefined
    /** `ctx => boolean`, which may return a promise; `true`: the client is not limited. */
    whitelist?: ((ctx: Kone.Context) => any) | undefined
    /** `ctx => boolean`, which may return a promise; `true`: the client gets a 403. */
    blacklist?: ((ctx: Kone.Context) => any) | undefined
    /**
     * Let requests pass when the store fails, or does not respond within 5 s; the error goes to the app's `'error'`
     * event. `false`: a 503. Default: `false`.
     */
    failOpen?: boolean | undefined
    // </options>
  }

  interface RedisClient {
    get (key: string): Promise<any>
    set (...args: any[]): Promise<any>
    del (...args: any[]): Promise<any>
    eval (...args: any[]): Promise<any>
  }
}

export = rateLimit
