'use strict'

const { isIP } = require('net')
const { given, misuse } = require('../../usage-error')
const { reset, responseLost } = require('../errors')
const { End } = require('../memory/pipe')
const { Incoming } = require('./incoming')
const { Outgoing } = require('./outgoing')

/**
 * Make the `fetch` of one app: a web Request in, a promise of a web Response out. No server and no
 * socket take part; node's own `req` and `res` are created when code reads them (./node.js).
 *
 * The function is asynchronous, so that it rejects for anything that is not a usable Request.
 *
 * @param {Host} host the app
 * @return {Function} `(request, info) => Promise<Response>`
 * @api private
 */
module.exports = function makeFetch (host) {
  return async function fetch (request, info) {
    check(request)
    const exchange = new Exchange(host, request, info)
    exchange.watch()
    exchange.run()
    return exchange.response
  }
}

/**
 * One request and its response, from the call of `fetch` until the caller has read the last byte of the
 * response or has cancelled it. Settled once: by `sent()` or by `lost()`.
 *
 *    open ── deliver() ──▶ delivered ── sent() ──▶ settled
 *      └───────────────────────┴────── lost(err) ────▲
 */
class Exchange {
  constructor (host, request, info) {
    this.host = host
    this.request = request
    this.info = info
    this.incoming = new Incoming(this, request)
    this.outgoing = new Outgoing(this, this.incoming)
    this.end = null        // the connection in memory, made when something reads a socket
    this.isSettled = false
    this.listeners = []
    this.response = new Promise((resolve, reject) => {
      this.resolve = resolve
      this.reject = reject
    })
    this.signal = null
  }

  /**
   * Listen for the abort signal of the caller.
   *
   * @throws the reason, if it is aborted already
   */
  watch () {
    const { info, request } = this
    // Deno aborts the signal after every response, and warns about listeners
    if (typeof info?.completed?.then === 'function') {
      info.completed.then(undefined, err => this.lost(err))
    } else if (request.signal) {
      this.signal = request.signal
      this.signal.throwIfAborted()
      this.signal.addEventListener('abort', this, { once: true })
    }
  }

  /** An abort of the request's signal. */
  handleEvent () {
    this.lost(this.signal.reason)
  }

  run () {
    const { host } = this
    let running
    try {
      running = host.reason(true) !== ''
        ? host.callback()(this.incoming.materialize(), this.outgoing.materialize())
        : host.dispatch(this.incoming, this.outgoing)
    } catch (err) {
      return this.lost(err)
    }
    // only a ctx.onerror of the app's own rejects
    running?.then(undefined, err => this.lost(err))
  }

  /** The connection as `ctx.socket`; there is no network behind it. */
  get socket () {
    if (this.end === null) {
      const { url } = this.request
      this.end = new End({ ...peer(this.info, this.request), encrypted: url.startsWith('https:') })
      this.end.once('close', () => this.lost(reset()))
      this.end.on('error', err => this.host.failed(this.outgoing.owner, err))
      if (this.outgoing.isLost) this.end.destroy()
    }
    return this.end
  }

  /** Can a response still be sent, as far as the connection is concerned? */
  get isOpen () { return !this.isSettled && (this.end === null || this.end.writable) }

  /** The headers are complete: the caller gets its Response. */
  deliver (response) {
    this.resolve(response)
  }

  /** The caller has read the whole response. */
  sent () {
    if (this.isSettled) return
    this.settle()
    this.incoming.drop()
  }

  /** The caller has aborted, or the response cannot be completed. */
  lost (cause) {
    if (this.isSettled) return
    this.settle(responseLost(cause), cause)
    this.reject(cause) // does nothing once it is delivered
    this.incoming.cutOff()
    if (this.end !== null) this.end.destroy()
  }

  settle (failure, cause) {
    this.isSettled = true
    if (failure !== undefined) this.outgoing.lose(failure, cause)
    this.signal?.removeEventListener('abort', this)
    for (const fn of this.listeners.splice(0)) notify(fn, this.outgoing)
  }

  onSettled (fn) {
    if (this.isSettled) notify(fn, this.outgoing)
    else this.listeners.push(fn)
  }
}

// Not by process.nextTick: a caller that awaits one fetch after the other runs in microtasks alone.
function notify (fn, { failure }) {
  queueMicrotask(() => fn(failure))
}

function check (request) {
  if (typeof request?.url !== 'string' || typeof request.headers?.get !== 'function') {
    throw misuse('fetch', `app.fetch(request): request must be a web Request, not ${given(request)}`)
  }
  if (request.bodyUsed || request.body?.locked) {
    throw misuse('fetch', 'app.fetch(request): the body of the request was already read')
  }
}

/**
 * The address of the client: Deno passes `{ remoteAddr }`, Bun its server, tests `{ ip }`. Other values
 * are ignored.
 */
function peer (info, request) {
  if (Object(info) !== info) return {}
  const { ip, remoteAddr } = info
  if (typeof ip === 'string' && isIP(ip)) return { address: ip }
  if (typeof remoteAddr?.hostname === 'string' && isIP(remoteAddr.hostname)) {
    return { address: remoteAddr.hostname, port: remoteAddr.port }
  }
  if (typeof info.requestIP === 'function') {
    const found = info.requestIP(request)
    if (found) return { address: found.address, port: found.port }
  }
  return {}
}
