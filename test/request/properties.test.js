'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { inspect } = require('node:util')
const Accepts = require('accepts')
const parseurl = require('parseurl')

const context = require('../helpers/context')
const rows = require('../helpers/rows')

const PROXY = { app: { proxy: true } }
const H2 = { httpVersionMajor: 2, httpVersion: '2.0' }
const noHost = { req: {} } // a client on an engine sends one
const asSent = { http2: 'its client refuses this host', fetch: 'the URL of a Request has a valid host' }

// ---- target

const DASHBOARD = '/login?next=/dashboard'

rows('ctx.path', ctx => ctx.path, [
  ['should be the target without its query', DASHBOARD, '/login'],
  ['should not decode', '/a%20b/b%2Fc?d=/e', '/a%20b/b%2Fc'],
  ['should keep two slashes at the start', '//evil.example/a', '//evil.example/a']
])

rows('ctx.path=', [
  ['should keep the query and ctx.originalUrl', ctx => {
    ctx.path = '/logout'
    return [ctx.path, ctx.url, ctx.req.url, ctx.originalUrl]
  }, ['/logout', '/logout?next=/dashboard', '/logout?next=/dashboard', DASHBOARD], { url: DASHBOARD }],
  ['should not touch the url when the path is the same', ctx => {
    ctx.path = '/login'
    return ctx.url
  }, DASHBOARD, { url: DASHBOARD }],
  ['should work after the url was rewritten', ctx => {
    const before = ctx.path
    ctx.req.url = '/b?y=2'
    ctx.path = '/c'
    return [before, ctx.url]
  }, ['/login', '/c?y=2'], { url: DASHBOARD }]
])

rows('ctx.url', ctx => ctx.url, [
  ...['/', '/a/%2e%41/b?c=%20&d', '//double//slash', '/?', '/a?b?c'].map(url => [`should be ${url} byte by byte`, url, url]),
  ...['/a/%2e%2E/b', '/a/../b', '/.'].map(url => [`should keep the dots of ${url}`, url, url,
    { skip: { fetch: 'the URL of a Request is normalised' } }])
])

rows('ctx.url=', [
  ['should follow req.url and set it, and leave ctx.originalUrl alone', ctx => {
    ctx.req.url = '/b?x=1'
    const seen = [ctx.url, ctx.path]
    ctx.url = '/c?y=2'
    return [...seen, ctx.req.url, ctx.querystring, ctx.query.y, ctx.originalUrl, ctx.request.originalUrl]
  }, ['/b?x=1', '/b', '/c?y=2', 'y=2', '2', '/a', '/a'], { url: '/a' }]
])

rows('ctx.query', ctx => ({ ...ctx.query }), [
  ['should be empty without a query', '/', {}],
  ['should be empty with an empty query', '/?', {}],
  ['should have repeated keys as arrays', '/?page=2&color=blue&color=red', { page: '2', color: ['blue', 'red'] }],
  ['should be decoded', '/?q=a+b%20c&%C3%A9=%26', { q: 'a b c', é: '&' }],
  ['should have empty values', '/?a&b=', { a: '', b: '' }],
  ['should keep a value that is badly encoded', '/?a=%zz&b=%ff', { a: '%zz', b: '\ufffd' }]
])

rows('ctx.query and ctx.query=', [
  ['should be the same object at every read, and mutable', ctx => {
    ctx.query.b = '2'
    return [ctx.query.b, ctx.request.query === ctx.query]
  }, ['2', true]],
  ['should follow the query string', ctx => {
    const seen = [ctx.query.a]
    ctx.url = '/?b=2'
    seen.push(ctx.query.a, ctx.query.b)
    ctx.querystring = 'c=3'
    return [...seen, ctx.query.c]
  }, ['1', undefined, '2', '3'], { url: '/?a=1' }],
  ['should rewrite the query of the url', ctx => {
    ctx.query = { page: 2, color: ['blue', 'red'], q: 'a b' }
    return [ctx.url, ctx.querystring, ctx.search, { ...ctx.query }, ctx.originalUrl]
  }, ['/shoes?page=2&color=blue&color=red&q=a%20b', 'page=2&color=blue&color=red&q=a%20b',
    '?page=2&color=blue&color=red&q=a%20b', { page: '2', color: ['blue', 'red'], q: 'a b' }, '/shoes'], { url: '/shoes' }]
])

