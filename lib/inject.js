'use strict'

const http = require('node:http')
const { Duplex } = require('node:stream')

const SERVER = Symbol('inject#server')

/**
 * Send a request through an app over a pipe in memory: node's own client on one end, node's own
 * server on the other, so that the response is the one that a socket would carry.
 *
 * @param {Application} app
 * @param {String|Object} what
 * @return {Promise<Object>}
 * @api private
 */
module.exports = function inject (app, what) {
  const { method = 'GET', url = '/', headers = {}, body } = typeof what === 'string' ? { url: what } : what
  if (typeof url !== 'string' || url[0] !== '/') {
    throw new TypeError("app.inject({ url }): url must be a path that begins with '/'")
  }

  return new Promise((resolve, reject) => {
    const [near, far] = pipe()
    const req = http.request({
      method,
      path: url,
      headers: { host: 'localhost', ...headers },
      createConnection: () => near
    })
    req.on('error', reject)
    req.on('response', res => {
      const chunks = []
      res.on('data', chunk => chunks.push(chunk))
      res.on('error', reject)
      res.on('end', () => resolve(summary(res, Buffer.concat(chunks))))
    })
    serverOf(app).emit('connection', far)

    const json = body !== null && typeof body === 'object' && !Buffer.isBuffer(body)
    if (json && !req.hasHeader('content-type')) req.setHeader('content-type', 'application/json')
    req.end(json ? JSON.stringify(body) : body)
  })
}

function summary (res, body) {
  return {
    status: res.statusCode,
    message: res.statusMessage,
    headers: res.headers,
    body,
    text: () => body.toString(),
    json: () => JSON.parse(body)
  }
}

// One server per app, which never listens. A later `use` takes effect, because the list of
// middleware is read per request.
function serverOf (app) {
  if (app[SERVER] === undefined) {
    Object.defineProperty(app, SERVER, { value: http.createServer(app.callback()) })
  }
  return app[SERVER]
}

// Two ends: what is written to one is read from the other.
function pipe () {
  const near = new End()
  const far = new End()
  near.other = far
  far.other = near
  return [near, far]
}

class End extends Duplex {
  remoteAddress = '127.0.0.1'
  written = null // the callback of a write that the other end has no space for

  _read () { this.other.proceed() }

  _write (chunk, encoding, callback) {
    if (this.other.push(chunk)) callback()
    else this.written = callback
  }

  proceed () {
    const { written } = this
    this.written = null
    if (written) written()
  }

  _final (callback) {
    this.other.push(null)
    callback()
  }

  _destroy (err, callback) {
    if (!this.other.destroyed) this.other.destroy()
    callback(err)
  }

  setTimeout () { return this }
  setNoDelay () { return this }
  setKeepAlive () { return this }
  ref () { return this }
  unref () { return this }
}
