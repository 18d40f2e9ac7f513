'use strict'

const assert = require('node:assert/strict')
const { it } = require('node:test')
const { long } = require('../helpers/share')
const demo = require('./demo')

demo('errors of the demo app', suite => {
  const { visit, signIn, submit, shoot } = suite
  const big = size => ({ name: 'big.bin', mimeType: 'a/b', buffer: Buffer.alloc(size) })

  /** The field with the focus is marked, and its message is what a screen reader reads with it. */
  async function assertMarked (page, id, message) {
    await page.locator(`#${id}:focus`).waitFor({ state: 'attached', timeout: 10000 }).catch(() => {}) // then it fails below
    const found = await page.evaluate(() => {
      const field = document.activeElement
      const ids = field.getAttribute('aria-describedby') || ''
      return {
        id: field.id,
        invalid: field.getAttribute('aria-invalid'),
        message: document.getElementById(ids)?.textContent
      }
    })
    assert.deepEqual(found, { id, invalid: 'true', message })
    assert.match(await page.title(), /^Error: /)
  }

  // What a form says when it is refused: [what, status, field, message, act]
  const forms = [
    ['a password that is wrong', 401, 'password', 'That is not the password of this name.', async page => {
      await signIn(page, 'Grace', 'the right one')
      await submit(page, 'text=Sign out')
      await page.waitForSelector('.who >> text=Sign in')
      await page.goto(`${suite.url}/sign-in`)
      await page.fill('#name', 'Grace')
      await page.fill('#password', 'the wrong one')
    }],
    ['a name with a forbidden character', 400, 'name', 'Use 1 to 32 letters, digits, spaces, dots, hyphens or underscores.', async page => {
      await page.goto(`${suite.url}/sign-in`)
      await page.fill('#name', 'Grace!')
      await page.fill('#password', 'long enough')
    }],
    ['a password that is too short', 400, 'password', 'Use 8 characters or more.', async page => {
      await page.goto(`${suite.url}/sign-in`)
      await page.evaluate('document.querySelector("main form").noValidate = true')
      await page.fill('#name', 'Grace')
      await page.fill('#password', 'short')
    }],
    ['an entry of spaces', 400, 'text', 'Write 1 to 500 characters.', async page => {
      await signIn(page, 'Blank')
      await page.fill('#text', '   ')
    }],
    ['a form without a file', 400, 'file', 'Choose a file.', async page => {
      await signIn(page, 'Forgetful')
      await page.goto(`${suite.url}/upload`)
      await page.evaluate('document.querySelector("main form").noValidate = true')
    }],
    ['a file that is too large', 413, 'file', 'This file is larger than 1 MB. Choose a smaller one.', async page => {
      await signIn(page, 'Collector')
      await page.goto(`${suite.url}/upload`)
      await page.setInputFiles('#file', big(1_000_001))
    }]
  ]

  for (const javaScriptEnabled of [true, false]) {
    for (const [what, status, field, message, act] of javaScriptEnabled ? forms : long(forms.slice(0, 1), forms)) {
      it(`should explain ${what} at the field${javaScriptEnabled ? '' : ', without JavaScript'}`, async () => {
        const page = await visit('/sign-in', { javaScriptEnabled })
        await act(page)
        const user = await page.locator('.who .name').count()
        const name = await page.locator('#name').count() ? await page.inputValue('#name') : null
        const response = await submit(page)
        assert.equal(response.status(), status)
        await assertMarked(page, field, message)
        // what was entered and who is signed in are kept
        if (name !== null) assert.equal(await page.inputValue('#name'), name)
        assert.equal(await page.locator('.who .name').count(), user)
        assert.equal(await page.locator('header >> text=Sign in').count(), 1 - user)
        await shoot(page, `error-${field}-${status}`)
      })
    }
  }

  it('should offer the sign-in, with 401, to a form that needs it', async () => {
    const page = await visit()
    await signIn(page, 'Gone')
    await page.context().clearCookies()
    await page.fill('#text', 'too late')
    const response = await submit(page)
    assert.equal(response.status(), 401)
    assert.equal(await page.textContent('[role=alert]'), 'Sign in first')
    assert.equal(await page.textContent('h1'), 'Sign in')
  })

  it('should explain on the form that there were too many attempts, with 429', async () => {
    const page = await visit('/sign-in')
    const send = () => page.evaluate(async () => {
      const res = await fetch('/sign-in', { method: 'POST', body: new URLSearchParams({ name: 'Eve!', password: 'a' }) })
      return res.status
    })
    const statuses = []
    for (let i = 0; i < 10; i++) statuses.push(await send())
    assert.deepEqual(statuses, Array(10).fill(400))
    await page.fill('#name', 'Eve')
    await page.fill('#password', 'long enough')
    const response = await submit(page)
    assert.equal(response.status(), 429)
    assert.match(response.headers()['retry-after'], /^\d+$/)
    assert.equal(await page.textContent('[role=alert]'), 'Too many attempts. Wait a minute, then try again.')
    assert.equal(await page.inputValue('#name'), 'Eve')
    assert.equal(await page.locator('header nav').count(), 1)
    await shoot(page, 'error-429')
  })

  // Pages for people: [what, path, options of fetch, status, heading, hint]
  const pages = [
    ['an unknown page', '/nowhere', {}, 404, 'There is no such page'],
    ['a path that cannot be decoded', '/%E0%A4%A', {}, 400, 'This request makes no sense to the server'],
    ['an unknown language', '/language/xx', {}, 404, 'There is no such page'],
    ['a method that a page does not have', '/sign-out', { method: 'GET' }, 405, 'This address does not accept that method'],
    ['a method that nothing has', '/', { method: 'PATCH' }, 405, 'This address does not accept that method'],
    ['an unknown theme', '/theme', form('theme=pink'), 400, 'This request makes no sense to the server'],
    ['malformed JSON', '/sign-in', json('{"name":'), 400, 'Your JSON is broken at line 1, column 9'],
    ['a method that a page does not have, of another site', '/', form('a=1', { origin: 'http://evil.example' }), 405,
      'This address does not accept that method'],
    ['an unknown page, of another site', '/nowhere', form('a=1', { origin: 'http://evil.example' }), 404, 'There is no such page'],
    ['multipart without a boundary', '/upload', { method: 'POST', body: 'x', headers: { 'content-type': 'multipart/form-data' } },
      400, 'This request makes no sense to the server'],
    ['a form that is too large', '/guestbook', form(`text=${'x'.repeat(1_100_000)}`), 413, 'That is too large'],
    ['a body in an unknown encoding', '/guestbook', form('text=x', { 'content-encoding': 'zip' }), 415, 'The server cannot read this format'],
    ['a form of another site', '/guestbook', form('text=x', { origin: 'http://evil.example' }), 403, 'This form was refused']
  ]

  for (const [what, path, options, status, heading] of pages) {
    it(`should have a page for ${what}, and JSON for programs`, async () => {
      const { res, text } = await send(path, options, 'text/html,application/xhtml+xml')
      assert.equal(res.status, status)
      assert.match(res.headers.get('content-type'), /^text\/html/)
      assert.match(text, new RegExp(`<h1>${heading}</h1>`))
      assert.match(text, new RegExp(`Error ${status}`))
      assert.match(text, /<nav /)
      if (status === 405) assert.match(res.headers.get('allow'), /^[A-Z]+(?:, [A-Z]+)*$/)

      const forProgram = await send(path, options, '*/*')
      assert.equal(forProgram.res.status, status)
      assert.equal(typeof JSON.parse(forProgram.text).error, 'string')
    })
  }

  // JSON of the API: [what, path, options, status, body]
  const responses = [
    ['an unknown path', '/api/nothing', {}, 404, { error: 'Not Found' }],
    ['an unknown entry', '/api/entries/0', {}, 404, { error: 'No such entry' }],
    ['an entry of a stranger', '/api/entries', json('{"text":"x"}'), 401, { error: 'Sign in first' }],
    ['an unknown function', '/rpc/nothing', json('[]'), 404, null],
    ['arguments that are not an array', '/rpc/latest', json('{}'), 400, null],
    ...['["x"]', '[null]', '[0]', '[-1]', '[1.5]', '[51]', '[{}]'].map(args =>
      [`arguments that do not fit: ${args}`, '/rpc/latest', json(args), 400, /^n: /]),
    ...['/rpc/latest', '/api/entries', '/sign-in'].map(path =>
      [`JSON that is broken: ${path}`, path, { ...json('{\n"a": ]'), accept: '*/*' }, 400, /^Your JSON is broken at line 2, column 6$/]),
    ['a callback that is not a name', '/api/ping?callback=1%2B1', {}, 400, null],
    ['a query that does not fit', '/api/entries?limit=99', {}, 400,
      { issues: [{ in: 'query', path: ['limit'], message: 'Too big: expected number to be <=50' }], status: 400, title: 'Bad Request', type: 'about:blank' }]
  ]

  for (const [what, path, options, status, body] of responses) {
    it(`should send JSON for ${what}`, async () => {
      const { res, text } = await send(path, options, options.accept ?? 'text/html')
      assert.equal(res.status, status)
      assert.match(res.headers.get('content-type'), /^application\/(?:problem\+)?json/)
      if (body === null) assert.equal(typeof JSON.parse(text).error, 'string')
      else if (body instanceof RegExp) assert.match(JSON.parse(text).error, body)
      else assert.deepEqual(JSON.parse(text), body)
    })
  }

  it('should show an error page escaped', async () => {
    const page = await visit('/%3Cscript%3Ealert(1)%3C/script%3E')
    assert.equal(await page.textContent('h1'), 'There is no such page')
    assert.equal(await page.locator('main script').count(), 0)
  })

  function form (body, headers) {
    return { method: 'POST', body, headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers } }
  }

  function json (body) {
    return { method: 'POST', body, headers: { 'content-type': 'application/json' } }
  }

  async function send (path, { headers, ...options }, accept) {
    const res = await fetch(suite.url + path, { headers: { origin: suite.url, ...headers, accept }, ...options })
    return { res, text: await res.text() }
  }
})
