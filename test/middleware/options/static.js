'use strict'

const serve = require('kone/middleware/static')
const { BOOLEANS, FUNCTIONS } = require('./values')

module.exports = {
  make: options => serve(__dirname, options),
  final: options => serve.final(__dirname, options),
  options: {
    maxAge: ['1d', -1, NaN],
    maxage: ['1d', -1],
    immutable: BOOLEANS,
    index: [5, true, null],
    format: BOOLEANS,
    hidden: BOOLEANS,
    extensions: ['html', [5], true],
    br: BOOLEANS,
    brotli: BOOLEANS,
    gzip: BOOLEANS,
    gz: BOOLEANS,
    zstd: BOOLEANS,
    zst: BOOLEANS,
    etag: BOOLEANS,
    defer: BOOLEANS,
    setHeaders: FUNCTIONS,
    dev: BOOLEANS,
    cacheSize: ['16mb', -1, NaN],
    cacheFileSize: ['64kb', -1]
  }
}
