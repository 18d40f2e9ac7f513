'use strict'

const { inspect } = require('node:util')
const statuses = require('statuses')

const rows = require('../helpers/rows')

const SENT = { res: { headersSent: true } }
const noReason = { http2: 'has no reason phrase' }

/** Runs `actions` on ctx, then reads a header field of the response. */
const field = (name, ...actions) => ctx => {
  for (const act of actions) act(ctx)
  return ctx.response.get(name)
}

/** The same for all fields. */
const fields = act => ctx => {
  act(ctx)
  return { ...ctx.response.header }
}

// ---- fields

rows('ctx.set()', [
  ['should set a field', field('x-foo', ctx => ctx.set('X-Foo', 'bar')), 'bar'],
  ...[[5, '5'], [undefined, 'undefined'], [null, 'null'], [false, 'false']].map(([value, text]) => [
    `should make text of ${value}`, field('x-foo', ctx => ctx.set('x-foo', value)), text]),
  ['should set several values', field('x-foo', ctx => ctx.set('x-foo', ['foo', 'bar', 123])), ['foo', 'bar', '123']],
  ['should set each of an object', fields(ctx => ctx.set({ foo: '1', Bar: 2, list: ['a', 3] })), { foo: '1', bar: '2', list: ['a', '3'] }],
  ['should do nothing for undefined and null', fields(ctx => ctx.set(ctx.set(undefined) ?? null)), {}],
  ['should do nothing when the headers are sent', field('x-foo', ctx => ctx.set('x-foo', 'bar'), ctx => ctx.set({ 'x-foo': 'bar' })), '', SENT]
])

rows('ctx.append()', [
  ['should set the first', field('x-foo', ctx => ctx.append('X-Foo', 'bar1')), 'bar1'],
  ['should add to it', field('x-foo', ctx => ctx.append('x-foo', 'bar1'), ctx => ctx.append('X-Foo', 'bar2'),
    ctx => ctx.response.append('x-foo', ['bar3', 4])), ['bar1', 'bar2', 'bar3', '4']],
  ['should start with several', field('Link', ctx => ctx.append('Link', ['<a>', '<b>']), ctx => ctx.append('Link', '<c>')), ['<a>', '<b>', '<c>']],
  ['should be undone by ctx.set()', field('Link', ctx => ctx.append('Link', '<a>'), ctx => ctx.set('Link', '<b>'),
    ctx => ctx.append('Link', '<c>')), ['<b>', '<c>']],
  ['should be undone by ctx.remove()', field('Link', ctx => ctx.append('Link', ['<a>', '<b>']), ctx => ctx.remove('Link'),
    ctx => ctx.append('Link', '<d>')), '<d>']
])

rows('ctx.remove()', [
  ['should remove a field, whatever the case of its name', fields(ctx => ctx.set('x-foo', 'bar') ?? ctx.remove('X-Foo')), {}],
  ['should do nothing when the headers are sent', ctx => {
    ctx.res._headers['x-foo'] = 'bar'
    ctx.remove('x-foo')
    return ctx.response.get('x-foo')
  }, 'bar', SENT]
])

rows('res.get() and ctx.has()', [
  ['should be the field, whatever the case of its name', ctx => {
    ctx.set('X-Foo', 'bar')
    return ['X-Foo', 'x-foo', 'x-FOO'].map(name => [ctx.response.get(name), ctx.has(name), ctx.response.has(name)])
  }, [['bar', true, true], ['bar', true, true], ['bar', true, true]]],
  ['should be an array for several values', field('set-cookie', ctx => ctx.set('Set-Cookie', ['a=1', 'b=2'])), ['a=1', 'b=2']],
  ["should be '' and false when it is not set", ctx => [ctx.response.get('x-foo'), ctx.has('x-foo')], ['', false]],
  ['should be true for an empty one', ctx => {
    ctx.set('X-Foo', '')
    return ctx.has('x-foo')
  }, true],
  ['should use hasHeader() of res', ctx => [ctx.has('only-this'), ctx.has('x-foo')], [true, false],
    { res: { hasHeader: name => name === 'only-this' } }]
])

