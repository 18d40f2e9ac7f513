'use strict'

const { PassThrough, pipeline } = require('stream')

/**
 * The stream that a transform makes of another one; each is destroyed with the other. The other one is not read before
 * the result is: an error of it would send a response while other middleware wait, for example to save a session. A
 * chunk that is neither text nor bytes is an error of the result: node's write() throws it where nobody could catch it.
 * So is an end before the declared length, because the response has no length any more, which would show the client
 * that bytes are missing.
 *
 *    ctx.body = transformed(ctx.body, zlib.createGzip(), ctx.response.get('Content-Length'))
 *
 * @param {import('stream').Readable} source
 * @param {import('stream').Transform} transform
 * @param {number|string} [length] in bytes, as declared for the source; '' for none
 * @return {import('stream').Transform} the same
 * @api private
 */
module.exports = function transformed (source, transform, length) {
  const onListener = name => {
    if (name !== 'data' && name !== 'readable') return
    transform.off('newListener', onListener)
    begin(source, transform, length)
  }
  transform.on('newListener', onListener)
  source.on('error', err => transform.destroy(err))
  transform.once('close', () => source.destroy?.())
  return transform
}

function begin (source, transform, length) {
  if (source.readableObjectMode !== false) { // it may give anything
    source = pipeline(source, new PassThrough({ writableObjectMode: true }), ignore)
  }
  let left = Number(length)
  const onEnd = () => {
    if (left > 0) transform.destroy(source.errored ?? new Error('the body ended before its declared length'))
  }
  if (left > 0) source.on('data', chunk => { left -= Buffer.byteLength(chunk) }).on('end', onEnd)
  pipeline(source, transform, ignore)
  if (source.readableEnded) onEnd()
}

// pipeline destroys the transform with the error; the transform is the body, so Koa handles its 'error'
function ignore () {}