rows('ctx.querystring and ctx.search', ctx => [ctx.querystring, ctx.search], [
  ['should be what follows the first question mark', '/a?b?c', ['b?c', '?b?c']],
  ["should be '' without a query", '/store', ['', '']],
  ["should be '' with an empty query", '/store?', ['', '']]
])

rows('ctx.querystring= and ctx.search=', [
  ...['page=2&color=blue', '?page=2&color=blue'].map(search => [`should replace the query by '${search}'`, ctx => {
    if (search[0] === '?') ctx.search = search
    else ctx.querystring = search
    return [ctx.url, ctx.search, ctx.querystring, ctx.req.url, ctx.originalUrl]
  }, ['/shoes?page=2&color=blue', '?page=2&color=blue', 'page=2&color=blue', '/shoes?page=2&color=blue', '/shoes?page=1'],
  { url: '/shoes?page=1' }]),
  ['should take a search without a question mark, and none', ctx => {
    ctx.search = 'page=3'
    const seen = [ctx.url, ctx.search]
    ctx.search = ''
    return [...seen, ctx.url]
  }, ['/shoes?page=3', '?page=3', '/shoes'], { url: '/shoes?page=1' }],
  ['should not touch the url when nothing changes', ctx => {
    ctx.querystring = 'next=/dashboard'
    return ctx.url
  }, DASHBOARD, { url: DASHBOARD }],
  ['should stay in step with parseurl, which other middleware uses', ctx => {
    const seen = [parseurl(ctx.req).query]
    ctx.querystring = 'foo=baz'
    seen.push(parseurl(ctx.req).query)
    ctx.path = '/logout'
    return [...seen, parseurl(ctx.req).pathname]
  }, ['foo=bar', 'foo=baz', '/logout'], { url: '/login?foo=bar' }],
  ["should be '' when req is gone", ctx => {
    ctx.request.req = null
    return ctx.querystring
  }, '', { url: '/?a=1', req: {} }]
])

rows('ctx.URL', [
  ['should be a WHATWG URL of the request', ({ URL }) => [URL instanceof globalThis.URL, URL.href],
    [true, 'http://localhost:3000/users/1?next=/dash'], { url: '/users/1?next=/dash', headers: { host: 'localhost:3000' } }],
  ['should know IPv6', ctx => ctx.URL.host, '[::1]:3000', { headers: { host: '[::1]:3000' } }],
  ['should be memoised', ctx => {
    const { URL } = ctx
    ctx.req.url = '/changed'
    return ctx.URL === URL && ctx.request.URL === URL
  }, true],
  ...[['invalid host', { req: {} }], ['[invalidIPv6]']].map(([host, more]) => [`should be an empty object without a prototype for '${host}'`,
    ({ URL }) => [Object.getPrototypeOf(URL), Object.keys(URL)], [null, []], { headers: { host }, skip: asSent, ...more }])
])

rows('ctx.href', ctx => ctx.href, [
  ['should be the whole url', { host: 'a.example:81' }, 'http://a.example:81/foo?bar=1', { url: '/foo?bar=1' }],
  ['should be an absolute-form target of the same host as it stands', { host: 'example.com' }, 'http://example.com/foo',
    { url: 'http://example.com/foo', skip: { http2: 'has no absolute form', inject: 'takes a path' } }]
])

