'use strict'

const assert = require('node:assert/strict')
const { once } = require('node:events')
const http = require('node:http')
const { describe, it } = require('node:test')

const Kone = require('../../helpers/kone')
const { get, isNodes, sides, talk, use, waitFor } = require('./sides')

sides('ctx.req and ctx.res', ({ side, it, serve, ask }) => {
  it("should be node's own objects", async () => {
    const { ask, sockets } = await serve(use(ctx => {
      const { req, res } = ctx
      assert(req instanceof http.IncomingMessage)
      assert(res instanceof http.ServerResponse)
      for (const socket of [req.socket, ctx.socket, req.client, res.socket, res.connection]) assert.equal(socket, sockets[0])
      for (const same of [res.req, ctx.req, ctx.request.req, ctx.response.req]) assert.equal(same, req)
      for (const same of [req.socket._httpMessage, ctx.res, ctx.response.res]) assert.equal(same, res)
      assert.deepEqual(req.rawHeaders, ['Host', 'a', 'X-Some', 'One', 'x-some', 'two'])
      assert.deepEqual({ ...req.headers }, { host: 'a', 'x-some': 'One, two' })
      assert.deepEqual({ ...req.headersDistinct }, { host: ['a'], 'x-some': ['One', 'two'] })
      ctx.body = 'yes'
    }))
    await ask(get('/', 'X-Some: One\r\nx-some: two\r\n'), /yes$/)
  })

  it('should see late changes of the request, in both directions', () => ask(use(ctx => {
    ctx.headers['x-fast'] = '1'
    const { req } = ctx
    assert.equal(req.headers['x-fast'], '1')
    req.headers['x-real'] = '2'
    assert.equal(ctx.get('X-Real'), '2')
    req.url = '/other?a=b'
    assert.equal(ctx.path, '/other')
    ctx.url = '/third'
    assert.equal(req.url, '/third')
    req.method = 'PATCH'
    assert.equal(ctx.method, 'PATCH')
    Object.defineProperty(req, 'url', { value: '/defined', configurable: true })
    assert.equal(ctx.url, '/defined')
    Object.defineProperty(ctx.req, 'ip', { get: () => 'mine' })
    assert.equal(ctx.req.ip, 'mine')
    ctx.body = 'seen'
  }), get('/'), /seen$/))

  // Node keeps the reason phrase that it has sent, and the app may replace it.
  for (const [status, name, value, expected] of [
    [undefined, 'statusCode', 202, [202, 'Not Found', 'Not Found', 'Not Found']],
    [418, 'statusCode', 202, [202, "I'm a Teapot", "I'm a Teapot", "I'm a Teapot"]],
    [299, 'statusCode', 200, [200, 'unknown', 'unknown', 'unknown']],
    [204, 'statusMessage', '', [204, 'No Content', '', '']],
    [200, 'statusMessage', undefined, [200, 'OK', undefined, undefined]],
    [200, 'statusMessage', 'Late', [200, 'Late', 'Late', 'Late']]
  ]) {
    it(`should keep the reason phrase of ${status} when ${name} becomes ${JSON.stringify(value)} after the end`, async () => {
      let seen
      await ask(use(ctx => {
        const { outgoing } = ctx.response
        ctx.onFinished(() => {
          outgoing[name] = value
          seen = [ctx.status, ctx.message, outgoing.statusMessage, ctx.res.statusMessage]
        })
        ctx.respond = false
        outgoing.statusCode = status ?? 404
        outgoing.end()
      }), get('/'), /\r\n\r\n$/)
      await waitFor(() => seen, 'the end')
      assert.deepEqual(seen, expected)
    })
  }

  it("should have node's values after the client is gone", async () => {
    let seen
    let arrived
    const { talk } = await serve(use(async ctx => {
      ctx.respond = false
      arrived = true
      await new Promise(resolve => ctx.onFinished(resolve))
      const { res } = ctx
      seen = [res.headersSent, res.writableEnded, res.destroyed]
      res.end('too late')
    }))
    const client = await talk(get('/'))
    await waitFor(() => arrived, 'the request')
    client.destroy()
    await waitFor(() => seen, 'the end')
    assert.deepEqual(seen, [false, false, true])
  })

  it('should serve an app that another one calls with them', () => ask(app => {
    const inner = new app.constructor()
    inner.use(ctx => { ctx.body = `inner ${ctx.path}` })
    const handle = inner.callback()
    app.use(ctx => {
      ctx.respond = false
      return handle(ctx.req, ctx.res)
    })
  }, get('/x'), /inner \/x$/))

  it(`should ${side === 'front' ? 'keep' : 'leave'} the connection with the front`, async () => {
    const { ask, sockets } = await serve(use(ctx => { ctx.body = `${ctx.req.url} ${ctx.res.statusCode}` }))
    await ask(get('/1'), /\/1 \d+$/)
    assert.equal(isNodes(sockets[0]), side !== 'front')
  })
})

// Of fresh responses, because the first read may have to make what the later ones find.
describe('the fields of a response that was sent', () => {
  const READS = {
    'getHeaders()': res => res.getHeaders(),
    'getHeader()': res => res.getHeader('x-b'),
    'hasHeader()': res => res.hasHeader('x-b')
  }
  const MANY = 4000

  for (const [what, read] of Object.entries(READS)) {
    it(`should be read by ${what} in at most five times the CPU that node takes`, async t => {
      const least = []
      for (const http1 of [true, false]) {
        const sent = []
        const app = new Kone({ http1 })
        app.use(ctx => {
          ctx.set({ 'X-A': 'a', 'X-B': 'b' })
          ctx.body = 'a'
          sent.push(ctx.res)
        })
        const server = app.listen(0, '127.0.0.1')
        t.after(() => server.close())
        await once(server, 'listening')
        const client = await talk(server.address().port)
        const runs = []
        for (let run = 0; run < 6; run++) {
          sent.length = 0
          client.text = ''
          client.write(get('/').repeat(MANY))
          await waitFor(() => client.text.split('HTTP/1.1 200').length === MANY + 1, `${MANY} responses`)
          const before = process.cpuUsage()
          for (const res of sent) read(res)
          const { user, system } = process.cpuUsage(before)
          runs.push(user + system)
        }
        client.destroy()
        least.push(Math.min(...runs))
      }
      assert(least[0] < 5 * least[1], `${least} µs`)
    })
  }
})
