'use strict'

const http = require('http')
const { path: PATH } = require('../../shared/options')
const { elsewhere } = require('../../shared/runtime')
const { given, misuse } = require('../../shared/usage-error')
const { kUpgrade } = require('../upgrade')
const { End } = require('./pipe')
const { setImmediate } = require('../../shared/timers')

/** Of the client, however the request goes through the app. */
const ADDRESS = '127.0.0.1'

/** Where a server keeps its front. */
const kFront = Symbol.for('kone.front')

/** By the option `engine`, with the front and without: app → `{ server, listener }`; the server never listens. */
const servers = { http1: new WeakMap(), node: new WeakMap() }

/**
 * Send a request through an app over a pipe in memory: node's own client on one end, the app's server on the other, so
 * that the response is the one that a socket would carry.
 *
 * @param {any} app the application
 * @param {object} serving `attachFront(app, server, listener)`, as app.listen() does, `takeUpgrades()`, and the options
 *   INJECT and INJECT_WEBSOCKET of ../../core/settings.js
 * @param {string | object | Request} what a url, `{ method, url, headers, body, engine }`, where an object as body is
 *   sent as JSON, or a web Request
 * @return {Promise<object>} `{ status, message, headers, body, text(), json() }`, body as a Buffer
 * @throws {TypeError} naming the option
 * @api private
 */
exports.inject = function (app, serving, what) {
  if (isRequest(what)) return fetched(app, what)
  if (what === null || (typeof what !== 'string' && typeof what !== 'object')) {
    throw misuse('application', `app.inject(request): request must be a url, an object or a web Request, not ${given(what)}`)
  }
  const { url, method, engine, ...rest } = serving.INJECT.check(typeof what === 'string' ? { url: what } : what)
  const { headers, body } = framed(rest)
  if (engine === 'fetch') return fetched(app, webRequest(method, url, headers, body))
  return sent(serverOf(app, engine, serving).server, { method, path: url, headers }, body)
}

/**
 * Open a WebSocket of the app: its handshake comes through the same server, and its frames over the same pipe.
 *
 * @param {string} path
 * @param {object} [options] see INJECT_WEBSOCKET of ../../core/settings.js
 * @return {Promise<WebSocket>} rejects with `{ status, headers, body }` if the response is another one than 101
 * @throws {TypeError} naming the option
 * @api private
 */
exports.websocket = function (app, serving, path, options) {
  const refusal = PATH.refusal(path, 'path')
  if (refusal !== undefined) throw misuse('application', `app.inject.websocket(path): ${refusal}`)
  const { headers, protocols = [], engine } = serving.INJECT_WEBSOCKET.check(options)
  if (elsewhere !== '') throw misuse('application', `app.inject.websocket() works on Node only, as websocket() does, and this is ${elsewhere}`)
  const open = globalThis[kUpgrade] // see middleware/websocket/client.js
  if (open === undefined) throw misuse('application', 'app.inject.websocket(path): no code has called websocket() of kone/middleware/websocket')
  const { server, listener } = serverOf(app, engine, serving)
  serving.takeUpgrades(app, server, listener)
  return open(path, protocols, { ...framed({ headers }), createConnection: () => connect(server) })
}

/** The request's fields, with those of its body: node's client leaves the length out for GET, DELETE and others. */
function framed ({ headers, body = undefined }) {
  const set = Object.entries(headers ?? {}).filter(([, value]) => value !== undefined)
  const names = new Set(set.map(([name]) => name.toLowerCase()))
  const fields = Object.fromEntries(names.has('host') ? set : [['host', 'localhost'], ...set])
  if (body === undefined || body === null) return { headers: fields }
  if (typeof body === 'object' && !ArrayBuffer.isView(body)) {
    body = JSON.stringify(body)
    if (!names.has('content-type')) fields['content-type'] = 'application/json'
  }
  if (!names.has('content-length') && !names.has('transfer-encoding')) fields['content-length'] = Buffer.byteLength(body)
  return { headers: fields, body }
}

/**
 * As over a network, bytes and the end arrive in a later turn. Otherwise ws would begin its close twice, a handler that
 * sends in an endless loop would never notice that the client has left, and the app's side would have closed before the
 * client has read the last byte.
 */
class Remote extends End {
  _write (chunk, encoding, callback) {
    setImmediate(() => super._write(chunk, encoding, callback))
  }

  endOther () {
    setImmediate(() => super.endOther())
  }
}

function sent (server, options, body) {
  return new Promise((resolve, reject) => {
    const req = http.request({ ...options, createConnection: () => connect(server) })
    req.on('error', reject)
    // A 101 comes here instead: without a listener node's client would notify nobody.
    req.on('upgrade', (res, socket) => {
      socket.destroy()
      resolve(summary(res, Buffer.alloc(0)))
    })
    req.on('response', res => {
      const chunks = []
      res.on('data', chunk => chunks.push(chunk))
      res.on('error', reject)
      // In a later turn: what the app does when a response is sent (logger, onFinished) is done.
      res.on('end', () => setImmediate(() => resolve(summary(res, Buffer.concat(chunks)))))
    })
    req.end(body)
  })
}

/** @return {import('stream').Duplex} the client's end */
function connect (server) {
  const near = new Remote()
  const far = new Remote({ address: ADDRESS })
  near.connect(far) // what is written to one is read from the other
  server[kFront]?.expect(far)
  server.emit('connection', far)
  return near
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

// A later `use` takes effect, because the list of middleware is read per request.
function serverOf (app, engine, { attachFront }) {
  if (!servers[engine].has(app)) {
    const listener = app.callback()
    const server = http.createServer(listener)
    if (engine === 'http1') attachFront(app, server, listener)
    servers[engine].set(app, { server, listener })
  }
  return servers[engine].get(app)
}

function isRequest (what) {
  return typeof what?.url === 'string' && typeof what.headers?.get === 'function'
}

function webRequest (method, url, fields, body) {
  const headers = new Headers()
  for (const [name, value] of Object.entries(fields)) for (const one of [].concat(value)) headers.append(name, one)
  return new Request(`http://localhost${url}`, { method, headers, body })
}

// A web Request goes through app.fetch(); the result has the same form.
async function fetched (app, request) {
  const response = await app.fetch(request, { ip: ADDRESS })
  const headers = {}
  for (const [name, value] of response.headers) {
    if (name !== 'set-cookie') headers[name] = value
  }
  const cookies = response.headers.getSetCookie()
  if (cookies.length > 0) headers['set-cookie'] = cookies
  const { status: statusCode, statusText: statusMessage } = response
  return summary({ statusCode, statusMessage, headers }, Buffer.from(await response.arrayBuffer()))
}
