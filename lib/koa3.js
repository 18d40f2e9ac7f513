'use strict'

const assert = require('assert')
const statuses = require('statuses')
const Kone = require('./application')
const { RESPONSE_TO } = require('./core/errors')
const { isGeneratorFunction } = require('./core/generator')
const { isStream } = require('./core/stream')
const { nextTick } = require('./shared/timers')
const { isResponse } = require('./shared/web')

/*
 * Koa 3's API on the same core. The package kone@3 (`make pack KOA=3`) has this class as its main. Each comment that
 * names both majors is a difference between them, and a row of the table in MIGRATION.md, whose test is
 * test/compat/koa3.once.long.test.js.
 */

const koa2 = { context: require('./context'), request: require('./request'), response: require('./response') }

// By the dependencies of its package (tools/pack.js):
/** `http-errors`, `Koa.HttpError` | of version 1 | of version 2 */
/** `ctx.throw()` | status, message and error in any order | the status first */
/** A status of the app's own | `statuses[799] = 'Mine'` | `statuses.message[799] = 'Mine'` */
/** Phrases of 306, 418, 425 | (Unused), I'm a teapot, Unordered Collection | none, I'm a Teapot, Too Early */

const HTTP_URL = /^https?:\/\//i
const koa2Origin = Object.getOwnPropertyDescriptor(koa2.request, 'origin').get

const context = extend(koa2.context, {
  [RESPONSE_TO] (err) {
    /** An error of code ENOENT without a status | a 404 | a 500 */
    const status = err.status || err.statusCode
    /** `Content-Type` and `Content-Length` among the headers of an error | come where the error has them | come last */
    const kept = Object.entries(err.headers ?? {}).filter(([name]) => !/^content-(?:type|length)$/i.test(name))
    return { status, headers: Object.fromEntries(kept) }
  }
})

const request = extend(koa2.request, {
  /** `ctx.origin` | scheme and host of the request | the `Origin` field, or null */
  get origin () { return this.get('Origin') || null },

  get href () {
    const { originalUrl } = this
    if (HTTP_URL.test(originalUrl)) return this.host && originalUrl
    const origin = koa2Origin.call(this)
    return /^[/?]/.test(originalUrl) ? origin + originalUrl : origin // `*` must not extend the host's name
  },

  /** `ctx.request.length` of text that is not a number | 0 | undefined */
  get length () {
    const length = Number.parseInt(this.get('Content-Length'), 10)
    return Number.isNaN(length) ? undefined : length
  },

  /** `ctx.query` | an object without a prototype, by node:querystring | a plain object, by `URLSearchParams` */
  get query () {
    const text = this.querystring
    const cache = this._querycache ||= Object.create(null)
    if (!(text in cache)) cache[text] = parseQuery(text)
    return cache[text]
  },

  /** `ctx.query=` | writes a blank as `%20` | as `+` */
  set query (values) {
    const params = new URLSearchParams()
    for (const [name, value] of Object.entries(values)) {
      for (const one of [].concat(value)) params.append(name, ['string', 'number', 'boolean'].includes(typeof one) ? one : '')
    }
    this.querystring = params.toString()
  }
})

const response = extend(koa2.response, {
  /** `ctx.response.get()` and `ctx.etag` of a field that is not set | `''` | undefined */
  get (field) { return this.outgoing.getHeader(field) },

  /** `ctx.set()` of a number, of undefined | makes text of it | leaves the number as it is; undefined throws */
  set (field, val) {
    if (this.headerSent || !field) return
    const fields = typeof field === 'string' ? [[field, val]] : Object.entries(field)
    for (const [name, value] of fields.map(single)) this.outgoing.setHeader(name, value)
  },

  get etag () { return this.get('ETag') },
  set etag (tag) { assign(this, 'etag', tag) },

  get type () { return koa2Value(this, 'type') ?? '' },
  /** `ctx.type = 'js'` | application/javascript | text/javascript */
  set type (type) { assign(this, 'type', /^\.?m?js$/.test(type) ? 'text/javascript' : type) },

  /** `ctx.length` of a Response without `Content-Length` | undefined | 2, that of its JSON; HEAD sends none */
  get length () {
    const length = koa2Value(this, 'length')
    return length === undefined && isResponse(this._body) ? Buffer.byteLength(JSON.stringify(this._body)) : length
  },
  set length (length) { assign(this, 'length', length) },

  get body () { return this._body },
  /** `ctx.body = null` with the type application/json | a 204 | `null` is sent */
  set body (val) {
    if (val == null && !statuses.empty[this.status] && this.type === 'application/json') {
      this._body = 'null'
      return
    }
    const type = this.get('Content-Type')
    /** A stream as the body | has a listener for its errors at once | in the next tick */
    const listen = isStream(val) && !val.destroyed && typeof val.listeners === 'function' ? listenLater(val) : undefined
    assign(this, 'body', val)
    listen?.()
    /** `ctx.body = {}` with another JSON type | sets `application/json` | keeps the type */
    if (/\bjson\b/i.test(type) && this.type === 'application/json' && this.get('Content-Type') !== type) this.set('Content-Type', type)
  },

  /** `ctx.redirect('back')` | goes to the page that the client came from | is a relative URL: use `ctx.back()` */
  redirect (url) {
    koa2.response.redirect.call(this, url === 'back' ? Object(url) : url) // Koa 2's compares with the text 'back'
  }
})

