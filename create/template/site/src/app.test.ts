import { after, test } from 'node:test'
import assert from 'node:assert/strict'
import type Kone from 'kone'
import { createApp } from './app.ts'
import { redis } from './redis.ts'

after(() => redis?.disconnect())

const app = createApp({ quiet: true })

test('shows an empty guestbook', async () => {
  const page = await app.inject('/')
  assert.equal(page.status, 200)
  assert.match(page.text(), /Nobody was here yet/)
})

test('takes an entry and remembers the name', async () => {
  const visitor = await visit()
  const res = await visitor.sign({ name: 'Tobi', text: '<b>hi</b>' })
  assert.equal(res.status, 303)

  const page = (await app.inject({ url: '/', headers: { cookie: cookieOf(res) } })).text()
  assert.match(page, /<b>Tobi<\/b> &lt;b&gt;hi/)
  assert.match(page, /name="name" value="Tobi"/)
})

test('refuses an entry without text, or from elsewhere', async () => {
  const visitor = await visit()
  assert.equal((await visitor.sign({ name: 'Tobi', text: '' })).status, 400)
  assert.equal((await visitor.sign({ name: 'Tobi', text: 'hi', _csrf: 'guessed' })).status, 403)
})

test('refuses a name that is too long, and stores nothing', async () => {
  const visitor = await visit()
  assert.equal((await visitor.sign({ name: 'x'.repeat(4000), text: 'hi' })).status, 400)
  assert.equal((await visitor.sign({ 'name[a]': 'x', text: 'hi' })).status, 400)
  assert.doesNotMatch((await app.inject('/')).text(), /x{51}/)
})

test('sends its cookie by https alone, where there is https', async () => {
  const behindProxy = createApp({ quiet: true, https: true }).inject('/')
  const overTls = createApp({ quiet: true, https: false }).inject(new Request('https://app.example/'))
  for (const { headers } of await Promise.all([behindProxy, overTls])) assert.match(String(headers['set-cookie']), /; secure/)
})

test('serves the style', async () => {
  const style = await app.inject('/style.css')
  assert.equal(style.headers['content-type'], 'text/css; charset=utf-8')
})

test('has an icon, and requests nothing by https', async () => {
  const icon = await app.inject('/favicon.ico')
  assert.equal(icon.headers['content-type'], 'image/svg+xml')
  const { headers } = await app.inject('/')
  assert.doesNotMatch(String(headers['content-security-policy']), /upgrade-insecure-requests/)
})

/** A browser's first visit: its cookie, and the form's token. */
async function visit () {
  const page = await app.inject('/')
  const cookie = cookieOf(page)
  const [, token = ''] = /name="_csrf" value="(.+?)"/.exec(page.text()) ?? []

  return {
    sign: (fields: Record<string, string>) => app.inject({
      method: 'POST',
      url: '/entries',
      headers: { cookie, 'content-type': 'application/x-www-form-urlencoded' },
      body: String(new URLSearchParams({ _csrf: token, ...fields }))
    })
  }
}

function cookieOf (res: Kone.InjectResponse) {
  return (res.headers['set-cookie'] ?? []).map(line => line.split(';')[0]).join('; ')
}