rows('ctx.href and ctx.origin', ctx => {
  ctx.url = '/foo/bar'
  return [ctx.href, ctx.origin, ctx.request.origin]
}, [
  ['should stay the same when the url is rewritten', { host: 'a.example:81' },
    ['http://a.example:81/users?a=1', 'http://a.example:81', 'http://a.example:81'], { url: '/users?a=1' }],
  ['should believe a trusted proxy', { host: 'a.example', 'x-forwarded-proto': 'https' },
    ['https://a.example/', 'https://a.example', 'https://a.example'], PROXY],
  ['should not be the Origin header', { host: 'a.example', origin: 'http://evil.com' },
    ['http://a.example/', 'http://a.example', 'http://a.example']],
  ['should say https over TLS', { host: 'a.example' }, ['https://a.example/', 'https://a.example', 'https://a.example'],
    { req: { socket: { encrypted: true } } }]
])

// ---- method

rows('ctx.method and ctx.idempotent', ctx => [ctx.method, ctx.idempotent, ctx.request.idempotent], [
  ...['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS'].map(method => [`should be ${method}, true`, '/', [method, true, true], { method }]),
  ...['POST', 'PATCH', 'SEARCH'].map(method => [`should be ${method}, false`, '/', [method, false, false], { method }]),
  ...['get', ''].map(method => [`should be '${method}', false`, '/', [method, false, false], { req: { method } }]),
  ['should be TRACE, true', '/', ['TRACE', true, true], { req: { method: 'TRACE' } }]
])

rows('ctx.method=', [
  ['should follow req.method and set it', ctx => {
    ctx.req.method = 'POST'
    const seen = [ctx.method]
    ctx.method = 'DELETE'
    return [...seen, ctx.req.method, ctx.request.method]
  }, ['POST', 'DELETE', 'DELETE']]
])

// ---- host

rows('ctx.host', ctx => ctx.host, [
  ['should be the Host header', { host: 'example.com' }, 'example.com'],
  ['should have its port', { host: 'example.com:3000' }, 'example.com:3000'],
  ['should keep IPv6', { host: '[::1]:3000' }, '[::1]:3000'],
  ["should be '' without a Host header", {}, '', noHost],
  ['should ignore X-Forwarded-Host without trust', { 'x-forwarded-host': 'evil.com', host: 'example.com' }, 'example.com'],
  ['should take the first X-Forwarded-Host when proxies are trusted',
    { 'x-forwarded-host': 'bar.com, baz.com', host: 'example.com' }, 'bar.com', PROXY],
  ['should be the Host header when proxies are trusted and send nothing', { host: 'example.com' }, 'example.com', PROXY],
  ['should prefer :authority of HTTP/2 to Host', { ':authority': 'a.com:3000', host: 'b.com' }, 'a.com:3000', { req: H2 }],
  ['should be Host in HTTP/2 without :authority', { host: 'b.com' }, 'b.com', { req: H2 }],
  ['should prefer a trusted X-Forwarded-Host to :authority',
    { 'x-forwarded-host': 'c.com', ':authority': 'a.com', host: 'b.com' }, 'c.com', { req: H2, ...PROXY }],
  ['should prefer :authority to one that is not trusted',
    { 'x-forwarded-host': 'c.com', ':authority': 'a.com', host: 'b.com' }, 'a.com', { req: H2 }]
])

rows('ctx.host, later', [
  ['should read app.proxy at every access', ctx => [false, true, false].map(proxy => {
    ctx.app.proxy = proxy
    return ctx.host
  }), ['a.com', 'b.com', 'a.com'], { headers: { host: 'a.com', 'x-forwarded-host': 'b.com' } }],
  ['should follow a Host and a version that change', ctx => {
    ctx.req.headers.host = 'c.com'
    const seen = [ctx.host]
    ctx.req.httpVersionMajor = 2
    return [...seen, ctx.host]
  }, ['c.com', 'a.com'], { headers: { ':authority': 'a.com', host: 'b.com' }, req: {} }]
])

describe('ctx.host', () => {
  it('should not let userinfo in front pass for the host', () => {
    assert(['', 'evil.com'].includes(context({ headers: { host: 'good.com@evil.com' } }).host))
    assert(!context({ headers: { host: 'user:pass@evil.com:80' } }).host.includes('@'))
  })
})

