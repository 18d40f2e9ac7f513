'use strict'

const { describe, it: test } = require('node:test')
const assert = require('node:assert/strict')
const fc = require('fast-check')
const Koa = require('koa')

const Kone3 = require('../../lib/koa3')
const Router = require('../../middleware/router')
const context = require('../helpers/context')
const Kone = require('../helpers/kone')
const share = require('../helpers/share')

/** What `go(ctx)` sends a page of own.com to. */
function sentTo (go, headers, app = new Kone()) {
  const ctx = context({ url: '/', headers: { host: 'own.com', ...headers } }, undefined, app)
  go(ctx)
  assert.equal(ctx.status, 302)
  return ctx.response.get('Location')
}

const refused = [
  'javascript:alert(1)', 'JaVaScRiPt:alert(1)', ' javascript:alert(1)', '\tjavascript:alert(1)', 'java\nscript:alert(1)',
  'java\tscript:alert(1)', 'java\r\nscript:alert(1)', '\u0001javascript:alert(1)', 'javascript\u0000:alert(1)',
  '\u00a0javascript:alert(1)', 'javascript :alert(1)', 'data:text/html,<script>', 'DATA:x', ' data:x', 'vbscript:x',
  'vb script:x', undefined, null, '', 'http://', 'http://[', 'https://a b:c/', 'http://:80', 'http://%'
]

describe('ctx.redirect(url)', () => {
  for (const url of refused) {
    test(`should throw for ${JSON.stringify(url)} and leave the response as it was`, () => {
      sentTo(ctx => {
        assert.throws(() => ctx.redirect(url), { code: 'KONE_ERR_REDIRECT', expose: false })
        assert.equal(ctx.response.has('Location'), false)
        ctx.status = 302
      })
    })
  }

  for (const url of [
    '/', '/a', 'a', './a', '../a', '?a', '#a', '//other.com/a', 'myapp://cb', 'myapp://cb?code=1', 'com.example.app:/cb',
    'mailto:a@example.com', 'tel:+123', 'https://other.com/a', '/a?u=javascript:1', '/javascript:x', 'ws://a'
  ]) {
    test(`should take ${url}`, () => assert.equal(sentTo(ctx => ctx.redirect(url)), url))
  }

  test('should take URL objects', () => {
    assert.equal(sentTo(ctx => ctx.redirect(new URL('https://other.com/a?b'))), 'https://other.com/a?b')
  })

  test('should send no backslash for a browser to read as a slash behind another host', () => {
    assert.equal(new URL(sentTo(ctx => ctx.redirect('https://own.com\\@evil.com'))).host, 'own.com')
  })
})

describe('where ctx.redirect(url) and ctx.back(url) lead', () => {
  const PIECES = [
    'http:', 'https:', 'HTTPS:', 'ws:', 'myapp:', '/', '/', '//', '\\', '\\', '.', '..', '?', '#', '@', ':', ':80', '[::1]', '%', '%5C', '%5c', '%2F',
    '%09', '%0', '%zz', '\t', '\n', '\r', '\0', '\u007f', ' ', '\u00a0', '\u2028', '\u3000', '\uff0f', '\uff3c', '\u2044', '\ud800', '😀', 'ü', '^', '|',
    '"', '<', '`', '{', "'", ';', 'own.com', 'evil.example', 'a', 'user:password@'
  ]
  const targets = fc.array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 8 }).map(pieces => pieces.join(''))
  const WAYS = {
    'redirect() of kone': [new Kone(), (ctx, url) => ctx.redirect(url)],
    'back() of kone': [new Kone(), (ctx, url) => ctx.back(url)],
    'redirect() of kone@3': [new Kone3(), (ctx, url) => ctx.redirect(url)]
  }
  const koa = new Koa()

  for (const base of ['https://own.com/deep/er', 'http://own.com/']) {
    /** The site that a browser opens; 'null' for none. */
    const siteOf = target => {
      try {
        return new URL(target, base).origin
      } catch {
        return 'null'
      }
    }
    const own = siteOf('/')

    for (const [way, [app, go]] of Object.entries(WAYS)) {
      const located = url => {
        try {
          return sentTo(ctx => go(ctx, url), {}, app)
        } catch (err) {
          if (err.code !== 'KONE_ERR_REDIRECT') throw err
        }
      }
      const numRuns = share(1000, 5000, 20000)

      test(`should be our site for /… but not //… (${way}, ${base})`, () => {
        fc.assert(fc.property(targets, rest => {
          const url = `/${rest}`
          if (url[1] !== '/') assert.equal(siteOf(located(url)), own)
        }), { numRuns })
      })

      test(`should be our site or the one that the target names, with Koa 2's Location where that is, too (${way}, ${base})`, () => {
        fc.assert(fc.property(targets, url => {
          const location = located(url)
          if (location === undefined) return
          const isSafe = location => [own, siteOf(url), 'null'].includes(siteOf(location))
          assert(isSafe(location), `${url} became ${location}`)
          if (/^(?!https?:\/\/)(?:\/\/|\w+:)[^]*\\/i.test(url)) return // Koa's may name another host, or none
          const koas = sentTo(ctx => ctx.redirect(url), {}, koa)
          if (isSafe(koas) && siteOf(koas) !== 'null') assert.equal(location, koas)
        }), { numRuns })
      })
    }
  }

  test('should be the same for a redirect of the router', async () => {
    const app = new Kone()
    app.use(new Router().redirect('/old', '/\\evil.example').routes())
    assert.equal((await app.inject('/old')).headers.location, '/%5Cevil.example')
  })

  test('should be as it is for a Location that the app sets', () => {
    assert.equal(sentTo(ctx => { ctx.status = 302; ctx.set('Location', '/\\a') }), '/\\a')
  })
})

