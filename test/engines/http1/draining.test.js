'use strict'

const assert = require('node:assert/strict')
const { Readable } = require('node:stream')

const { get, holding, isNodes, use } = require('./sides')
const { front } = require('./wire')

/** What each response says about its connection. */
const connectionFields = text => [...text.matchAll(/^Connection: (.+)\r$/gm)].map(([, value]) => value)

/** The last of these responses says close, and no other one. */
function assertCloses (fields) {
  assert.equal(fields.at(-1), 'close')
  assert.equal(fields.indexOf('close'), fields.length - 1, 'a response is behind one that closes')
}

front('a response while app.close() drains', ({ it, serve }) => {
  /** A site with a request to /slow for each of `paths`, and a kept connection with one response. */
  async function site (paths = ['/slow']) {
    const held = holding(ctx => { ctx.body = `hello ${ctx.path}.` })
    const site = await serve(held.setup)
    const slow = await site.talk(paths.map(path => get(path)).join(''))
    const kept = await site.ask(get('/1'), /hello \/1\.$/)
    await held.begun(paths.filter(path => path.startsWith('/slow')).length)
    return { ...site, ...held, slow, kept }
  }

  it('should be sent when it was queued before, and be the last when it says so', async () => {
    const { app, kept, slow, release } = await site(['/slow', '/2', '/3'])
    const closed = app.close({ grace: 10000 })
    release()
    await slow.until(/hello \/slow\.[^]+hello \/2\.[^]+hello \/3\.$/)
    // made before the drain began, it may keep the connection: then there is a next response
    if (!connectionFields(slow.text).includes('close')) slow.write(get('/4'))
    await slow.all()
    assertCloses(connectionFields(slow.text))
    kept.socket.end()
    await closed
  })

  it('should be the last when it says so: pipelined while draining', async () => {
    const { app, sockets, slow, kept, release } = await site()
    const closed = app.close({ grace: 10000 })
    kept.write(get('/2') + get('/3') + get('/4'))
    await kept.all()
    assertCloses(connectionFields(kept.text))
    assert.match(kept.text, /hello \/2\.[^]*$/)
    assert(!sockets.some(isNodes), 'a connection went to node:http')
    release()
    await slow.all()
    await closed
  })

  it('should be the last when it says so: a slow one behind one that is ready', async () => {
    const { app, slow, held, release } = await site(['/slow/1', '/slow/2'])
    const closed = app.close()
    held.shift()()
    await slow.until(/hello \/slow\/1\.$/)
    release()
    await slow.all()
    assertCloses(connectionFields(slow.text))
    await closed
  })

  it('should be whole when its header section was sent before', async () => {
    let stream
    const { app, ask } = await serve(use(ctx => {
      stream = new Readable({ read () {} })
      stream.push('begun')
      ctx.body = stream
    }))
    const client = await ask(get('/'), /begun/)
    const closed = app.close()
    stream.push('end')
    stream.push(null)
    assert.match(await client.all(), /begun[^]+end\r\n0\r\n\r\n$/)
    await closed
  })
})