rows('ctx.hostname', ctx => ctx.hostname, [
  ['should be the host without its port', { host: 'example.com:3000' }, 'example.com'],
  ["should be '' without a Host header", {}, '', noHost],
  ['should keep the brackets of an IPv6 address', { host: '[::1]:3000' }, '[::1]'],
  ['should shorten an IPv6 address', { host: '[2001:cdba:0000:0000:0000:0000:3257:9652]:3000' }, '[2001:cdba::3257:9652]'],
  ["should be '' for a broken IPv6 address", { host: '[invalidIPv6]' }, '', { skip: asSent }],
  ["should be '' for one without its end", { host: '[::1' }, '', { skip: asSent }],
  ['should follow trust in X-Forwarded-Host', { 'x-forwarded-host': 'bar.com:80, baz.com', host: 'foo.com' }, 'bar.com', PROXY],
  ['should not follow it without', { 'x-forwarded-host': 'bar.com:80, baz.com', host: 'foo.com' }, 'foo.com']
])

rows('ctx.subdomains', ctx => ctx.subdomains, [
  ['should list what stands before the domain, nearest first', { host: 'tobi.ferrets.example.com:3000' }, ['ferrets', 'tobi']],
  ['should be empty for the domain', { host: 'example.com' }, []],
  ['should follow app.subdomainOffset', { host: 'tobi.ferrets.example.com' }, ['tobi'], { app: { subdomainOffset: 3 } }],
  ['should be empty for an address', { host: '127.0.0.1:3000' }, []],
  ['should be empty for an IPv6 address', { host: '[::1]:3000' }, []],
  ['should be empty without a host', {}, [], noHost]
])

rows('ctx.subdomains, with another offset', ctx => {
  ctx.app.subdomainOffset = 0
  return ctx.subdomains
}, [['should be all of the host', { host: 'tobi.example.com' }, ['com', 'example', 'tobi']]])

rows('ctx.protocol and ctx.secure', ctx => [ctx.protocol, ctx.secure], [
  ['should be http', {}, ['http', false]],
  ['should be https over TLS', {}, ['https', true], { req: { socket: { encrypted: true } } }],
  ['should believe a trusted X-Forwarded-Proto', { 'x-forwarded-proto': 'https' }, ['https', true], PROXY],
  ['should believe the first of several', { 'x-forwarded-proto': 'http, https' }, ['http', false], PROXY],
  ['should be http when it is empty', { 'x-forwarded-proto': '' }, ['http', false], PROXY],
  ['should be http when a trusted proxy sends none', {}, ['http', false], PROXY],
  ['should not believe one that is not trusted', { 'x-forwarded-proto': 'https' }, ['http', false]]
])

// ---- client

const FORWARDED = { 'x-forwarded-for': '10.0.0.1, 10.0.0.2,10.0.0.3' }
const NAMED = { 'x-client-ip': '10.0.0.1,10.0.0.2' }
const named = proxy => ({ app: { proxy, proxyIpHeader: 'X-Client-IP' } })

rows('ctx.ips', ctx => ctx.ips, [
  ['should be empty unless proxies are trusted', FORWARDED, []],
  ['should be empty without the header', {}, [], PROXY],
  ['should list the addresses from the client to the last proxy', FORWARDED, ['10.0.0.1', '10.0.0.2', '10.0.0.3'], PROXY],
  ['should read the header named by proxyIpHeader', NAMED, ['10.0.0.1', '10.0.0.2'], named(true)],
  ['should read it of trusted proxies only', NAMED, [], named(false)],
  ['should read no other header then', FORWARDED, [], named(true)],
  ['should keep the last maxIpsCount', FORWARDED, ['10.0.0.3'], { app: { proxy: true, maxIpsCount: 1 } }],
  ['should keep all when there are fewer', FORWARDED, ['10.0.0.1', '10.0.0.2', '10.0.0.3'], { app: { proxy: true, maxIpsCount: 9 } }],
  ['should be empty without trust, whatever maxIpsCount is', FORWARDED, [], { app: { maxIpsCount: 1 } }]
])