rows('res.header and res.headers', [
  ['should have names in lower case and values as they were set', ctx => {
    ctx.set({ 'X-Foo': 'bar', 'X-List': ['a', 'b'], 'X-Number': 200 })
    return [{ ...ctx.response.header }, { ...ctx.response.headers }]
  }, Array(2).fill({ 'x-foo': 'bar', 'x-list': ['a', 'b'], 'x-number': '200' })],
  ['should be empty when a fake has none at all', ctx => {
    delete ctx.res._headers
    return [{ ...ctx.response.header }, { ...ctx.response.headers }]
  }, [{}, {}], { res: {} }]
])

rows('ctx.vary()', [
  ['should set, add, and add once', field('Vary', ctx => ctx.vary('Accept'), ctx => ctx.vary('Accept-Encoding'),
    ctx => ctx.response.vary('accept')), 'Accept, Accept-Encoding'],
  ['should take a list', field('Vary', ctx => ctx.vary(['Accept', 'Origin'])), 'Accept, Origin'],
  ['should keep *', field('Vary', ctx => ctx.vary('*'), ctx => ctx.vary('Accept')), '*'],
  ['should do nothing when the headers are sent', field('Vary', ctx => ctx.vary('Accept')), '', SENT],
  ['should refuse a field that is no name', ctx => ctx.vary('a b'), TypeError]
])

// ---- type, length, validators

rows('ctx.type=', [
  ...[
    ['html', 'text/html; charset=utf-8'],
    ['.html', 'text/html; charset=utf-8'],
    ['text', 'text/plain; charset=utf-8'],
    ['json', 'application/json; charset=utf-8'],
    ['png', 'image/png'],
    ['bin', 'application/octet-stream'],
    ['js', 'application/javascript; charset=utf-8'],
    ['text/plain', 'text/plain; charset=utf-8'],
    ['text/html; charset=foo', 'text/html; charset=foo'],
    ['application/json', 'application/json; charset=utf-8'],
    ['image/png', 'image/png'],
    ['application/vnd.custom+json', 'application/vnd.custom+json']
  ].map(([type, expected]) => [`should make '${expected}' of '${type}'`, ctx => {
    ctx.type = type
    return [ctx.response.get('Content-Type'), ctx.type, ctx.response.type]
  }, [expected, expected.split(';')[0], expected.split(';')[0]]]),
  ...['asdf', '', null, undefined, false].map(type => [`should remove the field for ${type === '' ? "''" : type}`, ctx => {
    ctx.type = 'json'
    ctx.type = type
    return [ctx.response.has('Content-Type'), ctx.type]
  }, [false, '']]),
  ["should be '' when it is missing", ctx => [ctx.type, ctx.response.type], ['', '']]
])

const typed = (type, ...types) => ({ response }) => {
  if (type) response.type = type
  return response.is(...types)
}

rows('res.is()', [
  ['should be false without a type', typed(''), false],
  ['should be false without a type for one', typed('', 'html'), false],
  ['should be the type when none is asked for', typed('text/html; charset=utf-8'), 'text/html'],
  ['should be the match in the form it was asked for', typed('image/png', 'png'), 'png'],
  ['should be .png', typed('image/png', '.png'), '.png'],
  ['should be the type of a wildcard', typed('image/png', 'text/*', 'image/*'), 'image/png'],
  ['should take a list', typed('image/png', ['text/*', 'png']), 'png'],
  ['should be false for another type', typed('image/png', 'jpeg'), false],
  ['should know urlencoded', typed('application/x-www-form-urlencoded', 'urlencoded'), 'urlencoded']
])

const withoutField = body => ctx => {
  ctx.body = body
  ctx.remove('Content-Length')
  return ctx.length
}

