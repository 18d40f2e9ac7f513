'use strict'

const { describe, it: test } = require('node:test')
const assert = require('node:assert/strict')

const Koa = require('koa')

const Kone = require('../helpers/kone')
const context = require('../helpers/context')
const engines = require('../helpers/engines')
const share = require('../helpers/share')

/** The context of a request to `url`, and of an app with these options. */
const page = (url, headers, options, more) => context({ url, headers, ...more }, undefined, new Kone(options))

/** All that says whom a request is for. */
const parts = ctx => ({
  host: ctx.host,
  hostname: ctx.hostname,
  origin: ctx.origin,
  href: ctx.href,
  protocol: ctx.protocol,
  URL: ctx.URL.host === undefined ? undefined : { host: ctx.URL.host, hostname: ctx.URL.hostname }
})

/** The parts must not disagree: what is put together from them is no URL, or names this host. */
function agree (seen) {
  const { host, hostname, origin, href, protocol, URL: url } = seen
  for (const text of [host, hostname, origin, href]) assert.equal(typeof text, 'string')
  assert(['http', 'https'].includes(protocol))
  assert.equal(origin, `${protocol}://${host}`)
  assert(href === origin || [`${origin}/`, `${origin}?`].some(start => href.startsWith(start)))
  if (host === '') return assert.deepEqual([hostname, url], ['', undefined])

  assert.doesNotMatch(host, FOREIGN)
  assert.equal(url === undefined, hostname === '')
  if (url === undefined) return
  assert.match(host, /^(\[[\da-f:.]+\]|[\w.-]+)(:\d*)?$/i)
  assert.equal(url.hostname, hostname.toLowerCase())
  assert.equal(url.host, new URL(origin).host)
  assert.equal(new URL(href).host, url.host)
  assert.equal(new URL(href).username, '')
}