class Application extends Kone {
  constructor (options) {
    super(options)
    this.context = Object.create(context)
    this.request = Object.create(request)
    this.response = Object.create(response)
  }

  /** Generator functions in `app.use()` | are converted | are not */
  // @ts-expect-error -- a less exact type
  use (fn) {
    if (!isGeneratorFunction(fn)) return super.use(fn)
    this.middleware.push(fn)
    return this
  }
}

// All methods are its own, as Koa's are: Feathers copies those of an app's own prototype.
const inherited = Object.entries(Object.getOwnPropertyDescriptors(Kone.prototype))
  .filter(([name]) => !Object.hasOwn(Application.prototype, name))
Object.defineProperties(Application.prototype, Object.fromEntries(inherited))

const { HttpError } = Kone
const isInstance = Function.prototype[Symbol.hasInstance]
/** `instanceof Koa.HttpError` of an error that another copy of http-errors has made | false | true */
// eslint-disable-next-line kone/owners -- of http-errors, where Koa 3 defines the same
Object.defineProperty(HttpError, Symbol.hasInstance, {
  configurable: true,
  value (err) { return isInstance.call(this, err) || (this === HttpError && isLikeHttpError(err)) }
})

// Not `isHttpError()`, which asks `instanceof`.
function isLikeHttpError (err) {
  return err instanceof Error && typeof err.expose === 'boolean' && typeof err.statusCode === 'number' && err.status === err.statusCode
}

/** A prototype with Koa 2's members, and these in their place. */
function extend (prototype, members) {
  return Object.defineProperties(Object.create(prototype), Object.getOwnPropertyDescriptors(members))
}

function koa2Value (response, name) {
  return Object.getOwnPropertyDescriptor(koa2.response, name).get.call(response)
}

function assign (response, name, value) {
  Object.getOwnPropertyDescriptor(koa2.response, name).set.call(response, value)
}

// Also a stream that is destroyed at once emits its error in a later tick, so that none is missed.
function listenLater (stream) {
  const before = stream.listeners('error')
  return () => {
    const added = stream.listeners('error').filter(listener => !before.includes(listener))
    for (const listener of added) stream.removeListener('error', listener)
    nextTick(() => added.forEach(listener => stream.on('error', listener)))
  }
}

// A key is an own property, whatever its name.
function parseQuery (text) {
  const query = {}
  const params = new URLSearchParams(text)
  for (const name of params.keys()) {
    const values = params.getAll(name)
    const value = values.length === 1 ? values[0] : values
    Object.defineProperty(query, name, { value, writable: true, enumerable: true, configurable: true })
  }
  return query
}

// Content-Type and Content-Length have one value.
function single ([name, value]) {
  if (!Array.isArray(value) || !/^content-(?:type|length)$/i.test(name)) return [name, value]
  assert(value.length === 1, `${name} must contain exactly one value`)
  return [name, value[0]]
}

module.exports = Application
module.exports.default = module.exports.Kone = Application
// Own names, because `import` finds them in the text of a module.
module.exports.compose = Kone.compose
module.exports.HttpError = HttpError
module.exports.createHttpError = Kone.createHttpError
module.exports.isHttpError = Kone.isHttpError
