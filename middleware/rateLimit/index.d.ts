import Kone = require('../../lib/index')

/** Respond 429 to a client that sends too many requests. */
declare function rateLimit (options?: rateLimit.Options): Kone.Middleware & {
  /** False while the store does not respond; requests then fail, or pass, at once. */
  readonly isStoreUp: boolean
}

declare namespace rateLimit {
  interface Options {
    /** Default: `redis` if `db` is a client, otherwise `memory`. */
    driver?: 'memory' | 'redis' | undefined
    /** A client of `ioredis` or `redis`, or a Map to count in. */
    db?: RedisClient | Map<string, any> | undefined
    /** ms; default: an hour */
    duration?: number | undefined
    /** Requests in `duration`; default: 2500. */
    max?: number | ((ctx: Kone.Context) => number | Promise<number>) | undefined
    /** Whom to count, false for nobody; default: `ctx.ip`. */
    id?: ((ctx: Kone.Context) => string | false | Promise<string | false>) | undefined
    /** Bits: count the addresses of such an IPv6 network as one; goes with the default `id`. */
    ipv6Subnet?: number | undefined
    /** Prefix of the keys; default: `limit`. */
    namespace?: string | undefined
    /** Names of the headers; default: X-RateLimit-Remaining, X-RateLimit-Reset, X-RateLimit-Limit. */
    headers?: { remaining?: string, reset?: string, total?: string } | undefined
    disableHeader?: boolean | undefined
    /** `RateLimit` and `RateLimit-Policy` of draft-ietf-httpapi-ratelimit-headers-11; default: false. */
    standardHeaders?: 'draft-11' | false | undefined
    /** Body of the 429. */
    errorMessage?: string | object | undefined
    /** Default: 429. */
    status?: number | undefined
    /** Throw the 429 instead of sending it. */
    throw?: boolean | undefined
    onLimited?: ((ctx: Kone.Context) => any) | undefined
    /** true: not limited. */
    whitelist?: ((ctx: Kone.Context) => any) | undefined
    /** true: 403. */
    blacklist?: ((ctx: Kone.Context) => any) | undefined
    /** Let pass when the store fails, or does not respond within 5 s; default: false, a 503. */
    failOpen?: boolean | undefined
  }

  interface RedisClient {
    get (key: string): Promise<any>
    set (...args: any[]): Promise<any>
    del (...args: any[]): Promise<any>
    eval (...args: any[]): Promise<any>
  }
}

export = rateLimit
