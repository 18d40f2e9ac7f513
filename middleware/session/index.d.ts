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
    /** ms, or 'session' */
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

  interface Options extends Cookie {
    /** Name of the cookie and prefix of the store's keys; default: `koa:sess`. */
    key?: string | undefined
    /** Default: this process' memory. */
    store?: Store | SealedCookie | undefined
    /** Attributes of the cookie; those of koa-session may also stand beside `key`. */
    cookie?: Cookie | ((ctx: Kone.Context) => Cookie) | undefined
    /** Extend and send every session with every response; default: false. */
    rolling?: boolean | undefined
    /** The same, but only when less than half of maxAge is left; default: false. */
    renew?: boolean | undefined
    /** Read the store only when `await ctx.sessionHandler.load()` is called; default: false. */
    lazy?: boolean | undefined
    /** A new id: 16 to 256 of `A-Z a-z 0-9 _ . ~ -` that nobody can guess; default: 24 random bytes. */
    genid?: ((ctx: Kone.Context) => string) | undefined
    /** Read and send the id in another way than by a cookie, such as a header. */
    externalKey?: { get (ctx: Kone.Context): string | undefined, set (ctx: Kone.Context, id: string): void } | undefined
    /** False: the session is not used, the client gets an empty one. */
    valid?: ((ctx: Kone.Context, session: any) => boolean) | undefined
    /** May change a session that is about to be saved. */
    beforeSave?: ((ctx: Kone.Context, session: any) => void) | undefined
    autoCommit?: true | undefined
    overwrite?: true | undefined
  }

  interface Cookie extends Omit<Kone.CookieOptions, 'maxAge' | 'overwrite' | 'sameSite'> {
    /** ms; 0 (default) or 'session': until the browser is closed, at most a day in the store */
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
