'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { constants } = require('node:buffer')
const { setTimeout: wait } = require('node:timers/promises')

const until = require('../../helpers/until')
const { get } = require('./sides')
const { start } = require('./wire')

process.env.NODE_ENV = 'production' // of the processes that are measured: in development kone notes calls

const MB = 1024 * 1024
const TIMEOUT = 300000

/** Less than 64 KiB: one read. */
const REQUESTS = 2500
const MANY = 'GET / HTTP/1.1\r\nHost:a\r\n\r\n'.repeat(REQUESTS)

/** Ask until the app has handled what it is going to handle, and its memory stands still. */
async function settled (child) {
  let last = await child.ask('stats')
  for (let still = 0; still < 5; still++) {
    await wait(20)
    const now = await child.ask('stats')
    if (now.handled !== last.handled || Math.abs(now.rss - last.rss) > MB) still = 0
    last = now
  }
  return last
}

describe('2,500 pipelined requests, whose responses no string could hold together', () => {
  const page = { size: Math.ceil(constants.MAX_STRING_LENGTH / (REQUESTS - 100)) }
  const total = REQUESTS * page.size

  it('should all be sent to a client that reads them', { timeout: TIMEOUT }, async t => {
    const child = await start(t, 'front', 'page', page)
    const client = await child.download(MANY)
    client.resume()
    await client.received(total)
    assert(client.size > total, `${client.size} of ${total} bytes`)
    client.write(get('/', 'Connection: close\r\n'))
    await client.end()
    assert(client.size > total + page.size, 'the connection takes the next request')
    await until(async () => (await child.ask('stats')).sent === REQUESTS + 1)
  })

  it('should all be sent behind a stream', { timeout: TIMEOUT }, async t => {
    const child = await start(t, 'front', 'page', page)
    const client = await child.download(get('/stream') + MANY)
    client.resume()
    await settled(child)
    await child.ask('release')
    await client.received(total)
    assert(client.size > total, `${client.size} of ${total} bytes`)
    await until(async () => (await child.ask('stats')).sent === REQUESTS + 1)
    client.destroy()
  })

  for (const side of ['front', 'front, ctx.res touched']) {
    it(`should each be notified once when the client goes without having read, ${side}`, { timeout: TIMEOUT }, async t => {
      const child = await start(t, side, 'page', page)
      const client = await child.download(get('/stream') + MANY)
      await settled(child)
      await child.ask('release')
      await settled(child)
      client.reset()
      await until(async () => {
        const { handled, sent, lost } = await child.ask('stats')
        return handled === sent + lost
      })
      const { twice, errors } = await child.ask('stats')
      assert.equal(twice, 0)
      assert.deepEqual(errors.filter(code => code !== 'ECONNRESET' && code !== 'EPIPE'), [])

      const other = await child.download(get('/'))
      other.resume()
      await other.received(page.size)
      other.destroy()
    })
  }
})

describe('64 KiB of requests from a client that does not read', () => {
  /** Bytes that the process grew by for one such client. */
  async function cost (t, side, options, requests = MANY) {
    const child = await start(t, side, 'page', options)
    const first = await child.talk(get('/', 'Connection: close\r\n'))
    await first.all()
    const before = await child.ask('stats')
    const client = await child.download(requests)
    await until(async () => (await child.ask('stats')).handled > 1)
    await settled(child)
    await child.ask('release')
    const { rss } = await settled(child)
    client.destroy()
    return rss - before.rss
  }

  let allowed
  const reference = async t => (allowed ??= await cost(t, 'koa', { size: 100_000 }) + 16 * MB)

  for (const [what, type, requests] of [
    ['strings of 100 KB', 'string', MANY],
    ['Buffers of 100 KB', 'Buffer', MANY],
    ['strings of 100 KB behind a stream', 'string', get('/stream') + MANY]
  ]) {
    for (const side of ['front', 'front, ctx.res touched']) {
      it(`should cost no more than Koa's, ${what}, ${side}`, { timeout: TIMEOUT }, async t => {
        const koa = await reference(t)
        const bytes = await cost(t, side, { type, size: 100_000 }, requests)
        assert(bytes <= koa, `${bytes} bytes, ${koa} are allowed`)
      })
    }
  }
})
