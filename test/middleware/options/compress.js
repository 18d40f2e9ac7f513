'use strict'

const compress = require('kone/middleware/compress')
const { TEXTS, FUNCTIONS, ENCODING } = require('./values')

module.exports = {
  make: options => compress(options),
  final: options => compress.final(options),
  options: {
    filter: FUNCTIONS,
    threshold: ['much', -1, NaN, {}],
    br: ENCODING,
    gzip: ENCODING,
    deflate: ENCODING,
    zstd: [5, 'yes'],
    encodingPreference: ['br', ['lzma'], [5]],
    defaultEncoding: TEXTS,
    wildcardAcceptEncoding: TEXTS
  }
}
