'use strict'

const { Options, Rule, fieldValue, list } = require('../../lib/shared/options')
const { size } = require('../_shared/bytes')

const path = new Rule("a path such as '/rpc'", value => {
  return typeof value === 'string' && /^(?:\/[^/?#]+)*\/?$/.test(value)
}, undefined, 'string')
const codec = new Rule('a codec', value => {
  return fieldValue.test(value?.type) && /^[^\s/;]+\/[^\s/;]+$/.test(value.type) &&
    typeof value.decode === 'function' && typeof value.encode === 'function'
})

module.exports = new Options('rpc', {
  prefix: path.says('path before the name of the function', { default: '/rpc' }),
  codecs: list(codec, 'codecs with type, decode and encode').says(
    '`{ type, decode (buffer) → array, encode (value) → Buffer or Uint8Array }`, in addition to JSON', { default: [], type: 'Codec[]' }),
  limit: size.says('the largest body, after decompression', { default: '1mb' }),
  decoderMemory: size.says('memory of all decoders of compressed bodies in the process together; further bodies are queued ' +
    '([why](../bodyParser/README.md))', { default: '64mb' })
})
