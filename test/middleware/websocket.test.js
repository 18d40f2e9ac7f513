'use strict'

const assert = require('node:assert/strict')
const { AsyncLocalStorage } = require('node:async_hooks')
const { once } = require('node:events')
const http = require('node:http')
const https = require('node:https')
const { describe, it, after, before } = require('node:test')
const { setImmediate: immediate } = require('node:timers/promises')
const { generate } = require('selfsigned')
const { WebSocket } = require('ws')
const Kone = require('kone')
const compress = require('kone/middleware/compress')
const isolate = require('kone/middleware/isolate')
const jsonp = require('kone/middleware/jsonp')
const Router = require('kone/middleware/router')
const session = require('kone/middleware/session')
const websocket = require('kone/middleware/websocket')
const { connect, frame, handshake, requestOf, responseOf } = require('../helpers/handshake')
const share = require('../helpers/share')
const until = require('../helpers/until')

/** How an app can be served: what the handshake comes through. */
const ENGINES = {
  front: app => app.listen(0),
  'node:http': app => Object.assign(app, { http1: false }).listen(0),
  'callback()': app => http.createServer(app.callback()).listen(0),
  TLS: (app, keys) => app.attach(https.createServer(keys)).listen(0)
}

for (const [name, serve] of Object.entries(ENGINES)) {
  describe(`websocket, ${name}`, () => {
    const isSecure = name === 'TLS'
    const closing = []
    let keys

    before(async () => {
      if (!isSecure) return
      const { private: key, cert } = await generate([{ name: 'commonName', value: 'localhost' }])
      keys = { key, cert }
    })
    const clients = []
    after(() => {
      for (const client of clients) (client.destroy ?? client.terminate).call(client)
      for (const server of closing) {
        server.close()
        server.closeAllConnections()
      }
    })
    const remember = client => {
      clients.push(client)
      return client
    }

    /** An app with one route, /chats/:id. */
    const start = async (handler, { options, around = [], guards = [] } = {}) => {
      const app = new Kone()
      app.errors = []
      app.on('error', (err, ctx) => app.errors.push({ err, ctx }))
      app.keys = ['0123456789abcdef0123456789abcdef']
      for (const fn of around) app.use(fn)
      const router = new Router()
      router.get('/chats/:id', ...guards, websocket(handler, options))
      app.use(router.routes())
      const server = serve(app, keys)
      closing.push(server)
      await once(server, 'listening')
      const { port } = server.address()
      return {
        app,
        server,
        port,
        raw: async (path = '/chats/1', options) => remember(await handshake(port, path, { isSecure, ...options })),
        open: (path = '/chats/1', protocols = [], options = {}) =>
          remember(new WebSocket(`${isSecure ? 'wss' : 'ws'}://127.0.0.1:${port}${path}`, protocols, { rejectUnauthorized: false, ...options }))
      }
    }

    const messagesOf = (client, count) => new Promise((resolve, reject) => {
      const all = []
      client.on('message', data => all.push(String(data)) === count && resolve(all))
      client.on('error', reject)
      client.on('close', () => reject(new Error(`closed behind ${all.length} messages: ${all}`)))
    })
    const closeOf = async client => {
      const [code, reason] = await once(client, 'close')
      return `${code} ${reason}`.trim()
    }

    it('should run the middleware, send their fields with the 101, and then run the handler in their context', async () => {
      const storage = new AsyncLocalStorage()
      const order = []
      const store = {
        get: () => undefined,
        destroy: () => {},
        set: async () => { await immediate(); order.push('saved') }
      }
      const { app, raw } = await start(async (socket, ctx) => {
        order.push('handler')
        for (const late of ['set', 'append', 'remove']) assert.throws(() => ctx[late]('X-Late', '1'), /in a middleware in front of websocket/)
        assert.throws(() => ctx.cookies.set('late', '1'))
        await socket.send([ctx.params.id, ctx.state.a, ctx.session.user, storage.getStore(), ctx.query.b].join())
        socket.on('message', data => socket.send(`${data} ${storage.getStore()}`))
      }, {
        around: [
          (ctx, next) => storage.run('store', next),
          compress({ threshold: 0 }),
          jsonp(),
          async (ctx, next) => {
            ctx.state.a = 1
            ctx.set({ 'X-Request-Id': '7', Upgrade: 'h2c', 'Content-Type': 'a/b', 'Sec-WebSocket-Accept': 'no', Connection: 'close' })
            ctx.onFinished(err => order.push(`finished ${err}`))
            await next()
            order.push(`returned ${ctx.status}`)
            ctx.append('Set-Cookie', 'a=1')
          },
          session({ store })
        ],
        guards: [(ctx, next) => { ctx.session.user = 'ann'; return next() }]
      })
      app.final(ctx => { order.push('final'); ctx.append('Set-Cookie', 'b=2') })
      const client = await raw('/chats/5?b=3&callback=f', { behind: frame('early'), headers: { 'Accept-Encoding': 'gzip' } })
      assert.equal(client.status, 101)
      assert.match(client.head, /^X-Request-Id: 7\r?$/m)
      assert.deepEqual(client.head.match(/^Set-Cookie: [^;\r]*/gm).map(line => line.slice(12)).slice(-2), ['a=1', 'b=2'])
      assert.match(client.head, /^Set-Cookie: koa:sess=/m)
      assert.doesNotMatch(client.head, /^content|: h2c|: no\b|: close/im)
      assert.match(client.head, /^Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK\+xOo=\r?$/m)
      let { rest } = client
      while (!rest.toString('latin1').includes('early store')) rest = Buffer.concat([rest, client.read() ?? (await once(client, 'readable'), Buffer.alloc(0))])
      assert.match(rest.toString('latin1'), /5,1,ann,store,3/)
      await until(() => order.length === 5)
      assert.deepEqual(order, ['saved', 'returned 101', 'final', 'handler', 'finished null'])
      client.destroy()
    })

    it('should report a session that was changed behind the 101 and not saved', async () => {
      const kept = new Map()
      const store = {
        get: id => kept.get(id),
        set: (id, value) => { kept.set(id, { ...value }) },
        destroy: id => { kept.delete(id) }
      }
      const ACTS = {
        reads: ({ session }) => session.user,
        saves: async ({ session }) => { session.n = 1; await session.save() },
        changes: ({ session }) => { session.n = 2 },
        assigns: ctx => { ctx.session = { n: 3 } },
        deletes: ctx => { ctx.session = null },
        renews: ctx => ctx.sessionHandler.regenerateId()
      }
      const { app, open } = await start(async (socket, ctx) => {
        const act = ACTS[ctx.params.id]
        if (ctx.query.events) socket.once('message', async () => { await act(ctx); socket.close() })
        else await act(ctx)
      }, { around: [session({ store }), (ctx, next) => { ctx.session.user = 'ann'; return next() }] })
      for (const events of ['', '?events=1']) {
        for (const act in ACTS) {
          const client = open(`/chats/${act}${events}`)
          client.on('open', () => events && client.send('go'))
          const isFine = act === 'reads' || act === 'saves'
          assert.equal(await closeOf(client), events ? '1005' : isFine ? '1000' : '1011', act)
          await until(() => app.errors.length === (isFine ? 0 : 1))
          for (const { err } of app.errors.splice(0)) assert.match(err.message, /changed behind the handshake and not saved/)
        }
      }
      assert.deepEqual([...new Set([...kept.values()].map(({ n }) => n))], [undefined, 1])
    })

    it('should refuse by an ordinary response that closes', async () => {
      const { app, raw } = await start(() => assert.fail('the handler ran'), {
        around: [async (ctx, next) => {
          await immediate()
          if (ctx.query.status) ctx.throw(Number(ctx.query.status), 'no', { headers: { 'X-Why': 'so' } })
          if (ctx.query.body) ctx.body = require('node:stream').Readable.from(['a'.repeat(100_000), 'end'])
          else if (!ctx.query.late) return next()
          else {
            await next()
            ctx.status = 403
          }
        }],
        guards: [(ctx, next) => ctx.query.error ? Promise.reject(new Error('oops')) : next()]
      })
      const statusOf = async (query, headers) => {
        const client = await raw(`/chats/1?${query}`, { headers, behind: frame('x') })
        client.resume()
        if (!client.closed) await once(client, 'close')
        return client
      }
      const all = await Promise.all(['status=401', 'status=503', 'error=1', 'late=1', 'body=1'].map(query => statusOf(query)))
      assert.deepEqual(all.map(({ status }) => status), [401, 503, 500, 403, 200])
      for (const { head } of all) assert.match(head, /^Connection: close$/m)
      assert.match(all[0].head, /^X-Why: so\r?$/m)
      assert.deepEqual(app.errors.map(({ err }) => err.message).filter(one => one === 'oops'), ['oops'])

      const bad = async headers => (await statusOf('', headers))
      assert.equal((await bad({ 'Sec-WebSocket-Key': 'short' })).status, 400)
      assert.equal((await bad({ 'Sec-WebSocket-Protocol': 'a,,b' })).status, 400)
      const old = await bad({ 'Sec-WebSocket-Version': '8' })
      assert.equal(old.status, 426)
      assert.match(old.head, /^Sec-WebSocket-Version: 13\r?$/m)
      assert.match(old.head, /^Upgrade: websocket\r?$/m)
      assert.match(old.head, /^Connection: close, Upgrade\r?$/m)
    })

    it('should respond 426 to a request that is no handshake, and keep the connection', async () => {
      const { app, port } = await start(() => assert.fail('the handler ran'))
      app.use(websocket(() => assert.fail('the handler ran'))) // for POST
      const ask = async (bytes, behind = '') => {
        const client = remember(await connect(port, { isSecure }))
        client.write(bytes + behind)
        return responseOf(client)
      }
      const BODY = { 'Content-Length': 4 }
      const whole = requestOf(port, '/chats/1', {})
      for (const bytes of [
        requestOf(port, '/chats/1', { Upgrade: undefined, Connection: undefined }),
        requestOf(port, '/chats/1', { Upgrade: undefined }),
        requestOf(port, '/chats/1', { Connection: undefined }),
        requestOf(port, '/chats/1', { Connection: 'keep-alive' }),
        requestOf(port, '/chats/1', BODY) + 'abcd',
        requestOf(port, '/chats/1', { 'Transfer-Encoding': 'chunked' }) + '0\r\n\r\n',
        requestOf(port, '/chats/1', BODY).replace('GET', 'POST') + 'abcd',
        whole.replace('GET', 'POST')
      ]) {
        const client = await ask(bytes)
        assert.equal(client.status, 426, bytes)
        assert.match(client.head, /^Upgrade: websocket\r?$/m)
        assert.match(client.head, /^Connection: Upgrade\r?$/m)
        client.read() // its body
        client.write(requestOf(port, '/chats/1', { Upgrade: undefined }))
        assert.equal((await responseOf(client)).status, 426, `behind ${bytes}`)
      }
      const last = await ask(requestOf(port, '/chats/1', { Upgrade: undefined, Connection: 'close' }))
      assert.match(last.head, /^Connection: close, Upgrade\r?$/m)
      last.resume()
      await once(last, 'close')
      for (const bytes of ['GET /chats/1 HTTP/1.0\r\n\r\n', whole.replace('HTTP/1.1', 'HTTP/1.0')]) {
        const old = await ask(bytes)
        assert.equal(old.status, 426, bytes)
        assert.doesNotMatch(old.head, /upgrade:/i)
        old.resume()
        if (!old.closed) await once(old, 'close')
      }
      assert.deepEqual(new Set(app.errors.map(({ err }) => err.status)), new Set([426]))
      const empty = await ask(requestOf(port, '/chats/1', { 'Content-Length': 0 }))
      assert.equal(empty.status, 101)
    })

    it('should leave what has no route as it is without it', async () => {
      const { port, app } = await start(() => {})
      app.use(async ctx => { ctx.body = `${ctx.method} ${(await ctx.request.readBody()).toString()}` })
      const client = remember(await connect(port, { isSecure }))
      client.write(requestOf(port, '/other'))
      const first = await responseOf(client)
      assert.deepEqual([first.status, /^Connection: keep-alive/m.test(first.head)], [200, true])
      for (const [protocol, length] of [['h2c', 4], ['websocket', 4], ['websocket', 0]]) {
        client.write(`POST /chats/1 HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: ${protocol}\r\nContent-Length: ${length}\r\n\r\n`)
        await immediate()
        client.write('abcd'.slice(0, length))
        const { status, head } = await responseOf(client)
        assert.deepEqual([status, /^Connection: keep-alive/m.test(head)], [200, true], protocol)
      }
      client.destroy()
    })

    it('should take a handshake behind a request that has no response yet, in order', async () => {
      let go
      const { port, server } = await start(async socket => { await socket.send('hi') }, {
        around: [async (ctx, next) => {
          if (ctx.path !== '/slow') return next()
          await new Promise(resolve => { go = resolve })
          ctx.body = 'slow'
        }]
      })
      const [slow, behind] = [requestOf(port, '/slow', { Upgrade: undefined, Connection: undefined }), requestOf(port, '/chats/1')]
      for (const pieces of [[slow, behind], [slow + behind], [slow, behind]]) {
        if (go) server.on('upgrade', () => {}) // node emits it, while the response is open
        go = undefined
        const client = remember(await connect(port, { isSecure }))
        client.write(pieces[0])
        await until(() => go)
        if (pieces.length > 1) client.write(pieces[1])
        for (let i = 0; i < 5; i++) await immediate()
        go()
        let text = ''
        for await (const chunk of client) if (/hi/.test(text += chunk.toString('latin1'))) break
        assert.match(text, /^HTTP\/1.1 200 [^]*slowHTTP\/1.1 101 [^]*hi/)
      }
    })

    // Each position in `make test-all`.
    it('should lose no byte, wherever the handshake and the frames behind it are cut, and while a guard waits', async () => {
      const { port } = await start(async socket => {
        await immediate()
        for await (const message of socket) await socket.send(message)
      }, { guards: [async (ctx, next) => { for (let i = ctx.params.id; i > 0; i--) await immediate(); return next() }] })
      const head = requestOf(port, '/chats/1')
      const frames = [frame('one'), frame('two'), frame('x'.repeat(130))]
      const [early, late] = [1, 9].map(id => Buffer.concat([Buffer.from(requestOf(port, `/chats/${id}`)), ...frames])) // the guard's end
      const every = share(isSecure ? 19 : 7, isSecure ? 7 : 3, 1)
      const isChosen = at => (at + Object.keys(ENGINES).indexOf(name)) % every === 0 || Math.abs(at - head.length) < 3
      const cuts = Array.from({ length: early.length }, (_, at) => at + 1).filter(isChosen)
      const send = async cut => {
        const bytes = cut % 2 ? early : late
        const client = remember(await connect(port, { isSecure }))
        client.setNoDelay()
        client.write(bytes.subarray(0, cut))
        await immediate()
        await immediate() // the server has read it: the next bytes come alone
        client.write(bytes.subarray(cut))
        let text = ''
        for await (const chunk of client) if (/101 [^]*one[^]*two[^]*x{130}/.test(text += chunk.toString('latin1'))) break
        assert.match(text, /101 [^]*one[^]*two[^]*x{130}/, `cut at ${cut} of ${head.length}`)
      }
      for (let i = 0; i < cuts.length; i += 20) await Promise.all(cuts.slice(i, i + 20).map(send))
    })

    it('should hold what comes before the handler asks, by a loop or by a listener', async () => {
      const got = []
      const { open } = await start(async (socket, ctx) => {
        await socket.closed
        const all = []
        if (ctx.params.id === '3') all.push(String((await once(socket, 'message'))[0]))
        if (ctx.params.id === '2') socket.on('message', data => all.push(String(data)))
        else for await (const message of socket) all.push(message)
        await until(() => all.length === 3)
        got.push(all.join(''))
      })
      for (const path of ['/chats/1', '/chats/2', '/chats/3']) {
        const client = open(path)
        await once(client, 'open')
        for (const text of ['a', 'b', 'c']) client.send(text)
        client.close()
        await once(client, 'close')
      }
      await until(() => got.length === 3)
      assert.deepEqual(got, ['abc', 'abc', 'abc'])
    })

    it('should stop reading while nobody asks', async () => {
      let socket
      const { open, raw } = await start(async one => {
        socket = one
        await new Promise(resolve => one.once('go', resolve))
        let bytes = 0
        for await (const message of socket) if ((bytes += message.length) === 8e6) break
      }, { options: { maxPayload: 100_000 } })
      const client = open()
      await once(client, 'open')
      for (let i = 0; i < 100; i++) client.send(Buffer.alloc(80_000))
      await until(() => socket?.isPaused)
      await immediate()
      assert(socket.heldBytes < 300_000, `held ${socket.heldBytes}`)
      const first = socket
      first.emit('go')
      assert.equal(await closeOf(client), '1000')
      const few = await raw()
      few.write(Buffer.concat(Array(60_000).fill(frame('')))) // no bytes, and memory
      await until(() => socket !== first && socket.isPaused)
      assert(socket.held.length < 60_000, `held ${socket.held.length}`)
      few.destroy()
    })

    it('should keep no places of messages that were read, where a loop is always behind', async () => {
      let most = 0
      const { open } = await start(async socket => {
        let count = 0
        for await (const message of socket) {
          most = Math.max(most, socket.held.length)
          await socket.send(message)
          if (++count === 200) break
          await until(() => socket.heldBytes > 1)
        }
      })
      const client = open()
      client.on('open', () => ['a', 'b', 'c'].forEach(text => client.send(text)))
      client.on('message', text => client.send(text))
      assert.equal(await closeOf(client), '1000')
      assert(most < 150, `${most} places`)
    })

    it('should close behind the handler: 1000, 1011 for an error; 1002 and 1009 for the peer’s', async () => {
      const closed = []
      const { app, open, raw } = await start(async (socket, ctx) => {
        socket.closed.then(({ code, reason }) => closed.push(`${code} ${reason}`.trim()))
        if (ctx.params.id === '2') throw new Error('broken')
        if (ctx.params.id === '3') for await (const message of socket) await socket.send(message)
        if (ctx.params.id === '4') socket.on('message', () => socket.close(4000, 'bye'))
      }, { options: { maxPayload: 100 } })
      assert.equal(await closeOf(open('/chats/1')), '1000')
      assert.equal(await closeOf(open('/chats/2')), '1011')
      assert.deepEqual(app.errors.map(({ err, ctx }) => [err.message, ctx.params.id]), [['broken', '2']])
      const tooLong = open('/chats/3')
      tooLong.on('open', () => tooLong.send('x'.repeat(101)))
      assert.equal(await closeOf(tooLong), '1009')
      const event = open('/chats/4')
      event.on('open', () => event.send('x'))
      assert.equal(await closeOf(event), '4000 bye')
      const wrong = await raw('/chats/3', { behind: Buffer.from([0xff, 0xff, 0xff]) })
      wrong.resume()
      await once(wrong, 'close')
      const gone = await raw('/chats/3')
      gone.destroy()
      await until(() => closed.length === 6)
      assert.deepEqual(closed.slice(0, 4), ['1000', '1011', '1006', '4000 bye'])
      assert.deepEqual(closed.slice(4), ['1006', '1006'])
      assert.equal(app.errors.length, 1)
    })

    it('should fulfil send() when the system has the message, and close behind the limit what nobody awaits', async () => {
      const results = []
      const { app, open, raw } = await start(async (socket, ctx) => {
        if (ctx.params.id === '1') {
          const big = socket.send(Buffer.alloc(40e6)).then(() => results.push('sent'), () => results.push('failed'))
          const small = socket.send('x') // awaited, too: no limit
          await immediate()
          results.push('waits')
          await Promise.all([big, small])
          results.push(socket.readyState)
        } else if (ctx.params.id === '2') {
          socket.closed.then(({ code }) => results.push(code))
          for (let i = 0; i < 80; i++) socket.send(Buffer.alloc(500_000))
          await socket.closed
        } else if (ctx.params.id === '4') {
          socket.send(Buffer.alloc(40e6)).catch(() => {}) // awaited, and in front of many that are empty
          for (let i = 0; i < 20_000; i++) socket.send('')
          results.push((await socket.closed).code)
        } else {
          socket.close()
          socket.send('late') // rejected, and nobody awaits it
          await assert.rejects(socket.send('late'), { code: 'KONE_ERR_SOCKET_CLOSED' })
          results.push('rejected')
          await socket.send('late') // no error of the app
        }
      })
      const slow = await raw('/chats/1')
      await until(() => results.length === 1)
      assert.deepEqual(results, ['waits'])
      slow.resume()
      await until(() => results.length === 3)
      assert.deepEqual(results.splice(0), ['waits', 'sent', WebSocket.OPEN])
      slow.destroy()
      const behind = await Promise.all([raw('/chats/2'), raw('/chats/4')])
      await until(() => results.length === 2)
      assert.deepEqual(results.splice(0), [1006, 1006])
      behind.forEach(client => client.destroy())
      await closeOf(open('/chats/3'))
      await until(() => results.length === 1)
      assert.deepEqual([results, app.errors], [['rejected'], []])
    })

    it('should disconnect a client that responds to no ping', async () => {
      const codes = []
      const { app, open, raw } = await start(async (socket, ctx) => {
        if (ctx.params.id === '1') return codes.push((await socket.closed).code)
        if (ctx.params.id === '3') { // its pongs are not read meanwhile
          await new Promise(resolve => ctx.app.once('pinged', resolve))
          return codes.push(socket.isStopped, socket.readyState)
        }
        await once(socket, 'pong')
        assert.equal(socket.silence, 0)
      }, { options: { heartbeat: 15, maxPayload: 100 } })
      const silent = await raw()
      silent.resume()
      await once(silent, 'close')
      await until(() => codes.length === 1)
      assert.deepEqual(codes, [1006])
      assert.equal(await closeOf(open('/chats/2')), '1000')
      const unread = open('/chats/3')
      let pings = 0
      unread.on('open', () => { for (let i = 0; i < 5; i++) unread.send('x'.repeat(100)) })
      unread.on('ping', () => ++pings === 8 && app.emit('pinged'))
      await closeOf(unread)
      assert.deepEqual(codes.splice(1), [true, WebSocket.OPEN])
    })

    it('should choose a subprotocol, and bound the connections', async () => {
      const { open, raw } = await start(async socket => { await socket.closed }, {
        options: { protocols: ['b', 'a'], maxConnections: 1 },
        around: [async (ctx, next) => {
          await next()
          if (ctx.query.late) ctx.throw(403) // behind websocket(), which has counted it
        }]
      })
      assert.equal((await raw('/chats/1?late=1')).status, 403)
      const first = open('/chats/1', ['x', 'a', 'b'])
      await once(first, 'open')
      assert.equal(first.protocol, 'b')
      assert.equal((await raw()).status, 503)
      first.close()
      await once(first, 'close')
      await until(async () => {
        const client = await raw()
        client.destroy()
        return client.status === 101
      })
    })

    it('should show the 101 in ctx.res, whoever has read it before', async () => {
      const shown = []
      const show = ({ outgoing, res }) => [
        res.statusCode, res.headersSent, res.getHeader('X-Mine'), outgoing.headersSent, outgoing.writableEnded && res.writableEnded
      ]
      const { app, raw } = await start(async (socket, ctx) => {
        // the front needs none of node's objects
        if (ctx.query.reads === '') assert.equal(ctx.incoming.req === null, ['front', 'TLS'].includes(name))
        assert.throws(() => ctx.res.setHeader('X-Late', '1'), { code: 'ERR_HTTP_HEADERS_SENT' })
        assert.deepEqual([socket.connection.listenerCount('data'), Boolean(socket.connection._httpMessage)], [1, false])
        ctx.onFinished(err => shown.push([...show(ctx), ctx.req.url, err]))
      }, {
        guards: [(ctx, next) => {
          ctx.set('X-Mine', '1')
          if (ctx.query.reads) ctx[ctx.query.reads].once('close', () => {}).once('finish', () => shown.push('finish'))
          return next()
        }]
      })
      for (const reads of ['', 'req', 'res']) {
        const path = `/chats/1?reads=${reads}`
        const client = await raw(path)
        assert.match(client.head, /^HTTP\/1.1 101 [^]*\r\nX-Mine: 1/)
        await until(() => shown.length === (reads === 'res' ? 2 : 1))
        if (reads === 'res') assert.equal(shown.shift(), 'finish')
        assert.deepEqual(shown.splice(0), [[101, true, '1', true, true, path, null]])
      }
      assert.deepEqual(app.errors, [])
    })

    it('should notice a client that leaves while a guard waits', async () => {
      let go, seen
      const ends = []
      const { app, port } = await start(() => assert.fail('the handler ran'), {
        around: [(ctx, next) => {
          seen = ctx
          ctx.onFinished(err => ends.push(err?.code))
          return next()
        }],
        guards: [async (ctx, next) => {
          await new Promise(resolve => { go = resolve })
          return next()
        }]
      })
      for (const [leave, behind] of [['destroy', false], ['end', false], ['end', true]]) {
        go = undefined
        const client = remember(await connect(port, { isSecure }))
        client.write(requestOf(port, '/chats/1'))
        await until(() => go)
        if (behind) client.write(frame('a message'))
        client[leave]()
        await until(() => ends.length === 1)
        assert.deepEqual(ends.splice(0), ['KONE_ERR_RESPONSE_LOST'])
        go()
        await immediate()
        assert.deepEqual([seen.headerSent, seen.req.destroyed], [false, true])
        client.destroy()
      }
      assert.deepEqual(app.errors.filter(({ err }) => err.code === 'ERR_ASSERTION'), [])
    })

    it('should hold a bounded part of what comes while a guard waits, and lose nothing', async () => {
      let socket, go, count
      const { port } = await start(async one => {
        for await (const { length } of one) if ((count += length) === 3e6) return
      }, {
        guards: [async ({ incoming }, next) => {
          socket = incoming.connection.socket ?? incoming.socket // the front's, node's
          await new Promise(resolve => { go = resolve })
          return next()
        }]
      })
      const messages = Buffer.concat(Array.from({ length: 60 }, () => frame('x'.repeat(50_000))))
      for (const isAlone of [true, false]) { // the front's, node's
        count = 0
        go = undefined
        const client = remember(await connect(port, { isSecure }))
        client.write(Buffer.concat([Buffer.from(requestOf(port, '/chats/1')), frame('')].slice(0, isAlone ? 1 : 2)))
        await until(() => go)
        client.write(messages)
        for (let before = -1; before !== socket.bytesRead;) {
          before = socket.bytesRead
          for (let i = 0; i < 50; i++) await immediate()
        }
        assert(socket.bytesRead < 1e6, `${socket.bytesRead} bytes were read`)
        go()
        await until(() => count === 3e6)
        client.destroy()
      }
    })

    it('should be a 500 that is reported where a function of the options fails', async () => {
      const rejects = async () => { throw new Error('rejected') }
      const throws = () => { throw new Error('thrown') }
      for (const [options, message] of [
        [{ origins: rejects }, /^rejected$/], [{ origins: throws }, /^thrown$/],
        [{ protocols: rejects }, /options\.protocols must not be async/], [{ protocols: throws }, /^thrown$/]
      ]) {
        const { app, raw } = await start(() => assert.fail('the handler ran'), { options })
        const errors = []
        app.on('error', err => errors.push(err.message))
        const client = await raw('/chats/1', { headers: { Origin: 'https://other.example', 'Sec-WebSocket-Protocol': 'a, b', ...options.protocols && { Origin: undefined } } })
        client.destroy()
        assert.equal(client.status, 500)
        assert.equal(errors.length, 1)
        assert.match(errors[0], message)
      }
    })

    it('should accept a page of the own host, and of the origins that are named', async () => {
      const origins = ['https://a.example', /^https:\/\/\w+\.b\.example$/]
      const { app, port, raw } = await start(() => {}, { options: { origins } })
      const scheme = isSecure ? 'https' : 'http'
      const statusOf = async (Origin, headers) => {
        const client = await raw('/chats/1', { headers: { Origin, ...headers } })
        client.destroy()
        return client.status
      }
      for (const origin of [undefined, `${scheme}://127.0.0.1:${port}`, 'https://a.example', 'https://x.b.example']) {
        assert.equal(await statusOf(origin), 101, origin)
      }
      for (const origin of ['null', '', `${scheme}://127.0.0.1`, `${scheme}://evil.127.0.0.1:${port}`, `x${scheme}://127.0.0.1:${port}`,
        `${scheme}://127.0.0.1:${port}.evil`, `${scheme}://127.0.0.1:${port}/`, 'https://a.example.evil', 'https://b.example', '*']) {
        assert.equal(await statusOf(origin), origin === '' ? 101 : 403, origin)
      }
      for (const [host, origin] of [['a.test', 'https://a.test'], ['a.test:443', 'https://a.test'], ['A.test', 'https://a.test'], ['[::1]:443', 'https://[::1]']]) {
        assert.equal(await statusOf(origin, { Host: host }), 101, host)
      }
      for (const origin of ['https://evila.test', 'https://a.test.evil', 'https://a.test:444', 'ftp://a.test']) {
        assert.equal(await statusOf(origin, { Host: 'a.test' }), 403, origin)
      }
      assert.equal(await statusOf('http://a.test', { Host: 'a.test' }), isSecure ? 403 : 101)
      app.proxy = true
      assert.equal(await statusOf('https://public.test', { 'X-Forwarded-Host': 'public.test', 'X-Forwarded-Proto': 'https' }), 101)
      assert.equal(await statusOf('http://public.test', { 'X-Forwarded-Host': 'public.test', 'X-Forwarded-Proto': 'https' }), 403)
    })

    it('should keep a socket open behind an error outside of the handler, in isolate', async () => {
      const { app, open } = await start(socket => {
        socket.on('message', data => {
          setTimeout(() => { throw new Error('of a timer') }, 0)
          socket.send(data)
        })
      }, { around: [isolate()] })
      const client = open()
      const got = messagesOf(client, 2)
      await once(client, 'open')
      client.send('a')
      await until(() => app.errors.length === 1)
      client.send('b')
      assert.deepEqual(await got, ['a', 'b'])
      client.terminate()
    })
  })
}
