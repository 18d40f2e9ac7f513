'use strict'

const http = require('node:http')
const { given, misuse } = require('./misuse')

const SERVER = Symbol('inject#server')

/**
 * Send a request through an app over a pipe in memory: node's own client on one end, node's own
 * server on the other, so that the response is the one that a socket would carry.
 *
 * @param {Application} app
 * @param {string | object | Request} what
 * @return {Promise<object>}
 * @api private
 */
module.exports = function inject (app, what) {
  if (isRequest(what)) return fetched(app, what)
  const { method = 'GET', url = '/', headers = {}, body } = typeof what === 'string' ? { url: what } : what
  if (typeof url !== 'string' || url[0] !== '/') {
    throw misuse('application', `app.inject({ url }): url must be a path that begins with '/', not ${given(url)}`)
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
  const { End } = require('./pipe')
  const near = new End()
  const far = new End({ address: '127.0.0.1' })
  near.connect(far)
  return [near, far]
}

function isRequest (what) {
  return typeof what?.url === 'string' && typeof what.headers?.get === 'function'
}

// A web Request goes through app.fetch(); the result has the same form.
async function fetched (app, request) {
  const response = await app.fetch(request)
  const headers = {}
  for (const [name, value] of response.headers) {
    if (name !== 'set-cookie') headers[name] = value
  }
  const cookies = response.headers.getSetCookie()
  if (cookies.length > 0) headers['set-cookie'] = cookies
  const { status: statusCode, statusText: statusMessage } = response
  return summary({ statusCode, statusMessage, headers }, Buffer.from(await response.arrayBuffer()))
}
