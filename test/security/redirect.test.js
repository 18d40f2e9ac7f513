'use strict'

const { describe, it: test } = require('node:test')
const assert = require('node:assert/strict')

const context = require('../helpers/context')

/** What `go(ctx)` sends a page of own.com to. */
function sentTo (go, headers) {
  const ctx = context({ url: '/', headers: { host: 'own.com', ...headers } })
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
