/// <reference types="node" />
import Kone = require('../../lib/index')

/** Give `ctx.session`, an object that the same client finds again with its next request. */
declare function session<DataT extends object = {}> (
  options?: session.Options
): Kone.Middleware<Kone.DefaultState, session.Of<DataT>> & {
  /** False while the store does not respond; requests that need it fail at once. */
  readonly isStoreUp: boolean
}

declare namespace session {
  /**
   * The fields of the app's sessions. Declared, they are the only ones:
   *
   *    declare module 'kone/middleware/session' {
   *      interface Data { userId?: string }
   *    }
   */
  interface Data {}

  type Session = Members & ([keyof Data] extends [never] ? { [name: string]: any } : Data)

  /** The context of a session with these fields: `session<{ userId?: string }>()` adds it. */
  type Of<DataT> = [keyof DataT] extends [never] ? {} : { session: DataT }

  /** koa-session's, beside the data. */
  interface Members {
    readonly isNew: boolean
    /** In ms, or 'session'. */
    maxAge: number | 'session'
    readonly populated: boolean
    readonly externalKey: string | undefined
    /** Save now, changed or not. */
    save (callback?: (err?: unknown) => void): Promise<void>
    /** A new id; the old one is destroyed. */
    regenerate (callback?: (err?: unknown) => void): Promise<void>
    /** Save now, if it was changed. */
    manuallyCommit (): Promise<void>
  }

  interface Options {
    // <options>
    /** Name of the cookie, prefix of the store's keys. Default: `'koa:sess'`. */
    key?: string | undefined
    /**
     * `get(id)`, `set(id, session, ttl)`, `destroy(id)`; ttl is in ms; each may return a value or a promise.
     * Default: this process' memory.
     */
    store?: Store | SealedCookie | undefined
    /** Attributes of the cookie, or `ctx => attributes`. */
    cookie?: Cookie | ((ctx: Kone.Context) => Cookie) | undefined
    /**
     * Extend every session and send its cookie with every response, so that `maxAge` starts again. Default: `false`.
     */
    rolling?: boolean | undefined
    /** Like `rolling`, but only when less than half of `maxAge` is left. Default: `false`. */
    renew?: boolean | undefined
    /**
     * Read the store only when `await ctx.sessionHandler.load()` is called; not with `rolling` or `renew`. Default:
     * `false`.
     */
    lazy?: boolean | undefined
    /**
     * `ctx => id`, a new id of 16 to 256 of the characters `A-Z a-z 0-9 _ . ~ -`; nobody may be able to guess it.
     * Default: 24 random bytes.
     */
    genid?: ((ctx: Kone.Context) => string) | undefined
    /**
     * `(ctx, session) => boolean`; with `false` the session is not used, and the client gets an empty one with a new
     * id.
     */
    valid?: ((ctx: Kone.Context, session: any) => boolean) | undefined
    /**
     * `get(ctx)` reads and `set(ctx, id)` sends the id in another way than by a cookie; neither may be async.
     * Default: the cookie.
     */
    externalKey?: { get (ctx: Kone.Context): string | undefined, set (ctx: Kone.Context, id: string): void } | undefined
    /** `(ctx, session) => {}` may change a session that is about to be saved; it may not be async. */
    beforeSave?: ((ctx: Kone.Context, session: any) => void) | undefined
    /** As in `cookie`, for the options of koa-session. */
    maxAge?: number | 'session' | undefined
    /** As in `cookie`, for the options of koa-session. */
    path?: string | undefined
    /** As in `cookie`, for the options of koa-session. */
    domain?: string | undefined
    /** As in `cookie`, for the options of koa-session. */
    httpOnly?: boolean | undefined
    /** As in `cookie`, for the options of koa-session. */
    secure?: boolean | undefined
    /** As in `cookie`, for the options of koa-session. */
    sameSite?: 'strict' | 'lax' | 'none' | true | false | null | undefined
    /** As in `cookie`, for the options of koa-session. */
    signed?: boolean | undefined
    /** As in `cookie`, for the options of koa-session. */
    priority?: 'low' | 'medium' | 'high' | undefined
    /** As in `cookie`, for the options of koa-session. */
    partitioned?: boolean | undefined
    overwrite?: true | undefined
    autoCommit?: true | undefined
    // </options>
  }

  interface Cookie extends Omit<Kone.CookieOptions, 'maxAge' | 'overwrite' | 'sameSite'> {
    /** In ms; 0 (default) or 'session': until the browser is closed, at most a day in the store. */
    maxAge?: number | 'session' | undefined
    /** Default: 'lax'; null for none. */
    sameSite?: Kone.CookieOptions['sameSite'] | null
  }

  /** Values or promises. */
  interface Store {
    get (id: string): any
    /** @param ttl ms */
    set (id: string, session: any, ttl: number): any
    destroy (id: string): any
    /** Like `set`, but only a record that exists; false if it does not. */
    replace? (id: string, session: any, ttl: number): any
    /** Keep a record that exists for ttl ms from now on; false if it does not. */
    touch? (id: string, ttl: number): any
    /** ms that a record is still kept; with `renew`. */
    ttl? (id: string): number | Promise<number>
    /** `get` returns at once, so it is called only when `ctx.session` is read. */
    lazy?: boolean | undefined
  }

  interface SealedCookie {
    seal (name: string, session: any, ttl: number): string
    open (name: string, value: string): any
  }

  /** A client of `ioredis` or `redis`. */
  interface RedisClient {
    get (key: string): Promise<any>
    set (...args: any[]): Promise<any>
    del (...args: any[]): Promise<any>
  }

  function memory (): Store
  function redis (client: RedisClient): Store

  /** @param options.keys  of at least 32 bytes; the first one seals, every one opens */
  function sealedCookie (options: { keys: Array<string | Uint8Array> }): SealedCookie

  /** Save what functions of `app.final` changed. */
  function final (options?: Options): Kone.Final
}

declare module '../../lib/index' {
  interface BaseContext {
    get session (): session.Session
    /** A copy of the object is stored. null, or an object without a field: the session is destroyed. */
    set session (value: session.Session | object | null | undefined)
    sessionHandler: {
      /** A new id for this session; the old one is destroyed. */
      regenerateId (): void
      /** Save now, changed or not. */
      save (): Promise<void>
      /** Read the session from the store, with the option `lazy`. */
      load (): Promise<void>
      readonly isNew: boolean
      /** ms, or 'session': of this session alone, and kept with it. */
      maxAge: number | 'session'
    }
  }
}

export = session