rows('ctx.length', [
  ...[['1024', 1024], ['0', 0], ['5px', 5], ['junk', 0]].map(([text, length]) => [`should be ${length} for '${text}'`, ctx => {
    ctx.set('Content-Length', text)
    return ctx.length
  }, length, { res: {} }]),
  ['should be counted from a string', withoutField('dès'), 4],
  ['should be counted from a Buffer', withoutField(Buffer.from('foo bar')), 7],
  ['should be counted from an object', withoutField({ hello: 'wörld' }), 18],
  ['should be counted from an array', withoutField([1, 2]), 5],
  ['should be undefined for nothing', ctx => ctx.length, undefined],
  ['should be undefined for null', withoutField(null), undefined]
])

rows('ctx.length=', [
  ['should set Content-Length', field('Content-Length', ctx => { ctx.length = 0 }), '0'],
  ['should not when Transfer-Encoding is there', ctx => {
    ctx.set('Transfer-Encoding', 'chunked')
    ctx.length = 1
    return [ctx.response.get('Content-Length'), ctx.length]
  }, ['', undefined], { res: {} }]
])

rows('ctx.etag', [
  ...[['"asdf"', '"asdf"'], ['W/"asdf"', 'W/"asdf"'], ['asdf', '"asdf"'], ['W/asdf', '"W/asdf"']].map(([tag, expected]) => [
    `should be ${expected} for ${tag}`, ctx => {
      ctx.response.etag = tag
      return [ctx.etag, ctx.response.get('ETag')]
    }, [expected, expected]]),
  ["should be '' when it is not set", ctx => ctx.etag, '']
])

const DATE = new Date('2024-05-06T07:08:09Z')

rows('ctx.lastModified', [
  ...[DATE, DATE.toISOString()].map(date => [`should take a ${typeof date}`, ctx => {
    ctx.lastModified = date
    return [ctx.lastModified, ctx.response.get('Last-Modified')]
  }, [DATE, 'Mon, 06 May 2024 07:08:09 GMT']]),
  ['should be undefined when it is not set', ctx => ctx.lastModified, undefined]
])

// ---- status

const statusOf = status => ctx => {
  ctx.status = status
  return [ctx.status, ctx.res.statusCode, ctx.message]
}

const refused = status => ctx => {
  try {
    ctx.status = status
  } catch ({ message }) {
    return message
  }
}

rows('ctx.status=', [
  ['should set the code and its message', statusOf(403), [403, 403, 'Forbidden']],
  ['should take a code that nobody knows, without a message', statusOf(700), [700, 700, undefined], { req: {} }],
  ['should set no reason in HTTP/2', ctx => {
    ctx.status = 200
    return ctx.res.statusMessage
  }, undefined, { req: { httpVersionMajor: 2, httpVersion: '2.0' } }],
  ...[99, 1000, 0, -1].map(code => [`should refuse ${code}`, refused(code), `invalid status code: ${code}`]),
  ...['200', 'forbidden', 200.5, NaN, null, undefined, {}].map(code => [
    `should refuse ${inspect(code)}`, refused(code), 'status code must be a number']),
  ['should do nothing when the headers are sent', ctx => {
    ctx.status = 500
    return ctx.status
  }, 200, { res: { headersSent: true, statusCode: 200 } }],
  ['should remember that it was explicit', ctx => {
    const before = ctx.response._explicitStatus
    ctx.status = 201
    ctx.body = 'hello'
    return [before, ctx.response._explicitStatus, ctx.status]
  }, [undefined, true, 201]],
  ...[204, 205, 304].map(code => [`should take the body and its headers away at ${code}`, ctx => {
    ctx.body = 'hello'
    ctx.set('Transfer-Encoding', 'chunked')
    ctx.status = code
    return [ctx.body, { ...ctx.response.header }]
  }, [null, {}], { skip: { http2: 'has no Transfer-Encoding' } }])
])

