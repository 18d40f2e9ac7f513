/// <reference types="node" />
import { Stats } from 'node:fs'
import { ServerResponse } from 'node:http'
import Kone = require('../../lib/index')

/** Serve the files of a directory. */
declare function serve (root: string, options?: serve.Options): Kone.Middleware

declare namespace serve {
  interface Options {
    /** Of Cache-Control, in ms; default: 0 */
    maxAge?: number | undefined
    maxage?: number | undefined
    /** Adds `immutable` to Cache-Control. */
    immutable?: boolean | undefined
    /** Served for a directory; default: index.html */
    index?: string | false | undefined
    /** The index also for a directory named without its slash; default: true */
    format?: boolean | undefined
    /** 301 to the path with the slash instead; default: false */
    redirect?: boolean | undefined
    /** Serve what begins with a dot. */
    hidden?: boolean | undefined
    /** Tried for a path without one. */
    extensions?: string[] | false | undefined
    /** x.br for x; default: true */
    br?: boolean | undefined
    brotli?: boolean | undefined
    /** x.gz for x; default: true */
    gzip?: boolean | undefined
    gz?: boolean | undefined
    /** x.zst for x; default: true */
    zstd?: boolean | undefined
    zst?: boolean | undefined
    /** Default: true */
    etag?: boolean | undefined
    /** Serve after the other middleware, if these did not. */
    defer?: boolean | undefined
    /** Creates node's `res` for each request. */
    setHeaders?: ((res: ServerResponse, path: string, stats: Stats) => any) | undefined
    /** Look at the disk for every request, not twice a second. */
    dev?: boolean | undefined
    /** Bytes of files kept in memory; default: 16777216 */
    cacheSize?: number | undefined
    /** Bytes of the largest of them; default: 65536 */
    cacheFileSize?: number | undefined
  }

  /** For `app.final`: as with `defer`. */
  function final (root: string, options?: Options): Kone.Final
}

export = serve
