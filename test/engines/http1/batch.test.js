'use strict'

const assert = require('node:assert/strict')

const { get, holding, last, use, waitFor } = require('./sides')
const { front } = require('./wire')

/** A site whose sockets note the bytes of each of their writes. */
async function counting (serve, setup) {
  const writes = []
  const site = await serve(setup)
  site.server.on('connection', socket => {
    for (const name of ['_write', '_writev']) {
      const own = socket[name]
      socket[name] = function (data, ...rest) {
        const size = Array.isArray(data) ? data.reduce((sum, { chunk }) => sum + chunk.length, 0) : data.length
        if (size > 0) writes.push(size)
        return own.call(this, data, ...rest)
      }
    }
  })
  return { ...site, writes }
}

const bodies = text => text.match(/hello [a-z/]+\d/g)

front('the responses to pipelined requests', ({ it, serve }) => {
  /** How many writes: of the responses of one read, ended in the order of the requests. */
  const WRITES = {
    'of one request': [1, ['/1']],
    'of one read': [1, ['/1', '/2', '/3']],
    'that end before the next request is handled': [1, ['/now/1', '/now/2', '/now/3']],
    'that end in one tick': [1, ['/slow/1', '/slow/2', '/slow/3']],
    'behind an open one': [1, ['/slow/1', '/2', '/3']],
    'in front of an open one': [2, ['/1', '/2', '/slow/3']]
  }

  for (const [title, [count, paths]] of Object.entries(WRITES)) {
    it(`should be written together: ${title}`, async () => {
      const notified = []
      const { setup, begun, release } = holding(ctx => {
        ctx.onFinished(() => notified.push(ctx.path))
        ctx.body = `hello ${ctx.path}`
        if (!ctx.path.startsWith('/now')) return
        ctx.respond = false
        ctx.response.outgoing.end(ctx.body)
      })
      const { talk, writes } = await counting(serve, setup)
      const client = await talk(paths.map(path => get(path)).join(''))
      await begun(paths.filter(path => path.startsWith('/slow')).length)
      if (title.startsWith('in front')) await client.until(/hello \/2$/)
      release()
      await waitFor(() => client.text.endsWith(`hello ${paths.at(-1)}`), 'the last response')
      assert.deepEqual(bodies(client.text), paths.map(path => `hello ${path}`))
      assert.equal(writes.length, count, `${writes}`)
      await waitFor(() => notified.length === paths.length, 'the end of each')
      assert.deepEqual(notified, paths)
    })
  }

  it('should be in order when a request follows while the first response is sent and the second is open', async () => {
    const { setup, begun, release, held } = holding(ctx => { ctx.body = `hello ${ctx.path}` })
    const { talk } = await serve(setup)
    const client = await talk(get('/slow/1') + get('/slow/2'))
    await begun(2)
    held.shift()()
    await client.until(/hello \/slow\/1$/)
    client.write(get('/slow/3'))
    await begun(2)
    held.pop()()
    release()
    await client.until(/hello \/slow\/3$/)
    assert.deepEqual(bodies(client.text), ['hello /slow/1', 'hello /slow/2', 'hello /slow/3'])
  })

  it('should be written when they fill the socket, and not before', async () => {
    const { talk, sockets, writes } = await counting(serve, use(ctx => { ctx.body = 'x'.repeat(1000) }))
    const client = await talk(Array.from({ length: 99 }, () => get('/')).join('') + last('/'))
    await client.all()
    const mark = sockets[0].writableHighWaterMark
    assert(writes.length > 1, `${writes}`)
    for (const size of writes.slice(0, -1)) assert(size >= mark && size < mark + 2000, `${writes}, with a mark of ${mark}`)
  })
})

front('a response that is alone', ({ it, serve }) => {
  it('should be written when it ends', async () => {
    const written = []
    const { ask } = await serve(use(ctx => {
      const before = ctx.socket.bytesWritten
      ctx.respond = false
      ctx.response.outgoing.end('hello')
      written.push(ctx.socket?.bytesWritten ?? 0, before)
    }))
    await ask(get('/'))
    assert(written[0] > written[1], `${written}`)
  })
})