rows('ctx.message', [
  ['should be what was set', ctx => {
    ctx.status = 200
    ctx.message = 'ok'
    return [ctx.message, ctx.res.statusMessage, ctx.response.inspect().message]
  }, ['ok', 'ok', 'ok'], { skip: noReason }],
  ['should be the message of the status', ctx => {
    ctx.status = 200
    delete ctx.res.statusMessage
    return ctx.message
  }, 'OK', { res: {} }],
  ['should be what an app patched into statuses', ctx => {
    statuses[799] = 'Patched'
    try {
      ctx.status = 799
      return ctx.message
    } finally {
      delete statuses[799]
    }
  }, 'Patched', { res: {} }]
])

// ---- redirects

const redirect = (...args) => ctx => {
  ctx.redirect(...args)
  return [ctx.status, ctx.response.get('Location')]
}

rows('ctx.redirect(url)', [
  ['should set 302 and Location', redirect('http://google.com'), [302, 'http://google.com/']],
  ...[300, 301, 302, 303, 305, 307, 308].map(status => [`should keep ${status}`, ctx => {
    ctx.status = status
    return redirect('/')(ctx)
  }, [status, '/']]),
  ['should replace any other status', ctx => {
    ctx.status = 304
    return redirect('/')(ctx)
  }, [302, '/']],
  ['should encode the url', redirect('/ünï'), [302, '/%C3%BCn%C3%AF']],
  ['should encode it once', redirect('/a%20b c'), [302, '/a%20b%20c']],
  ['should encode what is no letter', redirect('http://google.com/😓'), [302, 'http://google.com/%F0%9F%98%93']],
  ['should not break out of the url’s authority', redirect('http://apple.com\\@evil.com/'), [302, 'http://apple.com/@evil.com/']],
  ...['/login', 'login', '?a=1', '#top', 'myapp://cb', '//cdn.example/x'].map(url => [`should take ${url}`, redirect(url), [302, url]]),
  ['should respond with html to those who accept it', ctx => {
    ctx.redirect('/a?b=<script>&c="')
    return [ctx.response.get('Content-Type'), ctx.body]
  }, ['text/html; charset=utf-8', 'Redirecting to /a?b=&lt;script&gt;&amp;c=&quot;.'], { headers: { accept: 'text/html' } }],
  ['should respond with text to the others', ctx => {
    ctx.type = 'html'
    ctx.redirect('/login')
    return [ctx.type, ctx.body]
  }, ['text/plain', 'Redirecting to /login.'], { headers: { accept: 'text/plain' } }]
])

const from = (referrer, more) => ({ headers: { host: 'example.com', ...(referrer && { referrer }) }, ...more })
const KOA3 = { koa: 'has no ctx.back()' }

rows("ctx.redirect('back', alt)", [
  ['should go where the client came from', redirect('back'), [302, '/login'], from('/login')],
  ['should go to a page of this host', redirect('back'), [302, 'http://example.com/list?a=2'], from('http://example.com/list?a=2')],
  ['should take referer for referrer', redirect('back'), [302, '/login'], { headers: { host: 'a', referer: '/login' } }],
  ['should go to alt without a referrer', redirect('back', '/index.html'), [302, '/index.html'], from()],
  ['should go to / without both', redirect('back'), [302, '/'], from()],
  ['should not follow a referrer of another host', redirect('back', '/home'), [302, '/home'], from('http://other.example/')],
  ['should not follow one without a scheme', redirect('back'), [302, '/'], from('//other.example/')]
])

const back = (...args) => ctx => {
  ctx.back(...args)
  return [ctx.status, ctx.response.get('Location')]
}

