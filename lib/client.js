'use strict'

const { isMisspelt } = require('./shared/nearest') // for browsers, too: what is required here requires nothing
const { given, misuse } = require('./shared/usage-error')

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']
const NATIVE = ['FormData', 'URLSearchParams', 'Blob', 'File', 'ReadableStream', 'ArrayBuffer'] // fetch() sends it as it is
const RULES = { __proto__: null, '': 'an object', fetch: 'a function', params: 'an object', query: 'an object' }
const NAMES = Object.keys(RULES).concat('body', 'cache', 'credentials', 'headers', 'integrity', 'mode', 'redirect', 'referrer', 'signal')

/**
 * Send requests to an app whose routes TypeScript knows: a thin layer over fetch(), for browsers and servers. It writes
 * the params into the path, the query, and JSON. The response is that of fetch().
 *
 *    const api = client('https://example.com')
 *    const res = await api.post('/users/:id/notes', { params: { id: 7 }, body: { title: 'One' } })
 *    if (res.ok) console.log((await res.json()).title)
 *
 * @param {string} base URL that is put before every path; in a page '' is the page's own origin
 * @param {object} [options] those of fetch() for every request, such as `headers` and `credentials`
 * @param {function(Request): Promise<Response>} [options.fetch] such as `app.fetch` in a test; default: the global one
 * @return {Record<string, function(string, object=): Promise<Response>>} `get`, `post` and others; their promise is
 *   rejected with a TypeError for a param that is missing, empty, `.` or `..`, or makes a path that names another host,
 *   and for a value of params or query that has no text
 * @throws {TypeError} for a base that is not a string, or an option that is misspelt or of the wrong type
 * @api public
 */
function client (base, options) {
  if (typeof base !== 'string') throw new TypeError("client: the first argument must be a URL, or '' in a page")
  const { fetch = request => globalThis.fetch(request), headers, ...defaults } = checked(options)

  async function send (method, path, options) {
    const { params, query, body, headers: more, ...init } = checked(options)
    const target = base.replace(/\/$/, '') + new Path(method, path, params).compile() || '/' // '' is the page itself
    if (/^\/[/\\]/.test(target) && !base.startsWith('//')) {
      throw new TypeError(`client: ${method} ${path} with these params is '${target}', which names another host`)
    }
    const url = target + queryOf(query, `${method} ${path}`)
    const fields = new Headers(headers)
    new Headers(more).forEach((value, name) => fields.set(name, value))
    return fetch(new Request(url, { ...defaults, ...init, method, ...bodyOf(body, fields), headers: fields }))
  }

  return Object.fromEntries(METHODS.map(method => [method.toLowerCase(), (...args) => send(method, ...args)]))
}

/** As shared/options.js, which doubles the code in a page: test/client compares. Other names are fetch()'s. */
function checked (options) {
  for (const key of new Set([...Object.keys(RULES), ...Object.keys(options ??= {})])) {
    const [must, one] = [RULES[key], key === '' ? options : options[key]]
    const meant = NAMES.includes(key) ? undefined : NAMES.find(known => isMisspelt(key, known))
    if (meant) throw misuse('client', `client: options.${key} is unknown: did you mean \`${meant}\`?`)
    if (!must || one === undefined || (must.endsWith(typeof one) && one !== null && !Array.isArray(one))) continue
    throw misuse('client', `client: options${key && `.${key}`} must be ${must}, not ${given(one)}`)
  }
  return options
}

/** One path of path-to-regexp 6 or 8, read from the left: no text has one meaning in 6 and another one in 8. */
class Path {
  at = 0
  unnamed = 0

  constructor (method, path, params = {}) {
    this.name = `${method} ${path}`
    this.path = path
    this.params = params
  }

  compile () {
    const { text, missing } = this.sequence()
    if (missing !== undefined) throw new TypeError(`client: params.${missing} of ${this.name} is missing`)
    return text.replace(/^(?=[^/])/, '/') // after the base, text would be a part of the host
  }

