'use strict'

const { Options, Rule, fn, list, none, oneOf, text } = require('../../lib/shared/options')
const { size } = require('../_shared/bytes')
const ENCODERS = require('./encoders')

const KNOWN = [...Object.keys(ENCODERS), 'identity']
const TYPES = { br: 'BrotliOptions', zstd: 'object' }

/** The rule for one encoding's option: node:zlib itself checks its options. */
function encoding (name) {
  const types = ['object', 'boolean', 'function']
  return new Rule('options of node:zlib, a function, true or false', value => types.includes(typeof value), (value, path) => {
    try {
      if (typeof value === 'object') ENCODERS[name]?.stream(value ?? {}).close()
    } catch (err) {
      return `${path}: ${err.message}`
    }
  })
}

module.exports = new Options('compress', {
  filter: fn.says('`type => boolean`: whether a media type is compressed',
    { otherwise: "mime-db's `compressible`", type: '(type: string) => boolean | undefined' }),
  threshold: size.or(fn).or(none).says('the smallest body that is compressed, or `(type, size, ctx) => …`', {
    otherwise: '1024', type: 'number | string | false | OfResponse<number | string | false>'
  }),
  ...Object.fromEntries(Object.keys(ENCODERS).map(name => [name, encoding(name).says(
    'options of node:zlib, `true` for its defaults, `false` for never, or `(type, size, ctx) => …`',
    { otherwise: "brotli quality 4, else node's defaults", type: `Setting<${TYPES[name] ?? 'ZlibOptions'}>` })])),
  encodingPreference: list(oneOf(...KNOWN), KNOWN.join(', ')).says(
    'of the encodings that the client accepts equally, the first in this list is used',
    { otherwise: "`['zstd', 'br', 'gzip', 'deflate']`", type: 'string[]' }),
  defaultEncoding: text.says('encoding for a request without `Accept-Encoding`', { default: 'identity' }),
  wildcardAcceptEncoding: text.says('encoding for a request with `Accept-Encoding: *`', { default: 'gzip' })
})
