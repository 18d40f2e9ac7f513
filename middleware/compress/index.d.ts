/// <reference types="node" />
import { BrotliOptions, ZlibOptions } from 'node:zlib'
import Kone = require('../../lib/index')

/** Compress the response with an encoding that the client accepts. */
declare function compress (options?: compress.Options): compress.Middleware

declare namespace compress {
  interface Middleware extends Kone.Middleware {
    /** The encodings that this Node has. */
    preferredEncodings: string[]
    encodingOptions: { [encoding: string]: object }
  }

  interface Options extends ResponseOptions {
    /** By the media type; default: the types that mime-db calls compressible. */
    filter?: ((type: string) => boolean | undefined) | undefined
    /** For a client without Accept-Encoding; default: identity */
    defaultEncoding?: string | undefined
    /** For a client that accepts `*`; default: gzip */
    wildcardAcceptEncoding?: string | undefined
    /** Decides between encodings of equal weight; default: zstd, br, gzip, deflate, identity */
    encodingPreference?: string[] | undefined
  }

  /** What `ctx.compress` may override. */
  interface ResponseOptions {
    /** Bytes, or like '1kb'; default: 1024 */
    threshold?: number | string | false | OfResponse<number | string | false> | undefined
    br?: Setting<BrotliOptions>
    gzip?: Setting<ZlibOptions>
    deflate?: Setting<ZlibOptions>
    /** Where Node has it. */
    zstd?: Setting<object>
  }

  /** Options of node:zlib, true for its defaults, false for never. */
  type Setting<T> = T | boolean | null | undefined | OfResponse<T | boolean | null | undefined>

  type OfResponse<T> = (type: string, size: number | undefined, ctx: Kone.Context) => T

  /** The same for `app.final`. */
  function final (options?: Options): Kone.Final
}

declare module '../../lib/index' {
  interface BaseContext {
    /** false: send this response uncompressed; true: compress it, whatever its type. */
    compress?: boolean | compress.ResponseOptions | undefined
  }
}

export = compress
