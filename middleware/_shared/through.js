'use strict'

const { pipeline } = require('stream')

/**
 * The stream that a transform makes of another one; each is destroyed with the other. A chunk that is neither text nor
 * bytes is an error of the result: node's write() throws it where nobody could catch it.
 *
 *    ctx.body = through(ctx.body, zlib.createGzip())
 *
 * @param {import('stream').Readable} source
 * @param {import('stream').Transform} transform
 * @return {import('stream').Transform} the same
 * @api private
 */
module.exports = function through (source, transform) {
  const { write } = transform
  transform.write = function (...args) {
    try {
      return write.apply(this, args)
    } catch (err) {
      this.destroy(err)
      return false
    }
  }
  return pipeline(source, transform, ignore)
}

// pipeline destroys the transform with the error; the transform is the body, so Koa handles its 'error'
function ignore () {}
