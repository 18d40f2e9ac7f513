'use strict'

const assert = require('node:assert/strict')
const { once } = require('node:events')
const { setImmediate: turn } = require('node:timers/promises')

const { get, last, use, waitFor } = require('./sides')
const { BLANK_LINE, download, wire } = require('./wire')

const LARGE = 20 * 1024 * 1024

// Far shorter than a slow client takes for 20 MiB.
const impatient = { keepAliveTimeout: 60, keepAliveTimeoutBuffer: 60 }

const BUFFER = Buffer.alloc(LARGE, 'x')
const BODIES = {
  'a string': 'x'.repeat(LARGE),
  'a string beyond latin1': '€'.repeat(Math.ceil(LARGE / 3)),
  'a Buffer': BUFFER
}

/** Some of the response is in the kernel's buffers, the rest waits for the client. */
async function begin ({ port, sockets }, bytes) {
  const client = await download(port, bytes)
  await waitFor(() => sockets.at(-1)?.bytesWritten > 0, 'the response')
  return client
}

wire('a client that reads slowly', ({ side, it, serve }) => {
  const site = (body, options = impatient) => serve(use(ctx => { ctx.body = ctx.path === '/large' ? body : 'hello' }), options)

  /** Another client is idle until the server ends its connection: idle time has passed for everybody. */
  const idleTimePasses = ({ all }) => all(get('/'))

  /** A client that began to receive, and goes on behind the idle time. */
  async function late (site, bytes) {
    const client = await begin(site, bytes)
    await idleTimePasses(site)
    client.resume()
    return client
  }

  async function assertWhole (client, size = LARGE) {
    await client.received(LARGE)
    assert(client.size > size, `${client.size} bytes`)
    client.destroy()
  }

  for (const [what, body] of Object.entries(BODIES)) {
    if (side === 'node:http' && what !== 'a Buffer') continue // it adds a second to every idle time
    it(`should get ${what} of 20 MiB whole, however short the keep-alive timeout`, async () => {
      const client = await late(await site(body), get('/large'))
      await assertWhole(client)
      const [head] = client.first.split(BLANK_LINE)
      assert.equal(client.size, head.length + BLANK_LINE.length + Buffer.byteLength(body))
    })
  }

  it('should get it whole when it stops in the middle again and again', async () => {
    const one = await site(BUFFER)
    const client = await download(one.port, get('/large'))
    for (let part = 1; part <= 2; part++) {
      client.resume()
      await client.received(part * LARGE / 3)
      client.socket.pause()
      await idleTimePasses(one)
    }
    client.resume()
    await assertWhole(client)
  })

  it('should get it whole when it is the last response of its connection', async () => {
    const client = await late(await site(BUFFER), last('/large'))
    await client.end()
    await assertWhole(client)
  })

  it('should get all of a pipelined batch', async () => {
    await assertWhole(await late(await site('x'.repeat(LARGE / 20)), get('/large').repeat(20)))
  })

  it('should be idle from the moment on in which the last byte was flushed', async () => {
    const one = await site(BUFFER, { keepAliveTimeout: 200, keepAliveTimeoutBuffer: 100 })
    const other = await one.talk() // connects first, has its response before the slow client has
    const client = await begin(one, get('/large'))
    await idleTimePasses(one)
    await other.ask(get('/'))
    client.resume()
    await client.received(LARGE)
    assert(!client.ended)

    const [first, slow] = one.sockets
    if (!slow.destroyed) await once(slow, 'close')
    await turn() // both may have had the same time
    assert(first.destroyed, 'the connection that was idle before is still open')
  })
})