rows('ctx.back(alt)', [
  ['should go where the client came from', back(), [302, '/login'], from('/login', KOA3)],
  ['should go to a page of this host', back(), [302, 'http://example.com/list'], from('http://example.com/list', KOA3)],
  ['should go to alt without a referrer', back('/index.html'), [302, '/index.html'], from('', KOA3)],
  ['should go to / without both', back(), [302, '/'], from('', KOA3)],
  ...['http://other.example/', 'http://example.com:8080/', 'ftp://example.com/'].map(referrer => [
    `should not follow ${referrer}`, back('/home'), [302, '/home'], from(referrer, KOA3)]),
  ['should follow one of another scheme, because a proxy may end TLS', back(), [302, 'https://example.com/list'],
    from('https://example.com/list', KOA3)],
  ['should take the port of another scheme for none', back(), [302, 'https://example.com/'],
    { headers: { host: 'example.com:443', referrer: 'https://example.com/' }, ...KOA3 }]
])

// ---- attachment

const attached = (...args) => ctx => {
  ctx.attachment(...args)
  return ctx.response.get('Content-Disposition')
}

rows('ctx.attachment(filename, options)', [
  ['should say attachment without a name', attached(), 'attachment'],
  ['should say the name', attached('path/to/tobi.png'), 'attachment; filename="tobi.png"'],
  ['should quote it', attached('a "quoted" file.json'), 'attachment; filename="a \\"quoted\\" file.json"'],
  ['should encode a name that is not ASCII', attached('a-中文名-ok.txt'),
    'attachment; filename="a-???-ok.txt"; filename*=UTF-8\'\'a-%E4%B8%AD%E6%96%87%E5%90%8D-ok.txt'],
  ['should take the type of content-disposition', attached('plans.pdf', { type: 'inline' }), 'inline; filename="plans.pdf"'],
  ['should take its fallback', attached('中.txt', { fallback: 'x.txt' }),
    'attachment; filename="x.txt"; filename*=UTF-8\'\'%E4%B8%AD.txt'],
  ['should take no fallback', attached('€.txt', { fallback: false }), "attachment; filename*=UTF-8''%E2%82%AC.txt"],
  ['should refuse a type that is no text', attached('a', { type: 42 }), TypeError],
  ['should refuse a name that is no text', attached(42), TypeError],
  ['should set the type of the name', ctx => ctx.attachment('tobi.png') ?? ctx.type, 'image/png'],
  ['should keep a type already set', ctx => {
    ctx.type = 'text/csv'
    ctx.attachment('tobi.png')
    return ctx.type
  }, 'text/csv', { koa: 'it sets the type of the name' }]
])

// ---- state

rows('ctx.headerSent, ctx.writable and res.socket', ctx => [!!ctx.headerSent, ctx.writable, ctx.response.socket === ctx.res.socket], [
  ['should be false and true', '/', [false, true, true], { skip: { http2: 'has a proxy of the socket' } }],
  ['should be true without a socket: the response is queued', '/', [false, true, true], { res: { socket: null } }],
  ['should be what the socket says', '/', [false, false, true], { res: { socket: { writable: false } } }],
  ['should be false when the response has ended', '/', [true, false, true], { res: { headersSent: true, socket: null, writableEnded: true } }],
  ['should be false when an old response has finished', '/', [false, false, true], { res: { socket: null, finished: true } }]
])

// ---- JSON

const SHOWN = { status: 200, message: 'OK', header: { 'content-type': 'text/plain; charset=utf-8', 'content-length': '5' } }

rows('res.toJSON() and res.inspect()', [
  ['should have status, message and header, and inspect() the body, too', ctx => {
    ctx.body = 'hello'
    return [ctx.response.toJSON(), ctx.response.inspect(), inspect(ctx.response)]
  }, [SHOWN, { ...SHOWN, body: 'hello' }, inspect({ ...SHOWN, body: 'hello' })], { res: {} }],
  ['should be undefined without res', ({ response }) => {
    delete response.res
    return [response.inspect(), inspect(response)]
  }, [undefined, 'undefined'], { res: {} }]
])
