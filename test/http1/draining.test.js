'use strict'

const assert = require('node:assert/strict')
const { Readable } = require('node:stream')
const { setTimeout: wait } = require('node:timers/promises')

const { get, waitFor } = require('./sides')
const { download, front } = require('./wire')

const LARGE = 32 * 1024 * 1024

/** An app whose '/slow' responds when `release()` is called. */
function holding () {
  const held = []
  const release = () => held.splice(0).forEach(resolve => resolve())
  return {
    held,
    release,
    setup: app => app.use(async ctx => {
      if (ctx.path.startsWith('/slow')) await new Promise(resolve => held.push(resolve))
      ctx.body = `hello ${ctx.path}.`
    })
  }
}

/** What each response says about its connection. */
const connectionFields = text => [...text.matchAll(/^Connection: (.+)\r$/gm)].map(([, value]) => value)

/** Node's connection listener has this socket. */
const isNodes = socket => 'parser' in socket

front('a response while app.close() drains', ({ it, serve }) => {
  it('should say that its connection closes, and close it', async () => {
    const { held, release, setup } = holding()
    const { app, talk } = await serve(setup)
    const client = await talk(get('/slow'))
    await waitFor(() => held.length, 'the request')
    const closed = app.close()
    release()
    await client.all()
    assert.deepEqual(connectionFields(client.text), ['close'])
    assert.match(client.text, /hello \/slow\.$/)
    await closed
  })

  it('should say so when its request came while draining, on a kept connection', async () => {
    const { held, release, setup } = holding()
    const { app, talk } = await serve(setup)
    const slow = await talk(get('/slow'))
    const kept = await talk(get('/1'))
    await kept.until(/hello \/1\.$/)
    await waitFor(() => held.length, 'the request')
    const closed = app.close({ grace: 10000 })
    kept.write(get('/2'))
    await kept.all()
    assert.deepEqual(connectionFields(kept.text), ['keep-alive', 'close'])
    assert.match(kept.text, /hello \/2\.$/)
    release()
    await slow.all()
    await closed
  })

  it('should stay on the fast path', async () => {
    const { held, release, setup } = holding()
    const { app, talk, sockets } = await serve(setup)
    const slow = await talk(get('/slow'))
    const kept = await talk(get('/1'))
    await kept.until(/hello \/1\.$/)
    await waitFor(() => held.length, 'the request')
    const closed = app.close({ grace: 10000 })
    kept.write(get('/2'))
    await kept.until(/hello \/2\.$/)
    assert(!isNodes(sockets[1]), 'the connection went to node:http')
    release()
    await slow.all()
    assert(!isNodes(sockets[0]), 'the connection went to node:http')
    await closed
  })

  it('should be sent when it was queued before, and be the last when it says so', async () => {
    const { held, release, setup } = holding()
    const { app, talk } = await serve(setup)
    const client = await talk(get('/slow') + get('/2') + get('/3'))
    await waitFor(() => held.length, 'the request')
    const closed = app.close({ grace: 10000 })
    release()
    await client.until(/hello \/slow\.[^]+hello \/2\.[^]+hello \/3\.$/)
    // made before the drain began, it may keep the connection: then there is a next response
    if (!connectionFields(client.text).includes('close')) client.write(get('/4'))
    await client.all()
    const fields = connectionFields(client.text)
    assert.deepEqual(fields.slice(0, -1).filter(value => value === 'close'), [], 'a response behind one that closes')
    assert.equal(fields.at(-1), 'close')
    await closed
  })

  it('should be the last when it says so: pipelined while draining', async () => {
    const { held, release, setup } = holding()
    const { app, talk } = await serve(setup)
    const slow = await talk(get('/slow'))
    const kept = await talk(get('/1'))
    await kept.until(/hello \/1\.$/)
    await waitFor(() => held.length, 'the request')
    const closed = app.close({ grace: 10000 })
    kept.write(get('/2') + get('/3') + get('/4'))
    await kept.all()
    const fields = connectionFields(kept.text)
    assert.equal(fields.at(-1), 'close')
    assert.deepEqual(fields.slice(1, -1).filter(value => value === 'close'), [])
    release()
    await slow.all()
    await closed
  })

  it('should be the last when it says so: a slow one behind one that is ready', async () => {
    const { held, release, setup } = holding()
    const { app, talk } = await serve(setup)
    const client = await talk(get('/slow/1') + get('/slow/2'))
    await waitFor(() => held.length === 2, 'the requests')
    const closed = app.close()
    held.shift()()
    await client.until(/hello \/slow\/1\.$/)
    release()
    await client.all()
    const fields = connectionFields(client.text)
    assert.equal(fields.at(-1), 'close')
    assert.equal(fields.length === 2 ? fields[0] : 'keep-alive', 'keep-alive')
    await closed
  })

  it('should be whole when its header section was sent before', async () => {
    let stream
    const { app, talk } = await serve(app => app.use(ctx => {
      stream = new Readable({ read () {} })
      stream.push('begun')
      ctx.body = stream
    }))
    const client = await talk(get('/'))
    await client.until(/begun/)
    const closed = app.close()
    stream.push('end')
    stream.push(null)
    assert.match(await client.all(), /begun[^]+end\r\n0\r\n\r\n$/)
    await closed
  })
})

front('app.close() and a client that takes its time', ({ it, serve }) => {
  it('should add no listeners while it waits', async () => {
    const { app, port, sockets } = await serve(app => app.use(ctx => { ctx.body = Buffer.alloc(LARGE) }))
    const client = await download(port, get('/'))
    await waitFor(() => sockets[0]?.bytesWritten > 0, 'the response')
    const closed = app.close({ grace: 0, timeout: 20000 })
    await wait(500) // it looks every 20 ms; a listener of each look would be there now
    const counts = Object.fromEntries(sockets[0].eventNames().map(name => [String(name), sockets[0].listenerCount(name)]))
    for (const [name, count] of Object.entries(counts)) assert(count < 5, `${count} listeners of '${name}'`)
    client.resume()
    await client.end()
    assert(client.size > LARGE, `${client.size} bytes`)
    await closed
  })
})
