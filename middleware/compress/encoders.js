'use strict'

const { promisify } = require('util')
const zlib = require('zlib')

// a br quality above 4 costs more time than the smaller response saves
module.exports = {
  zstd: encoder('ZstdCompress', {}), // undefined before Node 22.15
  br: encoder('BrotliCompress', { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 4 } }),
  gzip: encoder('Gzip', {}),
  deflate: encoder('Deflate', {})
}

/** @return {{ defaults, stream, whole }|undefined} both ways that node:zlib compresses */
function encoder (name, defaults) {
  const create = zlib[`create${name}`]
  if (create === undefined) return
  const whole = promisify(zlib[name[0].toLowerCase() + name.slice(1)])
  return {
    defaults,
    stream: options => create({ ...defaults, ...options }),
    whole: (source, options) => whole(source, { ...defaults, ...options })
  }
}
