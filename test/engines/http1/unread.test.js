'use strict'

const assert = require('node:assert/strict')

const { get, holding, settled, waitFor } = require('./sides')
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
})