rows('ctx.ips, later', [
  ['should read the options of the app at every access', ctx => {
    const seen = [ctx.ips.length]
    for (const settings of [{ proxy: true }, { maxIpsCount: 1 }, { proxyIpHeader: 'X-Other' }]) {
      seen.push(Object.assign(ctx.app, settings) && ctx.ips.length)
    }
    return seen
  }, [0, 3, 1, 0], { headers: FORWARDED }]
])

rows('ctx.ip', ctx => [ctx.ip, ctx.request.ip], [
  ['should be the address of the socket', {}, ['::1', '::1'], { req: { socket: { remoteAddress: '::1' } } }],
  ["should be '' on a socket without an address", {}, ['', ''], { req: { socket: {} } }],
  ['should be the first of ctx.ips when proxies are trusted', FORWARDED, ['10.0.0.1', '10.0.0.1'], PROXY]
])

rows('ctx.ip, later', [
  ['should be the peer', ctx => ctx.ip.replace('::ffff:', ''), '127.0.0.1'],
  ['should be settable', ctx => {
    ctx.request.ip = '127.0.0.9'
    return [ctx.ip, ctx.request.ip]
  }, ['127.0.0.9', '127.0.0.9']],
  ['should be memoised, so that it is known when the socket is gone', ctx => {
    const { ip, socket } = ctx
    Object.defineProperty(socket, 'remoteAddress', { value: 'gone', configurable: true })
    return ip === ctx.ip
  }, true]
])

rows('ctx.socket', [
  ['should be that of req, an object', ctx => [typeof ctx.socket, ctx.socket === ctx.req.socket, ctx.request.socket === ctx.socket,
    !!ctx.socket.encrypted], ['object', true, true, false], { skip: { http2: 'has a proxy of it' } }],
  ['should be one that is put there later', ctx => {
    ctx.req.socket = { encrypted: true }
    return [ctx.socket === ctx.req.socket, ctx.protocol]
  }, [true, 'https'], { req: {} }],
  ['should be followed by what depends on it, as the version is', ctx => {
    const { socket } = ctx.req
    const seen = [ctx.secure]
    ctx.req.socket = { encrypted: true, remoteAddress: '10.0.0.1' }
    seen.push(ctx.secure, ctx.ip, ctx.origin)
    ctx.req.httpVersionMajor = 2
    ctx.req.headers[':authority'] = 'two.example'
    seen.push(ctx.host)
    ctx.req.httpVersionMajor = 1
    ctx.req.socket = socket
    return [...seen, ctx.host]
  }, [false, true, '10.0.0.1', 'https://one.example', 'two.example', 'one.example'],
  { headers: { host: 'one.example' }, skip: { http2: 'node’s Http2ServerRequest has no setter for socket' } }]
])

// ---- headers

const CUSTOM = { headers: { 'x-custom': 'one', cookie: 'a=1' } }

rows('ctx.header and ctx.headers', [
  ['should be one object, that of req', ({ header, headers, req, request }) =>
    [header, headers, request.header, request.headers].every(one => one === req.headers), true, CUSTOM],
  ['should let ctx.get() see a field that the app set or removed', ctx => {
    const before = ctx.get('x-custom')
    ctx.headers['x-custom'] = 'two'
    ctx.req.headers['x-new'] = 'new'
    delete ctx.header.cookie
    return [before, ctx.get('x-custom'), ctx.get('x-new'), ctx.get('cookie')]
  }, ['one', 'two', 'new', ''], CUSTOM],
  ...['header', 'headers'].map(name => [`should let an object in place of request.${name} win everywhere, also in a later req`, ctx => {
    const headers = ctx.request[name] = { host: 'else.where', accept: 'text/html' }
    return [ctx.header === headers, ctx.headers === headers, ctx.host, ctx.get('x-custom'), ctx.accepts('json', 'html'),
      ctx.req.headers === headers]
  }, [true, true, 'else.where', '', 'html', true], { ...CUSTOM, skip: { http2: 'node’s Http2ServerRequest has no setter for headers' } }])
])