describe("ctx.back() and ctx.redirect('back')", () => {
  const own = ['http://own.com/', 'http://own.com/a?b', 'http://own.com:80/a', 'HTTP://OWN.com/a', '/a', '/a?b=//c', 'a',
    'https://own.com/', 'https://own.com:443/a']
  const foreign = [
    'http://evil.com/', 'https://evil.com/', 'https://own.com:80/', 'http://own.com:8080/', 'http://own.com.evil.com/', 'http://own.com@evil.com/',
    'http://user:pass@own.com/', 'http://user@own.com/', '//evil.com/', '///evil.com', '/\\evil.com', '\\\\evil.com',
    '\\/evil.com', 'http:\\\\evil.com', 'http:evil.com', 'javascript:alert(1)', 'data:text/html,x', ' javascript:x',
    'ftp://own.com/', 'file:///etc/passwd', 'about:blank', 'http://', 'http://[', 'http://:x', ':', '%', 'http://own.com%00.evil.com/',
    '/%5c%5cevil.com/..//evil.com', '/..//evil.com', '/.//evil.com', 'android-app://own.com/'
  ]
  const ways = {
    'ctx.back(alt)': ctx => ctx.back('/alt'),
    "ctx.redirect('back', alt)": ctx => ctx.redirect('back', '/alt')
  }

  for (const [way, go] of Object.entries(ways)) {
    for (const referer of own) {
      test(`should go back to ${referer} (${way})`, () => {
        const location = sentTo(go, { referer })
        assert.notEqual(location, '/alt')
        assert.equal(new URL(location, 'http://own.com/').host, 'own.com')
      })
    }

    for (const referer of foreign) {
      test(`should stay at home for ${JSON.stringify(referer)} (${way})`, () => {
        const location = sentTo(go, { referer })
        // A browser reads it against the page it came from: it must not lead away.
        for (const base of ['http://own.com/', 'http://own.com/deep/er', 'https://own.com/']) {
          const { host, username, protocol } = new URL(location, base)
          assert.deepEqual([host, username], ['own.com', ''])
          assert.match(protocol, /^https?:$/)
        }
      })
    }

    test(`should stay at home when our own host is junk (${way})`, () => {
      for (const host of ['', '<b>', 'a/b', 'evil.com@own.com']) {
        assert.equal(sentTo(go, { host, referer: 'http://evil.com/' }), '/alt')
      }
    })
  }

  test('should go to / without a fallback', () => assert.equal(sentTo(ctx => ctx.back(), { referer: 'http://evil.com/' }), '/'))

  test('should refuse a fallback that is no target', () => {
    assert.throws(() => sentTo(ctx => ctx.back('javascript:alert(1)')), { code: 'KONE_ERR_REDIRECT' })
  })
})
