'use strict'

const { isDeepStrictEqual } = require('node:util')
const { ask } = require('../../lib/run/verify')

/*
 * The request that each app of the lab gets, and the response that is expected.
 */

const PAGE = '<h2>Hello, ada</h2>\n<ul>\n  <li>a</li>\n  <li>b</li>\n  <li>&lt;c&gt;</li>\n</ul>\n'
const WHOLE = { plain: { greeting: 'Hello', user: 'ada', items: ['a', 'b', '<c>'] }, template: PAGE }

const text = body => ({ type: 'text/plain; charset=utf-8', body })
const hello = text('Hello World')
const form = JSON.stringify({ name: 'Ada', note: 'two hundred bytes of JSON'.padEnd(170, '.') })

/** Of the whole set. */
exports.wholeSet = kind => ({
  request: signedIn('/?callback=xxx'),
  expected: { status: 200, type: 'text/javascript; charset=utf-8', body: calls(WHOLE[kind]) }
})

/** Of each middleware alone. */
exports.QUESTIONS = {
  'nothing alone': { expected: hello },
  'jsonp alone': { request: { path: '/?callback=xxx' }, expected: { type: 'text/javascript; charset=utf-8', body: calls('Hello World') } },
  'router alone': { expected: hello },
  'router alone, last of 500': { request: { path: '/things/of/kind-500/1' }, expected: hello },
  'logger alone': { expected: hello },
  'static alone': { request: { path: '/hello.txt' }, expected: text(body => body.length === 100) },
  'bodyParser alone': { request: { method: 'POST', headers: { 'content-type': 'application/json' }, body: form }, expected: text('Ada') },
  'session alone': { request: signedIn('/'), expected: hello },
  'i18n alone': { request: { headers: { 'accept-language': 'en-GB,en;q=0.9' } }, expected: text('Hello') },
  'cors alone': { request: { headers: { origin: 'http://example.com' } }, expected: hello },
  'csrf and session': { request: signedIn('/'), expected: text(body => body.length > 20) },
  'helmet alone': { expected: hello },
  'favicon alone': { request: { path: '/favicon.ico' }, expected: { type: 'image/x-icon', body: body => body.length > 100 } },
  'template alone': { expected: { type: 'text/html; charset=utf-8', body: PAGE } },
  'compress alone': {
    request: { headers: { 'accept-encoding': 'gzip' } },
    expected: text((body, headers) => headers['content-encoding'] === 'gzip' && body.length > 50)
  },
  'conditionalGet alone': { request: { headers: { 'if-none-match': '"earlier"' } }, expected: hello },
  'etag alone': { expected: text((body, { etag }) => body === hello.body && etag !== undefined) },
  'rateLimit alone': { expected: hello },
  'requestId alone': { expected: text(body => body.length === 36) },
  'upload alone': {
    request: { method: 'POST', headers: { 'content-type': 'multipart/form-data; boundary=limit' }, body: multipart('x'.repeat(1000)) },
    expected: text('1000')
  },
  'health alone': { expected: hello },
  'isolate alone': { expected: hello },
  'metrics alone': { expected: hello },
  'sse alone': { expected: { type: 'text/event-stream; charset=utf-8', body: 'data: Hello World\n\n' } },
  'timeout alone': { expected: hello },
  'validate alone': { request: { path: '/?page=3' }, expected: text('3') }
}

/** Those for which Koa's users have no package that is commonly used: they are measured on kone alone. */
exports.WITHOUT_TWIN = new Set(['health', 'isolate', 'metrics', 'sse', 'timeout', 'validate'].map(name => `${name} alone`))

// A form with one file.
function multipart (content) {
  const part = 'Content-Disposition: form-data; name="file"; filename="a.txt"\r\nContent-Type: text/plain'
  return `--limit\r\n${part}\r\n\r\n${content}\r\n--limit--\r\n`
}

// A request with the cookie of somebody who has signed in.
function signedIn (path) {
  return async server => {
    let cookie = cookieOf(await ask(server.port, { path: '/login' }))
    // once more: a secret for the forms may come into the session with the first page
    cookie = cookieOf(await ask(server.port, { path, headers: { cookie } })) ?? cookie
    return { path, headers: { cookie } }
  }
}

function cookieOf ({ headers }) {
  return headers['set-cookie']?.map(line => line.split(';')[0]).join('; ')
}

// Whether a script calls xxx with this value; koa-jsonp writes `;` before the call, kone a comment.
function calls (value) {
  return function callsWith (body) {
    const argument = /^(?:;|\/\*\*\/)xxx\((.*)\);?$/s.exec(body)?.[1]
    return argument !== undefined && isDeepStrictEqual(JSON.parse(argument), value)
  }
}
