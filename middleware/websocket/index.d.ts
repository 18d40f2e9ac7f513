/// <reference types="node" />
import { EventEmitter } from 'node:events'
import Kone = require('../../lib/index')

/**
 * Accept a WebSocket. The middleware in front of it run as for every request; when they have returned, the response is
 * sent, and then the handler runs.
 */
declare function websocket<StateT = Kone.DefaultState, ContextT = Kone.DefaultContext> (
  handler: (socket: websocket.Socket, ctx: Kone.ParameterizedContext<StateT, ContextT>) => unknown,
  options?: websocket.Options
): Kone.Middleware<StateT, ContextT>

declare namespace websocket {
  interface Options {
    // <options>
    /**
     * Pages of which origins may connect beside those of the request's own host and port: an array of origins and of
     * regular expressions that match a whole origin, `(origin, ctx) => boolean`, which may return a promise, or
     * `'*'`. Default: no other.
     */
    origins?: '*' | ReadonlyArray<string | RegExp> | ((origin: string, ctx: Kone.Context) => boolean | Promise<boolean>) | undefined
    /** Refuse clients that send no Origin, which are no browsers. Default: `false`. */
    requireOrigin?: boolean | undefined
    /**
     * The subprotocols in the order of preference, or `(offered, ctx) => string | false`; of a client that offers no
     * other one the browser ends the connection. Default: none is accepted.
     */
    protocols?: readonly string[] | ((offered: Set<string>, ctx: Kone.Context) => string | false) | undefined
    /**
     * The largest message, and what is held until the handler reads; a larger one closes the connection with 1009
     * (bytes). Default: 1,048,576.
     */
    maxPayload?: number | undefined
    /**
     * What may wait for the client of sends that nobody awaits; more closes the connection with 1013 (bytes).
     * Default: 1,048,576.
     */
    maxBufferedAmount?: number | undefined
    /** Open connections of this route in this process; further ones get 503. Default: no limit. */
    maxConnections?: number | undefined
    /**
     * Time between pings; a client that has not responded to two is disconnected. 0: no pings (ms). Default: 25,000.
     */
    heartbeat?: number | undefined
    /** Ws's option: compression, which needs much memory per connection. Default: `false`. */
    perMessageDeflate?: boolean | object | undefined
    /** Ws itself, if kone cannot require it. Default: `require('ws')`. */
    ws?: any
    // </options>
  }

  /** What ws sends: text as a string, and bytes. */
  type Data = string | Buffer | ArrayBuffer | ArrayBufferView | Blob | Buffer[]

  interface SendOptions {
    binary?: boolean | undefined
    compress?: boolean | undefined
    fin?: boolean | undefined
  }

  interface Closed {
    /** Of the client's close, or 1006 without one. */
    code: number
    reason: string
  }

  /** A WebSocket of ws, and what waits: a loop over its messages, `send` as a promise, `closed`. */
  interface Socket extends EventEmitter, AsyncIterable<string | Buffer> {
    /** Text as a string, bytes as a Buffer. While nobody asks for the next one, reading stops. */
    [Symbol.asyncIterator] (): AsyncIterableIterator<string | Buffer>
    /** Fulfilled when the system has taken the message. It never becomes an unhandled rejection. */
    send (data: Data, options?: SendOptions): Promise<void>
    send (data: Data, callback: (err?: Error) => void): void
    send (data: Data, options: SendOptions, callback: (err?: Error) => void): void
    /** Resolves when the connection is closed, and never rejects. */
    readonly closed: Promise<Closed>
    close (code?: number, reason?: string | Buffer): void
    /** Without the closing handshake. */
    terminate (): void
    ping (data?: Data): void
    pong (data?: Data): void
    pause (): void
    resume (): void
    readonly bufferedAmount: number
    readonly isPaused: boolean
    /** The subprotocol, or ''. */
    readonly protocol: string
    /** 1: open, 2: closing, 3: closed. */
    readonly readyState: 0 | 1 | 2 | 3

    on (event: 'message', listener: (data: Buffer, isBinary: boolean) => void): this
    on (event: 'close', listener: (code: number, reason: Buffer) => void): this
    on (event: 'error', listener: (err: Error) => void): this
    on (event: 'ping' | 'pong', listener: (data: Buffer) => void): this
    on (event: string | symbol, listener: (...args: any[]) => void): this
    once (event: 'message', listener: (data: Buffer, isBinary: boolean) => void): this
    once (event: 'close', listener: (code: number, reason: Buffer) => void): this
    once (event: string | symbol, listener: (...args: any[]) => void): this
  }
}

export = websocket
