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

  interface Options {
    // <options>
    /** `type => boolean`: whether a media type is compressed. Default: mime-db's `compressible`. */
    filter?: ((type: string) => boolean | undefined) | undefined
    /** The smallest body that is compressed, or `(type, size, ctx) => …` (bytes, or as `'1mb'`). Default: 1024. */
    threshold?: number | string | false | OfResponse<number | string | false> | undefined
    /**
     * Options of node:zlib, `true` for its defaults, `false` for never, or `(type, size, ctx) => …`. Default: brotli
     * quality 4, else node's defaults.
     */
    zstd?: Setting<object> | undefined
    /**
     * Options of node:zlib, `true` for its defaults, `false` for never, or `(type, size, ctx) => …`. Default: brotli
     * quality 4, else node's defaults.
     */
    br?: Setting<BrotliOptions> | undefined
    /**
     * Options of node:zlib, `true` for its defaults, `false` for never, or `(type, size, ctx) => …`. Default: brotli
     * quality 4, else node's defaults.
     */
    gzip?: Setting<ZlibOptions> | undefined
    /**
     * Options of node:zlib, `true` for its defaults, `false` for never, or `(type, size, ctx) => …`. Default: brotli
     * quality 4, else node's defaults.
     */
    deflate?: Setting<ZlibOptions> | undefined
    /**
     * Of the encodings that the client accepts equally, the first in this list is used. Default: `['zstd', 'br',
     * 'gzip', 'deflate']`.
     */
    encodingPreference?: string[] | undefined
    /** Encoding for a request without `Accept-Encoding`. Default: `'identity'`. */
    defaultEncoding?: string | undefined
    /** Encoding for a request with `Accept-Encoding: *`. Default: `'gzip'`. */
    wildcardAcceptEncoding?: string | undefined
    // </options>
  }

  /** What `ctx.compress` may override. */
  type ResponseOptions = Pick<Options, 'threshold' | 'br' | 'gzip' | 'deflate' | 'zstd'>

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