// RFC 3986, 3.2.2 and appendix A: neither in a name, nor in an address, nor in a port
const FOREIGN = /[\s/?#@\\<>"^{|}`\x00-\x20\x7f-\uffff]/ // eslint-disable-line no-control-regex

/** Spellings of Host: 36 that no host has, and 36 that only look so, or are. */
const SPELLINGS = [
  'evil.com/path', 'evil.com/', '/evil.com', '//evil.com', '/', 'evil.com?q', '?', 'evil.com#f', '#', 'evil.com\\x', '\\', '\\\\evil.com',
  'a b', 'good.com evil.com', 'a, b', 'a\tb', '<script>', '<a>', '<img src=x onerror=alert(1)>', '[<script>]', 'a"b', '"', 'a`b', '{a}', 'a|b', 'a^b',
  'a\x80b', '\xfcber.example', 'a\xa0b', 'user@host', 'good.com@evil.com', 'user:pass@evil.com:80', '@', 'http://evil.com', '[::1]/x', 'a/b@c',
  'javascript:alert(1)', ':80', ':', '*', 'a:99999', 'a:b', 'a:80:80', '::1', 'fe80::1:80', '[::1', '[::1]x', '[::1%25eth0]', '[]', 'a%00b', '%65vil.com',
  'a%2Fb', 'a%40b', '%', 'a;b', 'a=b', 'a&b', "a'b", 'a,b', ',evil.com', 'a.com,', 'a_b.example', 'a..b', '.', '256.256.256.256', '1.2.3.4.5', '0x7f.1',
  '127.1', '1', 'example.com', 'EXAMPLE.com:3000', 'example.com.', '[::1]:3000'
]

const TARGETS = ['/x/admin/secret.txt', '//x/admin', '/@x/admin', '/:80/x', '/a?b=//c', '/']

engines('a Host', ({ it, serve, engine }) => {
  /** What an app, its packages and its pages put together from a request. */
  const seenOf = ctx => {
    const { protocol, host, originalUrl, path } = ctx
    try {
      ctx.redirect(`${protocol}://${host}${originalUrl}`)
    } catch {} // no URL
    return {
      ...parts(ctx),
      path,
      joined: [`${protocol}://${host}${originalUrl}`, `${protocol}://${ctx.get('host') || host}${originalUrl}`, ctx.href, ctx.response.get('Location')]
    }
  }

  for (const [name, fieldsOf, app] of [
    ['Host', host => ({ host })],
    ['X-Forwarded-Host', host => ({ host: 'good.com', 'x-forwarded-host': host }), { proxy: true }]
  ]) {
    it(`should be nobody else's, nor the path, or a 400 before the middleware: ${name}`, async () => {
      const reached = []
      const errors = []
      const { ask } = await serve(app => {
        app.on('error', (err, ctx) => errors.push([err.code, err.status, typeof ctx.host]))
        app.use(ctx => {
          reached.push(ctx.url)
          ctx.body = seenOf(ctx)
          ctx.status = 200
        })
      }, app)

      for (const [i, host] of SPELLINGS.entries()) {
        for (const target of TARGETS.filter((_, at) => share(at === i % TARGETS.length, at % 3 === i % 3, true))) {
          const named = name === 'Host' ? host : host.split(',', 1)[0] || 'good.com'
          // the protocol may refuse it itself
          const res = await ask(`GET ${target}`, { headers: fieldsOf(host) }).catch(err => {
            assert(engine === 'http2' && FOREIGN.test(host), err)
          })
          const what = `${JSON.stringify(host)} ${target}`
          if (FOREIGN.test(named)) {
            assert.deepEqual([reached, res?.status ?? 400], [[], 400], what)
            if (res !== undefined) assert.deepEqual(errors.splice(0), [['KONE_ERR_HOST', 400, 'string']], what)
            continue
          }
          assert.deepEqual([res.status, reached.splice(0), errors], [200, [target], []], what)
          const seen = res.json()
          assert.equal(seen.host, named, what)
          agree(seen)
          for (const url of seen.joined) {
            if (!URL.canParse(url)) continue
            const parsed = new URL(url)
            const mine = [named, fieldsOf(host).host].filter(one => URL.canParse(`http://${one}`)).map(one => new URL(`http://${one}`).host)
            assert(mine.includes(parsed.host), `${what}: ${url}`)
            assert.equal(parsed.pathname, seen.path, `${what}: ${url}`)
          }
        }
      }
    })
  }

  it('should be ignored in X-Forwarded-Host without trust', async () => {
    const { ask } = await serve(app => app.use(ctx => { ctx.body = ctx.host }))
    assert.equal((await ask('GET /', { headers: { host: 'good.com', 'x-forwarded-host': 'a b' } })).text, 'good.com')
  })
})

describe('the ctx of createContext() alone', () => {
  for (const host of SPELLINGS.filter(host => !host.includes(','))) {
    test(`should have Koa's host: ${JSON.stringify(host)}`, () => {
      for (const [headers, options] of [[{ host }], [{ host: 'good.com', 'x-forwarded-host': host }, { proxy: true }]]) {
        assert.equal(page('/path?q', headers, options).host, context({ headers }, undefined, new Koa(options)).host)
      }
    })
  }
})

describe('a good Host', () => {
  for (const host of [
    'example.com', 'EXAMPLE.com', 'a-b.c_d.example', 'localhost:3000', 'example.com:80', 'example.com:', '127.0.0.1', '127.0.0.1:8080', '[::1]',
    '[::1]:3000', '[2001:db8::1]:443', 'xn--bcher-kva.example', 'example.com.'
  ]) {
    test(`should be kept: ${host}`, () => {
      const ctx = page('/a?b', { host })
      agree(parts(ctx))
      assert.equal(ctx.host, host)
      assert.equal(ctx.href, `http://${host}/a?b`)
    })
  }
})

describe('a target in absolute form', () => {
  /** What is seen of a target, which must agree with itself. */
  function seenFor (url, headers, options) {
    const seen = parts(page(url, { host: 'front.com', ...headers }, options))
    agree(seen)
    return seen
  }

  test('should name the authority, as RFC 9112 has it, whatever Host says', () => {
    for (const url of ['http://target.com/a?b', 'HTTP://target.com/a', 'http://target.com', 'http://target.com?x']) {
      assert.equal(seenFor(url).host, 'target.com')
    }
  })

  test('should not say https over a connection in the clear', () => {
    const { protocol, href } = seenFor('https://target.com/a')
    assert.equal(protocol, 'http')
    assert(href.startsWith('http://target.com/'))
  })

  test('should give way to the X-Forwarded-Host of a trusted proxy', () => {
    assert.equal(seenFor('http://target.com/a', { 'x-forwarded-host': 'proxy.com' }, { proxy: true }).host, 'proxy.com')
  })

  for (const url of [
    'http://good.com@evil.com/', 'http://', 'http:///a', 'http://a,b/', 'http://[::1/', 'http://:80/', '*', 'front.com:443', 'x', '', '?a', '#a', '//evil.com/a', '///evil.com',
    '/\\evil.com', '/a@b', 'ftp://evil.com/', 'javascript:alert(1)', '@evil.com', '.evil.com', ':80'
  ]) {
    test(`should agree with itself: ${JSON.stringify(url)}`, () => { seenFor(url) })
  }
})

describe('X-Forwarded-Proto', () => {
  for (const proto of [
    'https', 'HTTPS', 'http', 'ws', 'javascript', 'https://evil.com', '<script>', 'https, http', ' https ', ',', '', 'a b', 'file'
  ]) {
    test(`should give http or https, nothing else: ${JSON.stringify(proto)}`, () => {
      agree(parts(page('/', { host: 'a.com', 'x-forwarded-proto': proto }, { proxy: true })))
    })
  }
})

engines('a target in absolute form', ({ it, ask, see }) => {
  const skip = { http2: 'has no absolute form', inject: 'takes paths only', fetch: 'the URL of a Request is normalised' }

  it('should name the host', { skip }, async () => {
    const seen = await see(parts, 'GET http://target.com/a?b', { headers: { host: 'front.com' } })
    agree(seen)
    assert.equal(seen.host, 'target.com')
    assert.equal(seen.href, 'http://target.com/a?b')
    assert.equal(await see(ctx => ctx.path, 'GET http://target.com/a?b'), '/a')
    assert.equal(await see(ctx => ctx.query.b, 'GET http://target.com/a?b=c'), 'c')
  })

  it('should be a 400 where it names none', { skip }, async () => {
    const setup = app => app.use(ctx => { ctx.body = 'reached' })
    for (const target of ['http:///admin', 'http://user@target.com/', 'http://<a>/', 'http://a\\b/', 'HTTP://?admin']) {
      assert.equal((await ask(setup, `GET ${target}`, { headers: { host: 'front.com' } })).status, 400, target)
    }
  })
})
