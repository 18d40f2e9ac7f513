'use strict'

const net = require('net')
const qs = require('querystring')
const util = require('util')
const { format } = require('url')
const fresh = require('fresh')
const parseurl = require('parseurl')
const { NAMES_HOST } = require('./engines/host')
const node = require('./engines/node')
const lazy = require('./shared/lazy')
const only = require('./shared/only')
const { READ } = require('./core/settings')
const { HOST } = require('./shared/text')
const { addressOf, listOf, trustedHops } = require('./core/trusted-proxies')

const accepts = lazy(() => require('accepts'))
const contentType = lazy(() => require('content-type'))
const typeis = lazy(() => require('type-is'))

const IP = Symbol('request#ip')
const CHAIN = Symbol('request#chain')
const BODY = Symbol('request#body')
const QUERY = Symbol('request#query')
const QUERY_OF = Symbol('request#queryOf')

/** Of readBody() without options. */
const READ_DEFAULTS = READ.check()

const ONLY_HOST = new RegExp(`^${HOST}*$`)
const ABSOLUTE_FORM = /^https?:\/\/([^/?#]*)/i
// What makes a target more than a path and a query (parseurl then takes the slow way).
const UNUSUAL = /[\t\n\f\r #\u00a0\ufeff]/
const IDEMPOTENT = ['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS', 'TRACE']

/**
 * Prototype of `ctx.request`. Everything is computed when it is read, from `incoming`.
 *
 * @api public
 */
module.exports = {
  // As in context.js.
  get incoming () { return this.req },
  get outgoing () { return node.complete(this.res) },
  [node.ENGINE]: node,

  /**
   * The request's header fields, lower-case names, mutable. `headers` is the same.
   *
   * @return {object}
   */
  get header () { return this.incoming.headers },
  set header (val) { this.incoming.headers = val },
  get headers () { return this.incoming.headers },
  set headers (val) { this.incoming.headers = val },

  /** @return {string} the target as it was sent, or as a middleware rewrote it (`originalUrl` does not change) */
  get url () { return this.incoming.url },
  set url (val) { this.incoming.url = val },

  /** @return {string} `protocol://host` */
  get origin () { return `${this.protocol}://${this.host}` },

  /**
   * The whole URL: origin and original target. For a target in absolute form
   * (`GET http://example.com/foo`) the target's own authority is the origin's.
   *
   * @return {string}
   */
  get href () {
    const { origin } = this
    const path = (this.originalUrl || '').replace(ABSOLUTE_FORM, '')
    // `*` and an authority are not paths: they must not extend the host's name.
    return path === '' || path[0] === '/' || path[0] === '?' ? origin + path : origin
  },

  /** @return {string} the method, upper case */
  get method () { return this.incoming.method },
  set method (val) { this.incoming.method = val },

  /**
   * The path of `url`, not decoded. Setting it keeps the query.
   *
   * @return {string}
   */
  get path () {
    const { url } = this.incoming
    if (typeof url !== 'string' || url.charCodeAt(0) !== 47 || UNUSUAL.test(url)) {
      return parseurl(this.incoming).pathname
    }
    const query = url.indexOf('?')
    return query === -1 ? url : url.slice(0, query)
  },
  set path (path) {
    const url = parseurl(this.incoming)
    if (url.pathname !== path) this.url = format({ ...url, pathname: path, path: null })
  },

  /**
   * The query as an object without a prototype; a repeated key gives an array. The same object
   * until the query string changes, so a middleware may put something in.
   *
   * @return {object}
   */
  get query () {
    const str = this.querystring
    if (str === this[QUERY_OF]) return this[QUERY]
    // Koa keeps one object per string; most requests have one, and a slice of the url is a slow key.
    if (this[QUERY_OF] !== undefined) {
      const cache = this._querycache || (this._querycache = Object.create(null))
      cache[this[QUERY_OF]] = this[QUERY]
      this[QUERY] = cache[str]
    }
    this[QUERY_OF] = str
    return this[QUERY] || (this[QUERY] = qs.parse(str))
  },
  set query (obj) { this.querystring = qs.stringify(obj) },

  /** @return {string} the query without `?` */
  get querystring () {
    const { incoming } = this
    if (!incoming) return ''
    const { url } = incoming
    if (typeof url !== 'string' || url.charCodeAt(0) !== 47 || UNUSUAL.test(url)) {
      return parseurl(incoming).query || ''
    }
    const query = url.indexOf('?')
    return query === -1 ? '' : url.slice(query + 1)
  },
  set querystring (str) {
    const url = parseurl(this.incoming)
    if (url.search === `?${str}`) return
    url.search = str
    url.path = null
    this.url = format(url)
  },

  /** @return {string} the query with `?`, or nothing */
  get search () {
    const { querystring } = this
    return querystring && `?${querystring}`
  },
  set search (str) { this.querystring = str },

  /**
   * Host and port that the client requested: X-Forwarded-Host from a trusted proxy, the
   * target's own authority (RFC 9112, 3.2.2), `:authority`, or Host.
   *
   * @return {string} `example.com:8080`
   */
  get host () { return withoutUserinfo(rawHost(this)) },

  /** @return {string} `host` without the port; empty for anything but a plain name or address with an optional port */
  get hostname () { return hostnameOf(this.host) },

  /**
   * Whether all that names the host, for ctx or for code that reads the fields itself, has only characters of a host.
   *
   * @api private
   */
  [NAMES_HOST] () {
    if (this.incoming.headers === undefined) return true // a plain object of a test
    const host = rawHost(this)
    return ONLY_HOST.test(host) && ONLY_HOST.test(this.get('Host')) && (host !== '' || !ABSOLUTE_FORM.test(this.originalUrl))
  },

  /**
   * `href` parsed (WHATWG), memoised; an empty object without a prototype where it is no URL.
   *
   * @return {URL | object}
   */
  get URL () {
    if (!this.memoizedURL) {
      try {
        this.memoizedURL = new URL(this.hostname && this.href)
      } catch {
        this.memoizedURL = Object.create(null)
      }
    }
    return this.memoizedURL
  },

  /**
   * Whether the client's cached response is still valid (ETag, Last-Modified): then respond with 304.
   *
   * @return {boolean}
   */
  get fresh () {
    const { method } = this
    if (method !== 'GET' && method !== 'HEAD') return false
    const { status } = this.ctx
    // RFC 9110, 13.2.1: only for a response that would be 2xx (or already is 304).
    if ((status < 200 || status > 299) && status !== 304) return false
    return fresh(this.header, this.response.header)
  },

  /** @return {boolean} the opposite of `fresh` */
  get stale () { return !this.fresh },

  /** @return {boolean} whether the method is idempotent (RFC 9110, 9.2.2) */
  get idempotent () { return IDEMPOTENT.includes(this.method) },

  /** @return {net.Socket} the connection */
  get socket () { return this.incoming.socket },

  /** @return {string} the charset parameter of Content-Type, or nothing */
  get charset () {
    try {
      return contentType().parse(this.incoming).parameters.charset || ''
    } catch {
      return ''
    }
  },

  /**
   * Content-Length as a number.
   *
   * @return {number | undefined} bytes
   */
  get length () {
    const length = this.get('Content-Length')
    if (length !== '') return parseInt(length, 10) || 0
  },

  /** @return {string} `http` or `https`; from a trusted proxy the value of X-Forwarded-Proto */
  get protocol () {
    const { socket } = this
    if (socket && socket.encrypted) return 'https'
    const hops = hopsOf(this)
    if (hops === 0) return 'http'
    const proto = entryOf(this.get('X-Forwarded-Proto'), hops)
    return proto.toLowerCase() === 'https' ? 'https' : 'http'
  },

  /** @return {boolean} whether `protocol` is `https` */
  get secure () { return this.protocol === 'https' },

  /**
   * The addresses that trusted proxies name, client first; at most `app.maxIpsCount` of them.
   * Ports, and entries that are not addresses, are left out.
   *
   * @return {string[]}
   */
  get ips () { return forwarded(this).map(addressOf).filter(Boolean) },

  /** @return {string} the client's address; empty on a Unix socket */
  get ip () {
    if (!this[IP]) {
      const [client = ''] = forwarded(this)
      const { socket } = this
      this[IP] = addressOf(client) || (socket && socket.remoteAddress) || ''
    }
    return this[IP]
  },
  set ip (ip) { this[IP] = ip },

  /**
   * The labels before the last `app.subdomainOffset` ones, innermost first:
   * `['ferrets', 'tobi']` for tobi.ferrets.example.com.
   *
   * @return {string[]}
   */
  get subdomains () {
    const { hostname } = this
    if (hostname[0] === '[' || net.isIP(hostname)) return []
    return hostname.split('.').reverse().slice(this.app.subdomainOffset)
  },

  /** @return {import('accepts').Accepts} content negotiation (https://github.com/jshttp/accepts) */
  get accept () { return this._accept || (this._accept = accepts()(negotiable(this.incoming))) },
  set accept (obj) { this._accept = obj },

  /**
   * The best of `types` by Accept, false if none will do, all that is accepted if none is given.
   *
   *    ctx.accepts('html', 'json')
   *
   * @param {...any} types strings, or one list of them
   * @return {string | string[] | false}
   */
  accepts (...types) { return this.accept.types(...types) },

  /**
   * The same by Accept-Encoding.
   *
   *    ctx.acceptsEncodings('gzip', 'identity')
   *
   * @param {...any} encodings strings, or one list of them
   * @return {string | string[] | false}
   */
  acceptsEncodings (...encodings) { return this.accept.encodings(...encodings) },

  /**
   * The same by Accept-Charset.
   *
   *    ctx.acceptsCharsets('utf-8', 'latin1')
   *
   * @param {...any} charsets strings, or one list of them
   * @return {string | string[] | false}
   */
  acceptsCharsets (...charsets) { return this.accept.charsets(...charsets) },

  /**
   * The same by Accept-Language.
   *
   *    ctx.acceptsLanguages('de', 'en')
   *
   * @param {...any} languages strings, or one list of them
   * @return {string | string[] | false}
   */
  acceptsLanguages (...languages) { return this.accept.languages(...languages) },

  /**
   * Whether Content-Type is one of `types`: the matching one, false if none, null without a body.
   *
   *    ctx.is('json', 'urlencoded')
   *
   * @param {string | string[]} type
   * @param {...string} types
   * @return {string | false | null}
   */
  is (type, ...types) { return typeis()(this.incoming, type, ...types) },

  /** @return {string} Content-Type without its parameters */
  get type () {
    const type = this.get('Content-Type')
    return type && type.split(';', 1)[0]
  },

  /**
   * A request header field, or an empty string. Referer and Referrer are one.
   *
   *    ctx.get('Content-Type')
   *
   * @param {string} field
   * @return {string}
   */
  get (field) {
    field = field.toLowerCase()
    const { incoming, [node.ENGINE]: engine } = this
    if (field === 'referer' || field === 'referrer') {
      return engine.field(incoming, 'referrer') || engine.field(incoming, 'referer') || ''
    }
    return engine.field(incoming, field) || ''
  },

  /**
   * The whole body, without a stream if it has arrived already. Another call returns the same.
   *
   *    const bytes = await ctx.request.readBody({ limit: 1024 })
   *
   * @param {object} [options] see core/settings.js
   * @return {Buffer|Promise<Buffer>} a Buffer at once when all of it has arrived
   * @throws {HttpError} or rejects: 413 beyond the limit, 400 when it is cut short
   */
  readBody (options) {
    if (this[BODY] !== undefined) return this[BODY]
    const { limit } = options === undefined ? READ_DEFAULTS : READ.check(options)
    return (this[BODY] = this[node.ENGINE].readBody(this.incoming, limit))
  },

  inspect () {
    if (!this.incoming) return
    return this.toJSON()
  },

  /** @return {object} method, url and header as plain data */
  toJSON () {
    return only({ method: this.method, url: this.url, header: this.header })
  }
}

module.exports[util.inspect.custom] = module.exports.inspect

const MAX_QUOTED = 1024 // characters

// Negotiator counts the quotes of a parameter anew at each comma and semicolon in it: 16 KB would cost 8 ms.
function negotiable (incoming) {
  const { headers } = incoming
  const { accept } = headers
  if (accept === undefined || accept.length <= MAX_QUOTED || !accept.includes('"')) return incoming
  const end = Math.max(0, accept.lastIndexOf(',', MAX_QUOTED))
  return { headers: { ...headers, accept: accept.slice(0, end) } }
}

// The entry that the outermost of `hops` trusted proxies wrote; each appends to the right. It makes no list
// of all entries, because `ctx.host` is read often and a client may send 16,000.
function entryOf (list, hops) {
  if (hops === Infinity) return list.split(',', 1)[0].trim()
  let end = list.length
  let start = before(list, end)
  for (; hops > 1 && start !== -1; hops--) {
    end = start
    start = before(list, end)
  }
  return list.slice(start + 1, end).trim()
}

function before (list, end) {
  return end === 0 ? -1 : list.lastIndexOf(',', end - 1)
}

/** How many proxies are trusted: 0, Koa's `proxy: true` (Infinity), a number, or those of a list. */
function hopsOf (request) {
  const { proxy, proxyIpHeader } = request.app
  if (!proxy) return 0
  if (proxy === true) return Infinity
  if (typeof proxy === 'number') return proxy

  // The addresses are compared once: host, protocol, secure and ip depend on them.
  const list = listOf(proxy)
  const peer = request.socket?.remoteAddress
  const named = request.get(proxyIpHeader)
  const { [CHAIN]: known } = request
  if (known?.list === list && known.peer === peer && known.named === named) return known.hops
  const hops = trustedHops(list, peer, named)
  request[CHAIN] = { list, peer, named, hops }
  return hops
}

function forwarded (request) {
  const hops = hopsOf(request)
  if (hops === 0) return []
  const { proxyIpHeader, maxIpsCount } = request.app
  const named = request.get(proxyIpHeader)
  let ips = named === '' ? [] : named.split(',')
  if (hops < ips.length) ips = ips.slice(-hops)
  return maxIpsCount > 0 ? ips.slice(-maxIpsCount) : ips
}

function rawHost (request) {
  const named = request.get('X-Forwarded-Host')
  const hops = named === '' ? 0 : hopsOf(request) // not before: app.proxy may be a deprecated getter, as in egg
  const fromProxy = hops === 0 ? '' : entryOf(named, hops)
  if (fromProxy) return fromProxy
  const { originalUrl } = request
  if (originalUrl && originalUrl.charCodeAt(0) !== 47) {
    const target = ABSOLUTE_FORM.exec(originalUrl)
    if (target) return target[1]
  }
  const { httpVersionMajor } = request.incoming
  return (httpVersionMajor >= 2 && request.get(':authority')) || request.get('Host')
}

// As Koa. Only a ctx of `createContext()` alone has userinfo: in a server's it is a 400.
function withoutUserinfo (host) {
  if (!host.includes('@')) return host
  try {
    return new URL(`http://${host}`).host
  } catch {
    return ''
  }
}

const PLAIN = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d*)?$/i
let last = { host: '', hostname: '' } // to parse one again takes 0.6 µs

function hostnameOf (host) {
  if (host !== last.host) last = { host, hostname: parseHostname(host) }
  return last.hostname
}

/**
 * Only of names and addresses that a URL keeps as they are (but for case), so that `hostname` and `URL.hostname`
 * cannot name two different machines.
 */
function parseHostname (host) {
  if (!PLAIN.test(host)) return ''
  let parsed
  try {
    parsed = new URL(`http://${host}`).hostname
  } catch {
    return ''
  }
  if (host[0] === '[') return parsed
  const hostname = host.split(':', 1)[0]
  return parsed === hostname.toLowerCase() ? hostname : ''
}
