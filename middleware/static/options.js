'use strict'

const { Options, boolean, each, fn, list, number, off, string } = require('../../lib/shared/options')

const bytes = number({ min: 0, max: Infinity, unit: 'bytes' })

module.exports = new Options('static', {
  maxAge: number({ min: 0, unit: 'ms' }).says('`max-age` of `Cache-Control`', { default: 0, alias: 'maxage' }),
  immutable: boolean.says('`true`: adds `immutable` to `Cache-Control`', { default: false }),
  index: string.or(off).says('file that is served for a directory; `false`: no file', { default: 'index.html' }),
  format: boolean.says('serve the index also for a path of a directory without the final slash', { default: true }),
  redirect: boolean.says('`true`: redirect (301) the path of a directory that has an index to the path with the final slash, ' +
    'so that relative links of the index work', { default: false }),
  hidden: boolean.says('serve files whose path has a segment that begins with a dot', { default: false }),
  extensions: list(string, 'strings').or(off).says("with `['html']`, `/about` serves `about.html`", { default: false, otherwise: 'none' }),
  ...each(boolean.says('serve `x.br`, `x.gz`, `x.zst` instead of `x` to clients that accept the encoding', { default: true }),
    'br', 'gzip', 'zstd'),
  brotli: boolean.says('another name of `br`', { default: true }),
  gz: boolean.says('another name of `gzip`', { default: true }),
  zst: boolean.says('another name of `zstd`', { default: true }),
  etag: boolean.says('send an ETag', { default: true }),
  defer: boolean.says('serve after the other middleware, if these did not respond', { default: false }),
  setHeaders: fn.says("`(res, path, stats) => *` sets headers, awaited; makes kone build node's `res`", { type: '(res: ServerResponse, path: string, stats: Stats) => any' }),
  dev: boolean.says('check the disk for every request instead of every 500 ms', { default: false }),
  cacheSize: bytes.says('size of all files that are kept in memory; 0: no files', { default: 16 * 2 ** 20 }),
  cacheFileSize: bytes.says('the largest file that is kept in memory', { default: 64 * 2 ** 10 })
})
