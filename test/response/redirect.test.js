'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')

const context = require('../helpers/context')
const engines = require('../helpers/engines')

const location = (url, { headers, alt } = {}) => {
  const ctx = context({ url: '/', headers: { host: 'example.com', ...headers } })
  ctx.redirect(...(alt === undefined ? [url] : [url, alt]))
  return ctx.response.header.location
}

describe('ctx.redirect(url)', () => {
  it('should set 302 and Location', () => {
    const ctx = context()
    ctx.redirect('http://google.com')
    assert.equal(ctx.status, 302)
    assert.equal(ctx.response.header.location, 'http://google.com/')
  })

  it('should keep a redirect status', () => {
    for (const status of [300, 301, 302, 303, 305, 307, 308]) {
      const ctx = context()
      ctx.status = status
      ctx.redirect('/')
      assert.equal(ctx.status, status)
    }
  })

  it('should replace any other status', () => {
    const ctx = context()
    ctx.status = 304
    ctx.redirect('/')
    assert.equal(ctx.status, 302)
  })

  it('should encode the url once', () => {
    assert.equal(location('/ünï'), '/%C3%BCn%C3%AF')
    assert.equal(location('/a%20b c'), '/a%20b%20c')
    assert.equal(location('http://google.com/😓'), 'http://google.com/%F0%9F%98%93')
  })

  it('should not break out of the url’s authority', () => {
    assert.equal(location('http://apple.com\\@evil.com/'), 'http://apple.com/@evil.com/')
  })

  it('should take relative urls and any scheme of an app', () => {
    for (const url of ['/login', 'login', '?a=1', '#top', 'myapp://cb', '//cdn.example/x']) {
      assert.equal(location(url), url)
    }
  })

  it('should respond with html to those who accept it', () => {
    const ctx = context({ headers: { accept: 'text/html' } })
    ctx.redirect('/a?b=<script>&c="')
    assert.equal(ctx.response.header['content-type'], 'text/html; charset=utf-8')
    assert.equal(ctx.body, 'Redirecting to /a?b=&lt;script&gt;&amp;c=&quot;.')
  })

  it('should respond with text to the others', () => {
    const ctx = context({ headers: { accept: 'text/plain' } })
    ctx.type = 'html'
    ctx.redirect('/login')
    assert.equal(ctx.type, 'text/plain')
    assert.equal(ctx.body, 'Redirecting to /login.')
  })
})

describe("ctx.redirect('back', alt)", () => {
  const from = referrer => ({ headers: { referrer } })

  it('should go where the client came from', () => {
    assert.equal(location('back', from('/login')), '/login')
    assert.equal(location('back', from('http://example.com/list?page=2')), 'http://example.com/list?page=2')
    assert.equal(location('back', { headers: { referer: '/login' } }), '/login')
  })

  it('should go to alt, or /, without a referrer', () => {
    assert.equal(location('back', { alt: '/index.html' }), '/index.html')
    assert.equal(location('back'), '/')
  })

  it('should not follow a referrer of another origin', () => {
    assert.equal(location('back', { ...from('http://other.example/'), alt: '/home' }), '/home')
    assert.equal(location('back', from('//other.example/')), '/')
  })
})

engines('ctx.redirect()', ({ it, ask }) => {
  it('should be on the wire', async () => {
    const res = await ask(app => app.use(ctx => {
      ctx.status = 301
      ctx.redirect('/login?next=ü')
    }), 'GET /', { headers: { accept: 'text/html' } })
    assert.equal(res.status, 301)
    assert.equal(res.headers.location, '/login?next=%C3%BC')
    assert.equal(res.headers['content-type'], 'text/html; charset=utf-8')
    assert.equal(res.text, 'Redirecting to /login?next=ü.')
  })

  it('should follow the referrer of the wire', async () => {
    const headers = { host: 'a.example', referer: 'http://a.example/list' }
    const res = await ask(app => app.use(ctx => ctx.redirect('back', '/home')), 'GET /', { headers })
    assert.equal(res.headers.location, 'http://a.example/list')
  })
})
