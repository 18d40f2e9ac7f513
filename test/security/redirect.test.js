'use strict'

const { describe, it: test } = require('node:test')
const assert = require('node:assert/strict')

const context = require('../helpers/context')
const engines = require('../helpers/engines')

const page = headers => context({ url: '/', headers: { host: 'own.com', ...headers } })

const refused = [
  'javascript:alert(1)', 'JaVaScRiPt:alert(1)', ' javascript:alert(1)', '\tjavascript:alert(1)', 'java\nscript:alert(1)',
  'java\tscript:alert(1)', 'java\r\nscript:alert(1)', '\u0001javascript:alert(1)', 'javascript\u0000:alert(1)',
  '\u00a0javascript:alert(1)', 'javascript :alert(1)', 'data:text/html,<script>', 'DATA:x', ' data:x', 'vbscript:x',
  'vb script:x', undefined, null, '', 'http://', 'http://[', 'https://a b:c/', 'http://:80', 'http://%'
]

describe('ctx.redirect(url)', () => {
  for (const url of refused) {
    test(`should throw for ${JSON.stringify(url)} and leave the response as it was`, () => {
      const ctx = page()
      assert.throws(() => ctx.redirect(url), error => {
        assert(error instanceof Error)
        assert.equal(error.code, 'KONE_ERR_REDIRECT')
        assert.equal(error.expose, false)
        return true
      })
      assert.equal(ctx.response.has('Location'), false)
    })
  }

  for (const url of [
    '/', '/a', 'a', './a', '../a', '?a', '#a', '//other.com/a', 'myapp://cb', 'myapp://cb?code=1', 'com.example.app:/cb',
    'mailto:a@example.com', 'tel:+123', 'https://other.com/a', '/a?u=javascript:1', '/javascript:x', 'ws://a'
  ]) {
    test(`should take ${url}`, () => {
      const ctx = page()
      ctx.redirect(url)
      assert.equal(ctx.response.get('Location'), url)
    })
  }

  test('should take URL objects', () => {
    const ctx = page()
    ctx.redirect(new URL('https://other.com/a?b'))
    assert.equal(ctx.response.get('Location'), 'https://other.com/a?b')
  })

  test('should send no backslash for a browser to read as a slash behind another host', () => {
    const ctx = page()
    ctx.redirect('https://own.com\\@evil.com')
    assert.equal(new URL(ctx.response.get('Location')).host, 'own.com')
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
    for (const referrer of own) {
      test(`should go back to ${referrer} (${way})`, () => {
        const ctx = page({ referer: referrer })
        go(ctx)
        const location = ctx.response.get('Location')
        assert.notEqual(location, '/alt')
        assert.equal(new URL(location, 'http://own.com/').host, 'own.com')
      })
    }

    for (const referrer of foreign) {
      test(`should stay at home for ${JSON.stringify(referrer)} (${way})`, () => {
        const ctx = page({ referer: referrer })
        go(ctx)
        const location = ctx.response.get('Location')
        assert.equal(ctx.status, 302)
        // A browser reads it against the page it came from: it must not lead away.
        for (const base of ['http://own.com/', 'http://own.com/deep/er', 'https://own.com/']) {
          const url = new URL(location, base)
          assert.equal(url.host, 'own.com')
          assert.equal(url.username, '')
          assert.match(url.protocol, /^https?:$/)
        }
      })
    }

    test(`should stay at home when our own host is junk (${way})`, () => {
      for (const host of ['', '<b>', 'a/b', 'evil.com@own.com']) {
        const ctx = page({ host, referer: 'http://evil.com/' })
        go(ctx)
        assert.equal(ctx.response.get('Location'), '/alt')
      }
    })
  }

  test('should go to / without a fallback', () => {
    const ctx = page({ referer: 'http://evil.com/' })
    ctx.back()
    assert.equal(ctx.response.get('Location'), '/')
  })

  test('should refuse a fallback that is no target', () => {
    assert.throws(() => page().back('javascript:alert(1)'), { code: 'KONE_ERR_REDIRECT' })
  })
})

engines('redirects', ({ it, ask }) => {
  it('should be a 500 for what is refused, and tell the app', async () => {
    for (const url of ['javascript:alert(1)', undefined, 'http://[']) {
      const errors = []
      const res = await ask(app => {
        app.on('error', error => errors.push(error.code))
        app.use(ctx => ctx.redirect(url))
      }, 'GET /')
      assert.equal(res.status, 500)
      assert.equal(res.headers.location, undefined)
      assert.deepEqual(errors, ['KONE_ERR_REDIRECT'])
    }
  })

  it('should never be a 500 for a malformed referrer', async () => {
    for (const referer of ['http://[', '%', ':', 'http://:x', '////', '\\\\', 'javascript:x', 'a b']) {
      const res = await ask(app => app.use(ctx => ctx.back('/alt')), 'GET /',
        { headers: { host: 'own.com', referer } })
      assert.equal(res.status, 302)
    }
  })

  it('should encode line breaks and markup', async () => {
    const res = await ask(app => app.use(ctx => ctx.redirect(`/a\r\nX-Evil: 1?<script>"${ctx.path}`)), 'GET /x',
      { headers: { accept: 'text/html' } })
    assert.equal(res.headers['x-evil'], undefined)
    assert.doesNotMatch(res.text, /[<"]/)
  })
})
