'use strict'

const assert = require('node:assert/strict')
const { once } = require('node:events')
const { setImmediate: turn } = require('node:timers/promises')

const { get, waitFor } = require('./sides')
const { BLANK_LINE, download, front, wire } = require('./wire')

const LARGE = 20 * 1024 * 1024

// Far shorter than a slow client takes for 20 MiB.
const impatient = { keepAliveTimeout: 60, keepAliveTimeoutBuffer: 60 }

const BODIES = {
  'a string': 'x'.repeat(LARGE),
  'a string beyond latin1': '€'.repeat(Math.ceil(LARGE / 3)),
  'a Buffer': Buffer.alloc(LARGE, 'x')
}

/** Some of the response is in the kernel's buffers, the rest waits for the client. */
const begun = sockets => waitFor(() => sockets.at(-1)?.bytesWritten > 0, 'the response')

wire('a client that reads slowly', ({ side, it, serve }) => {
  const app = body => app => app.use(ctx => { ctx.body = ctx.path === '/large' ? body : 'hello' })

  /** Other clients sit idle, one after another, until the server ends them: idle time has passed for everybody. */
  async function idleTimePasses (talk, times = 1) {
    for (let i = 0; i < times; i++) {
      const idle = await talk(get('/'))
      await idle.all()
    }
  }

  for (const [what, body] of Object.entries(BODIES)) {
    if (side === 'node:http' && what !== 'a Buffer') continue // it adds a second to every idle time
    it(`should get ${what} of 20 MiB whole, however short the keep-alive timeout`, async () => {
      const { talk, port, sockets } = await serve(app(body), impatient)
      const client = await download(port, get('/large'))
      await begun(sockets)
      await idleTimePasses(talk)
      client.resume()
      await client.received(LARGE)
      const [head] = client.first.split(BLANK_LINE)
      assert.equal(client.size, head.length + BLANK_LINE.length + Buffer.byteLength(body))
      client.destroy()
    })
  }

  it('should get it whole when it stops in the middle again and again', async () => {
    const { talk, port } = await serve(app(BODIES['a Buffer']), impatient)
    const client = await download(port, get('/large'))
    for (let part = 1; part <= 2; part++) {
      client.resume()
      await client.received(part * LARGE / 3)
      client.socket.pause()
      await idleTimePasses(talk)
    }
    client.resume()
    await client.received(LARGE)
    assert(client.size > LARGE, `${client.size} bytes`)
    client.destroy()
  })

  it('should get it whole when it is the last response of its connection', async () => {
    const { talk, port, sockets } = await serve(app(BODIES['a Buffer']), impatient)
    const client = await download(port, get('/large', 'Connection: close\r\n'))
    await begun(sockets)
    await idleTimePasses(talk)
    client.resume()
    await client.end()
    assert(client.size > LARGE, `${client.size} bytes`)
  })

  it('should get all of a pipelined batch', async () => {
    const { talk, port, sockets } = await serve(app('x'.repeat(LARGE / 20)), impatient)
    const client = await download(port, get('/large').repeat(20))
    await begun(sockets)
    await idleTimePasses(talk)
    client.resume()
    await client.received(LARGE)
    assert(client.size > LARGE, `${client.size} bytes`)
    client.destroy()
  })

  it('should be idle from the moment on in which the last byte was flushed', async () => {
    const { talk, port, sockets } = await serve(app(BODIES['a Buffer']), { keepAliveTimeout: 200, keepAliveTimeoutBuffer: 100 })
    const other = await talk() // connects first, has its response before the slow client has
    const client = await download(port, get('/large'))
    await begun(sockets)
    await idleTimePasses(talk)
    other.write(get('/'))
    await other.until(/hello$/)
    client.resume()
    await client.received(LARGE)
    assert(!client.ended)

    const [first, slow] = sockets
    if (!slow.destroyed) await once(slow, 'close')
    await turn() // both may have had the same time
    assert(first.destroyed, 'the connection that was idle before is still open')
  })
})

front('a client that reads slowly, and app.close()', ({ it, serve }) => {
  it('should get the response whole', async () => {
    const { app, port, sockets } = await serve(app => app.use(ctx => { ctx.body = BODIES['a Buffer'] }))
    const client = await download(port, get('/'))
    await begun(sockets)
    const closed = app.close({ grace: 0 })
    client.resume()
    await client.end()
    await closed
    assert(client.size > LARGE, `${client.size} bytes`)
  })
})
