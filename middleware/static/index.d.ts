/// <reference types="node" />
import { Stats } from 'node:fs'
import { ServerResponse } from 'node:http'
import Kone = require('../../lib/index')

/** Serve the files of a directory. */
declare function serve (root: string, options?: serve.Options): Kone.Middleware

declare namespace serve {
  interface Options {
    // <options>
    /** `max-age` of `Cache-Control` (ms). Default: 0. */
    maxAge?: number | undefined
    /** Another name of `maxAge`. */
    maxage?: number | undefined
    /** `true`: adds `immutable` to `Cache-Control`. Default: `false`. */
    immutable?: boolean | undefined
    /** File that is served for a directory; `false`: no file. Default: `'index.html'`. */
    index?: string | false | undefined
    /** Serve the index also for a path of a directory without the final slash. Default: `true`. */
    format?: boolean | undefined
    /**
     * `true`: redirect (301) the path of a directory that has an index to the path with the final slash, so that
     * relative links of the index work. Default: `false`.
     */
    redirect?: boolean | undefined
    /** Serve files whose path has a segment that begins with a dot. Default: `false`. */
    hidden?: boolean | undefined
    /** With `['html']`, `/about` serves `about.html`. Default: none. */
    extensions?: string[] | false | undefined
    /** Serve `x.br`, `x.gz`, `x.zst` instead of `x` to clients that accept the encoding. Default: `true`. */
    br?: boolean | undefined
    /** Serve `x.br`, `x.gz`, `x.zst` instead of `x` to clients that accept the encoding. Default: `true`. */
    gzip?: boolean | undefined
    /** Serve `x.br`, `x.gz`, `x.zst` instead of `x` to clients that accept the encoding. Default: `true`. */
    zstd?: boolean | undefined
    /** Another name of `br`. Default: `true`. */
    brotli?: boolean | undefined
    /** Another name of `gzip`. Default: `true`. */
    gz?: boolean | undefined
    /** Another name of `zstd`. Default: `true`. */
    zst?: boolean | undefined
    /** Send an ETag. Default: `true`. */
    etag?: boolean | undefined
    /** Serve after the other middleware, if these did not respond. Default: `false`. */
    defer?: boolean | undefined
    /** `(res, path, stats) => *` sets headers, awaited; makes kone build node's `res`. */
    setHeaders?: ((res: ServerResponse, path: string, stats: Stats) => any) | undefined
    /** Check the disk for every request instead of every 500 ms. Default: `false`. */
    dev?: boolean | undefined
    /** Size of all files that are kept in memory; 0: no files (bytes). Default: 16,777,216. */
    cacheSize?: number | undefined
    /** The largest file that is kept in memory (bytes). Default: 65,536. */
    cacheFileSize?: number | undefined
    // </options>
  }

  /** For `app.final`: as with `defer`. */
  function final (root: string, options?: Options): Kone.Final
}

export = serve