rows('ctx.get(name)', [
  ['should be the header, whatever the case of its name',
    ctx => [ctx.get('X-CUSTOM'), ctx.get('x-custom'), ctx.request.get('X-Custom')], ['a, b', 'a, b', 'a, b'],
    { headers: { 'x-custom': 'a, b' } }],
  ["should be '' when the header is missing", ctx => [ctx.get('x-missing'), ctx.get(''), ctx.get('referrer')], ['', '', '']],
  ['should take referer and referrer for one', ctx => [ctx.get('referer'), ctx.get('Referrer')], ['http://a/', 'http://a/'],
    { headers: { referer: 'http://a/' } }],
  ['should take referrer for referer', ctx => ctx.get('referer'), 'http://a/', { headers: { referrer: 'http://a/' } }],
  ['should have all cookies', ctx => ctx.get('cookie'), 'a=1; b=2', { headers: { cookie: 'a=1; b=2' } }],
  ['should have a list where node has one', ctx => ctx.get('Set-Cookie'), ['x=1'], { headers: { 'set-cookie': ['x=1'] } }],
  ['should not take undefined for a name', ctx => ctx.get(undefined), TypeError],
  ['should not take a number for a name', ctx => ctx.get(1), TypeError]
])

const is = (title, expected, type, ...args) => [title, ctx => ctx.is(...args), expected,
  { method: 'POST', body: 'x', headers: { 'content-type': type, 'content-length': '1' } }]

rows('ctx.is()', [
  ['should be null without a body', ctx => ctx.is('image/*'), null, { headers: { 'content-type': 'text/html' } }],
  ['should be null without a body and a type', ctx => ctx.is(), null],
  is('should be false for an empty type', false, '', 'image/*'),
  is('should be false for what is not a type', false, 'text', 'text/*'),
  is('should be the type when none is asked for', 'text/html', 'text/html; charset=utf-8'),
  is('should be the match in the form it was asked for: png', 'png', 'image/png', 'png'),
  is('should be .png', '.png', 'image/png', '.png'),
  is('should be the type of a wildcard', 'image/png', 'image/png', 'text/*', 'image/*'),
  is('should take a list', 'image/png', 'image/png', ['application/*', 'image/png']),
  is('should be false for another type', false, 'image/png', 'jpeg', 'text/*'),
  is('should know urlencoded', 'urlencoded', 'application/x-www-form-urlencoded', 'json', 'urlencoded')
])

rows('req.length', ctx => ctx.request.length, [
  ['should be a number', { 'content-length': '1' }, 1, { method: 'POST', body: 'x' }],
  ['should be 0', { 'content-length': '0' }, 0, { method: 'POST', body: '' }],
  ['should be undefined without a Content-Length', {}, undefined],
  ['should be undefined for an empty one', { 'content-length': '' }, undefined, { req: {} }]
])

rows('req.type and req.charset', ({ request }) => [request.type, request.charset], [
  ['should be the content type and its parameter', { 'content-type': 'text/plain; charset=utf-8' }, ['text/plain', 'utf-8']],
  ['should take a quoted charset', { 'content-type': 'text/plain; charset="ISO-8859-1"' }, ['text/plain', 'ISO-8859-1']],
  ["should be '' without a charset", { 'content-type': 'image/png' }, ['image/png', '']],
  ["should be '' without a type", {}, ['', '']],
  ["should be '' when the type cannot be parsed", { 'content-type': '/' }, ['/', '']],
  ["should be '' for two types", { 'content-type': 'application/json; application/text; charset=utf-8' }, ['application/json', '']]
])

// ---- negotiation

const accepts = (title, expected, accept, ...types) => [title, ctx => ctx.accepts(...types), expected,
  { headers: accept === undefined ? {} : { accept } }]