  /** @return {{ text: string, missing: string | undefined }} up to the end of the path, or of a group */
  sequence () {
    let text = ''
    let missing
    while (this.at < this.path.length) {
      const character = this.path[this.at++]
      if (character === '}') break
      if (character === '\\') text += this.path[this.at++]
      else if (character === '{') text += this.group()
      else if (!':*('.includes(character)) text += character
      else {
        const { name, value, isOptional } = this.param(character)
        if (value !== undefined) text += value
        else if (!isOptional) missing ??= name
        else text = text.replace(/[./]$/, '')
      }
    }
    return { text, missing }
  }

  group () {
    const { text, missing } = this.sequence()
    this.scan(/^[?*+]/)
    return missing === undefined ? text : ''
  }

  param (kind) {
    const name = kind === '(' ? String(this.unnamed++) : this.scan(/^(?:"[^"]*"|[^\s!-/:-@[-^`{-~]+)/).replaceAll('"', '')
    const pattern = kind === '(' || this.scan(/^\(/) !== '' ? this.pattern() : undefined
    const modifier = this.scan(/^[?*+]/)
    const isMany = kind === '*' || modifier === '*' || modifier === '+' || pattern === '.*'
    const param = this.params[name] ?? ''
    if (param !== '') {
      const text = textOf(param, `params.${name} of ${this.name}`)
      return { name, value: this.encode(name, isMany ? text.split('/') : [text]) }
    }
    return pattern === '.*' ? { name, value: '' } : { name, isOptional: modifier === '?' || modifier === '*' }
  }

  /** The text up to the bracket that closes it. */
  pattern () {
    const start = this.at
    for (let depth = 1; depth > 0 && this.at < this.path.length;) {
      const character = this.scan(/^\\?[^]/)
      depth += { '(': 1, ')': -1 }[character] ?? 0
    }
    return this.path.slice(start, this.at - 1)
  }

  // A URL loses the segments `.` and `..`: the request would have another path.
  encode (name, segments) {
    const dots = segments.find(segment => /^\.\.?$/.test(segment))
    if (dots !== undefined) throw new TypeError(`client: params.${name} of ${this.name} must not be '${dots}'`)
    return segments.map(encodeURIComponent).join('/')
  }

  /** @return {string} what the path has here of an expression that begins with ^, maybe '' */
  scan (expression) {
    const [text] = expression.exec(this.path.slice(this.at)) ?? ['']
    this.at += text.length
    return text
  }
}

/**
 * @param {any} query an object, or pairs of names and values
 * @param {string} route
 */
function queryOf (query = {}, route) {
  const search = new URLSearchParams()
  for (const [name, value] of query[Symbol.iterator] ? query : Object.entries(query)) {
    for (const one of [value].flat()) {
      if (one !== undefined && one !== null) search.append(name, textOf(one, `query.${name} of ${route}`))
    }
  }
  const text = String(search)
  return text && `?${text}`
}

/** A value as JSON has it, a Date for example; String() makes `[object Object]` of what has no text. */
function textOf (value, place) {
  const text = value.toJSON?.() ?? value
  if (['object', 'function', 'symbol'].includes(typeof text)) {
    throw new TypeError(`client: ${place} must be text, a number, a boolean or a Date, not ${given(value)}`)
  }
  return String(text)
}

function bodyOf (body, fields) {
  const kind = Object.prototype.toString.call(body).slice(8, -1)
  if (body === undefined || typeof body === 'string' || ArrayBuffer.isView(body)) return { body }
  const isStream = typeof body?.[Symbol.asyncIterator] === 'function' // one of node's, too
  if (NATIVE.includes(kind) || isStream) return { body, duplex: 'half' } // which fetch() wants for a stream
  if (!fields.has('content-type')) fields.set('content-type', 'application/json')
  return { body: JSON.stringify(body) }
}

module.exports = client
