'use strict'

const assert = require('node:assert/strict')

const { get, holding, settled, use, waitFor } = require('./sides')
const { download, front } = require('./wire')

const LARGE = 20 * 1024 * 1024
const BUFFER = Buffer.alloc(LARGE, 'x')

front('a client that pipelines and does not read', ({ it, serve }) => {
  /** A site of large responses, with the targets of the requests that it has begun. */
  async function site (isHeld = () => false) {
    const begun = []
    const { setup, release } = holding(ctx => { ctx.body = BUFFER }, ctx => {
      begun.push(ctx.url)
      return isHeld(ctx)
    })
    return { ...await serve(setup), begun, release }
  }

  /** Sends requests of which the server must not begin the last one before `goOn()`. */
  async function assertStops ({ port, begun }, targets, goOn) {
    const client = await download(port, '')
    for (const target of targets) {
      client.write(get(target))
      // In a read of its own: a server that stops has handled the whole read.
      if (target !== targets.at(-1)) await waitFor(() => begun.includes(target), target)
    }
    await settled(() => begun.length)
    assert.deepEqual(begun, targets.slice(0, -1))
    goOn()
    client.resume()
    await client.received(targets.length * LARGE)
    assert.deepEqual(begun, targets)
    client.destroy()
  }

  // Reading stops with the request at which kone notices that too much is buffered; node:http begins one more at times.
  it('should not have a second request begun behind a response that it does not read', async () => {
    await assertStops(await site(), ['/large', '/next', '/held'], () => {})
  })

  it('should not have a second request begun behind a large response that waits for an open one', async () => {
    const one = await site(ctx => ctx.path === '/open')
    await assertStops(one, ['/open', '/large', '/next', '/held'], one.release)
  })

  it('should have a third request begun behind a small response that waits for an open one', async () => {
    const begun = []
    const { setup, release } = holding(ctx => { ctx.body = 'hello' }, ctx => {
      begun.push(ctx.url)
      return ctx.path === '/open'
    })
    const { talk } = await serve(setup)
    const client = await talk()
    for (const target of ['/open', '/small', '/next']) {
      client.write(get(target))
      await waitFor(() => begun.includes(target), target)
    }
    release()
    await client.until(/hello[^]+hello[^]+hello$/)
  })

  it('should get a large response to its end before the connection closes, because the next one is destroyed', async () => {
    let destroyed = false
    const { port } = await serve(use(ctx => {
      if (ctx.path === '/large') {
        ctx.body = BUFFER
      } else {
        ctx.respond = false
        ctx.res.destroy()
        destroyed = true
      }
    }))
    const client = await download(port, get('/large'))
    client.write(get('/destroyed'))
    await waitFor(() => destroyed, 'the second request')
    client.resume()
    await client.end()
    assert(client.size > LARGE, `${client.size} bytes`)
  })

  it('should have later responses kept out of the socket', async () => {
    const one = await site()
    const client = await download(one.port, get('/large') + get('/next'))
    await waitFor(() => one.begun.includes('/next'), 'the second request')
    const [socket] = one.sockets
    await settled(() => socket.writableLength)
    assert(socket.writableLength > 0 && socket.writableLength < 2 * LARGE - 8 * 1024 * 1024, `${socket.writableLength} bytes`)
    client.destroy()
  })
})