rows('ctx.accepts()', [
  accepts('should list what the client accepts, best first', ['text/html', 'text/plain', 'image/jpeg', 'application/*'],
    'application/*;q=.2, image/jpeg;q=.8, text/html, text/plain'),
  accepts('should be everything without an Accept header', ['*/*']),
  accepts('should be the best match', 'json', 'text/plain;q=.5, application/json', 'json', 'text'),
  accepts('should take a list', 'json', 'text/plain;q=.5, application/json', ['text', 'json']),
  accepts('should be the match in the form it was asked for', '.json', 'text/plain;q=.5, application/json', '.json', 'text'),
  accepts('should be the type that was asked for', 'text/plain', 'text/plain;q=.5, application/json', 'png', 'text/plain', 'html'),
  accepts('should be false without a match', false, 'text/plain;q=.5, application/json', 'image/png', 'png'),
  accepts('should be false for a field that is not a type', false, 'foo', 'text/plain'),
  accepts('should be the first without an Accept header', 'text', undefined, 'text', 'html'),
  accepts('should be the first for an empty one', 'image/png', '', 'image/png', 'html'),
  accepts('should know a wildcard of subtypes', 'html', 'text/*;q=.5, application/json', 'html'),
  accepts('should know that of all types', 'html', '*/*', 'html'),
  accepts('should know that others do not match one', false, 'image/*', 'html')
])

const GZIP = { headers: { 'accept-encoding': 'deflate;q=.2, gzip' } }
const UTF8 = { headers: { 'accept-charset': 'utf-8, iso-8859-1;q=0.2, utf-7;q=0.5' } }
const SPANISH = { headers: { 'accept-language': 'en;q=0.8, es, pt' } }

rows('ctx.acceptsEncodings(), acceptsCharsets(), acceptsLanguages()', [
  ['should list encodings, best first, identity included', ctx => ctx.acceptsEncodings(), ['gzip', 'deflate', 'identity'], GZIP],
  ['should list identity alone', ctx => ctx.acceptsEncodings(), ['identity']],
  ['should list identity alone for an empty field', ctx => ctx.acceptsEncodings(), ['identity'], { headers: { 'accept-encoding': '' } }],
  ['should be the best encoding', ctx => ctx.acceptsEncodings('deflate', 'gzip'), 'gzip', GZIP],
  ['should be the best of a list', ctx => ctx.request.acceptsEncodings(['deflate', 'identity']), 'deflate', GZIP],
  ['should be identity without the field', ctx => ctx.acceptsEncodings('gzip', 'deflate', 'identity'), 'identity'],
  ['should be false without identity', ctx => ctx.acceptsEncodings('gzip'), false, { headers: { 'accept-encoding': 'identity;q=0' } }],
  ['should list charsets, best first', ctx => ctx.acceptsCharsets(), ['utf-8', 'utf-7', 'iso-8859-1'], UTF8],
  ['should be the best charset', ctx => ctx.acceptsCharsets('utf-7', 'utf-8'), 'utf-8', UTF8],
  ['should be the best charset of a list', ctx => ctx.request.acceptsCharsets(['utf-7', 'iso-8859-1']), 'utf-7', UTF8],
  ['should be false for another charset', ctx => ctx.acceptsCharsets('utf-16'), false, UTF8],
  ['should be the first charset without the field', ctx => ctx.acceptsCharsets('utf-7', 'utf-8'), 'utf-7'],
  ['should list languages, best first', ctx => ctx.acceptsLanguages(), ['es', 'pt', 'en'], SPANISH],
  ['should be the best language', ctx => ctx.acceptsLanguages('es', 'en'), 'es', SPANISH],
  ['should be the best language of a list', ctx => ctx.request.acceptsLanguages(['fr', 'en']), 'en', SPANISH],
  ['should be false for another language', ctx => ctx.acceptsLanguages('fr', 'au'), false, SPANISH],
  ['should be the first language without the field', ctx => ctx.acceptsLanguages('es', 'en'), 'es']
])

