/// <reference types="node" />
import { BrotliOptions, ZlibOptions } from 'node:zlib'
import Kone = require('../../lib/index')

/** Compress the response with an encoding that the client accepts. */
declare function compress (options?: compress.Options): compress.Middleware

declare namespace compress {
  interface Middleware extends Kone.Middleware {
    /** What this Node can write. */
    preferredEncodings: string[]
    encodingOptions: { [encoding: string]: object }
  }

  interface Options extends AnswerOptions {
    /** By the media type; default: mime-db's opinion. */
    filter?: ((type: string) => boolean | undefined) | undefined
    /** For a client that does not say; default: identity */
    defaultEncoding?: string | undefined
    /** For one that says `*`; default: gzip */
    wildcardAcceptEncoding?: string | undefined
    /** Of equally welcome encodings the first; default: zstd, br, gzip, deflate, identity */
    encodingPreference?: string[] | undefined
  }

  /** What `ctx.compress` may override. */
  interface AnswerOptions {
    /** Bytes, or like '1kb'; default: 1024 */
    threshold?: number | string | false | OfAnswer<number | string | false> | undefined
    br?: Setting<BrotliOptions>
    gzip?: Setting<ZlibOptions>
    deflate?: Setting<ZlibOptions>
    /** Where Node has it. */
    zstd?: Setting<object>
  }

  type Setting<T> = T | boolean | null | undefined | OfAnswer<T | boolean | null | undefined>

  type OfAnswer<T> = (type: string, size: number | undefined, ctx: Kone.Context) => T

  /** The same for `app.final`. */
  function final (options?: Options): Kone.Final
}

declare module '../../lib/index' {
  interface BaseContext {
    /** false: send this response uncompressed; true: compress it, whatever its type. */
    compress?: boolean | compress.AnswerOptions | undefined
  }
}

export = compress