const quoted = `text/plain;a="${','.repeat(400)}", application/json, text/html;b="${','.repeat(1000)}", image/png`

rows('ctx.accept', [
  ['should be an Accepts of the shared package, memoised', ctx => [ctx.accept instanceof Accepts, ctx.accept === ctx.request.accept],
    [true, true]],
  ['should be replaceable', ctx => {
    ctx.accept = new Accepts({ headers: { accept: 'application/*;q=.2, image/jpeg;q=.8, text/html' } })
    return [ctx.accepts(), ctx.request.accepts('html', 'json')]
  }, [['text/html', 'image/jpeg', 'application/*'], 'html'], { headers: { accept: 'text/plain' } }],
  ['should read no more than 1,024 characters of a field with quotes',
    ctx => [ctx.accepts('json', 'png'), ctx.accepts('png'), ctx.acceptsLanguages('en', 'de'), ctx.accept instanceof Accepts],
    ['json', false, 'de', true],
    { headers: { accept: quoted, 'accept-language': 'de' }, koa: 'reads it whole, in quadratic time' }],
  ['should take a long quoted text for no field', ctx => ctx.accepts('png', 'json'), 'png',
    { headers: { accept: `"${'x'.repeat(2000)}` }, koa: 'it reads it, and accepts nothing' }],
  ['should read a long field without quotes whole', ctx => ctx.accepts('json', 'png'), 'png',
    { headers: { accept: `${'text/x, '.repeat(1000)}image/png` } }]
])

// ---- freshness

const revalidated = { 'if-none-match': '"123"' }
const fresh = status => ctx => {
  ctx.status = status
  ctx.set('ETag', '"123"')
  return [ctx.fresh, ctx.stale]
}

rows('ctx.fresh and ctx.stale', [
  ...['GET', 'HEAD'].map(method => [`should be fresh for ${method}`, fresh(200), [true, false], { method, headers: revalidated }]),
  ['should be stale for POST', fresh(200), [false, true], { method: 'POST', headers: revalidated }],
  ...[204, 299, 304].map(status => [`should be fresh for ${status}`, fresh(status), [true, false], {
    headers: revalidated,
    ...(status === 299 && { req: {} })
  }]),
  ...[301, 400, 404, 500].map(status => [`should be stale for ${status}`, fresh(status), [false, true], { headers: revalidated }]),
  ['should be stale when the response does not match', fresh(200), [false, true], { headers: { 'if-none-match': '"999"' } }],
  ['should be stale for a forced reload', fresh(200), [false, true], { headers: { ...revalidated, 'cache-control': 'no-cache' } }],
  ['should compare Last-Modified', ctx => {
    ctx.status = 200
    ctx.lastModified = new Date(1e9)
    const before = ctx.fresh
    ctx.lastModified = new Date(3e9)
    return [before, ctx.fresh]
  }, [true, false], { headers: { 'if-modified-since': new Date(2e9).toUTCString() } }]
])

// ---- JSON

const EXAMPLE = { method: 'GET', url: '/example', header: { host: 'example.com' } }

rows('req.toJSON() and req.inspect()', [
  ['should have method, url and header', ({ request }) => [request.toJSON(), request.inspect(), JSON.stringify(request), inspect(request)],
    [EXAMPLE, EXAMPLE, JSON.stringify(EXAMPLE), inspect(EXAMPLE)], { url: '/example', headers: EXAMPLE.header, req: {} }],
  ['should leave out what is not there', ctx => ctx.request.toJSON(), { url: '/', header: {} }, { req: { method: undefined } }],
  ['should be undefined without req', ({ request }) => {
    delete request.req
    return [request.inspect(), inspect(request)]
  }, [undefined, 'undefined'], { req: {} }],
  ['should show the request of the wire', ({ request }) => {
    const { method, url, header } = JSON.parse(JSON.stringify(request))
    return [method, url, header['x-c']]
  }, ['GET', '/a?b', 'd'], { url: '/a?b', headers: { 'x-c': 'd' } }]
])
