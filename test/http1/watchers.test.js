'use strict'

const { describe, it: test } = require('node:test')
const assert = require('node:assert/strict')
const diagnostics = require('node:diagnostics_channel')
const { execFile } = require('node:child_process')
const http = require('node:http')
const { promisify } = require('node:util')

const { get, sides, waitFor } = require('./sides')

const CHANNELS = ['http.server.request.start', 'http.server.response.created', 'http.server.response.finish']

/** Node's connection listener has this socket. */
const isNodes = socket => 'parser' in socket

sides('who watches every request', ({ side, it, serve }) => {
  /** What a watcher may read of a request and its response. */
  const seen = (req, res) => ({
    isReal: req instanceof http.IncomingMessage && res instanceof http.ServerResponse,
    method: req.method,
    url: req.url,
    headers: { ...req.headers },
    rawHeaders: req.rawHeaders,
    complete: req.complete,
    linked: res.req === req && res.socket === req.socket && req.socket._httpMessage === res,
    headersSent: res.headersSent
  })

  /** Requests of one site while `watch(site)` lasts, which returns how to end it; then one more without it. */
  async function watched (watch, expected = /hello$/) {
    const bodies = []
    const site = await serve(app => app.use(async ctx => {
      const body = await ctx.request.readBody()
      bodies.push(body.toString())
      ctx.body = 'hello'
    }))
    const log = []
    const unwatch = watch(site, what => log.push(what))
    try {
      const client = await site.talk(get('/one?a=1', 'X-Some: One\r\n'))
      await client.until(expected)
      client.text = ''
      client.write('POST /two HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody')
      await client.until(expected)
    } finally {
      unwatch()
    }
    const after = log.length
    const last = await site.talk(get('/three'))
    await last.until(/hello$/)
    assert.equal(log.length, after, 'nothing is seen when the watcher is gone')
    if (side === 'front') assert(!site.sockets.some(isNodes), 'the front has every socket')
    return { log, bodies }
  }

  const ONE = {
    isReal: true,
    method: 'GET',
    url: '/one?a=1',
    headers: { host: 'a', 'x-some': 'One' },
    rawHeaders: ['Host', 'a', 'X-Some', 'One'],
    complete: false,
    linked: true,
    headersSent: false
  }
  const TWO = {
    ...ONE,
    method: 'POST',
    url: '/two',
    headers: { host: 'a', 'content-length': '4' },
    rawHeaders: ['Host', 'a', 'Content-Length', '4']
  }

  it("should be called as another 'request' listener, in front of the app's or behind it", async () => {
    for (const method of ['prependListener', 'on']) {
      const { log, bodies } = await watched(({ server }, note) => {
        const listener = (req, res) => note(seen(req, res))
        server[method]('request', listener)
        return () => server.off('request', listener)
      })
      assert.deepEqual(log, [ONE, TWO])
      assert.deepEqual(bodies, ['', 'body', ''])
    }
  })

  it("should be able to stand in the place of kone's listener and call it", async () => {
    const { log } = await watched(({ server }, note) => {
      const [own] = server.listeners('request')
      const listener = function (req, res) {
        note(seen(req, res))
        own.call(server, req, res)
      }
      server.removeAllListeners('request')
      server.on('request', listener)
      return () => {
        server.removeAllListeners('request')
        server.on('request', own)
      }
    })
    assert.deepEqual(log, [ONE, TWO])
  })

  it('should be able to respond instead of the app', async () => {
    const { log, bodies } = await watched(({ server }, note) => {
      const [own] = server.listeners('request')
      server.removeAllListeners('request')
      server.on('request', (req, res) => {
        note(req.url)
        res.end('other')
      })
      return () => {
        server.removeAllListeners('request')
        server.on('request', own)
      }
    }, /other$/)
    assert.deepEqual(log, ['/one?a=1', '/two'])
    assert.deepEqual(bodies, [''])
  })

  it('should be called by a patched emit, of the server or of its prototype', async () => {
    for (const which of ['server', 'prototype']) {
      const { log } = await watched(({ server }, note) => {
        const target = which === 'server' ? server : http.Server.prototype
        const { emit } = Object.getPrototypeOf(http.Server.prototype)
        target.emit = function (name, ...args) {
          if (name === 'request') note(seen(...args))
          return emit.call(this, name, ...args)
        }
        return () => delete target.emit
      })
      assert.deepEqual(log, [ONE, TWO])
    }
  })

  for (const name of CHANNELS) {
    it(`should get what node publishes on ${name}`, async () => {
      const { log } = await watched(({ server }, note) => {
        const subscriber = ({ request, response, socket, server: of }) => {
          if (socket !== undefined && of !== server) return
          note([request.url, response.req === request, socket === undefined || socket === request.socket, response.finished])
        }
        diagnostics.subscribe(name, subscriber)
        return () => diagnostics.unsubscribe(name, subscriber)
      })
      if (name.endsWith('created') && log.length === 0) return // Node 20 has no such channel
      const isFinished = name.endsWith('finish')
      assert.deepEqual(log, [['/one?a=1', true, true, isFinished], ['/two', true, true, isFinished]])
    })
  }
})

sides('who watches an unsupported request behind an open response', ({ it, serve }) => {
  const CHUNKED = 'POST /chunked HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n'

  /** Way to watch → `(server, note) => undo`; `note` gets the target of a request. */
  const ways = {
    'a patched emit of http.Server.prototype' (server, note) {
      const { emit } = http.Server.prototype
      const isOwn = Object.hasOwn(http.Server.prototype, 'emit')
      http.Server.prototype.emit = function (event, ...args) {
        if (event === 'request') note(args[0].url)
        else if (event !== 'close') note(event)
        return emit.call(this, event, ...args)
      }
      return () => isOwn ? Object.assign(http.Server.prototype, { emit }) : delete http.Server.prototype.emit
    },
    "another 'request' listener" (server, note) {
      server.on('request', req => note(req.url))
      return () => {}
    }
  }
  for (const name of CHANNELS) {
    ways[`a subscriber of ${name}`] = (server, note) => {
      const subscriber = ({ request }) => note(request.url)
      diagnostics.subscribe(name, subscriber)
      return () => diagnostics.unsubscribe(name, subscriber)
    }
  }

  for (const [title, watch] of Object.entries(ways)) {
    it(`should see it once: ${title}`, async () => {
      const held = []
      const { server, talk, sockets } = await serve(app => app.use(async ctx => {
        if (ctx.path === '/open') await new Promise(resolve => held.push(resolve))
        ctx.body = `${ctx.path} ${await ctx.request.readBody()}`
      }))
      const seen = []
      const client = await talk()
      const undo = watch(server, what => seen.push(what))
      try {
        client.write(get('/open'))
        await waitFor(() => held.length, 'the first request')
        const before = sockets[0].bytesRead
        client.write(CHUNKED)
        await waitFor(() => sockets[0].bytesRead > before, 'the second one')
        held[0]()
        await client.until(/\/open [^]+\/chunked body$/)
      } finally {
        undo()
      }
      if (title.endsWith('created') && seen.length === 0) return // Node 20 has no such channel
      assert.deepEqual(seen, ['/open', '/chunked'])
    })
  }
})

sides('a subscriber of http.server.response.finish that comes late', ({ it, serve }) => {
  for (const bytes of [get('/'), get('/') + get('/two')]) {
    it(`should get each response that is flushed from then on: ${bytes.split('HTTP/1.1').length - 1}`, async () => {
      const held = []
      const { server, talk, sockets } = await serve(app => app.use(async ctx => {
        await new Promise(resolve => held.push(resolve))
        ctx.status = 201
        ctx.set('X-Some', 'one')
        ctx.body = 'hello'
      }))
      const client = await talk(bytes)
      const count = bytes.split('HTTP/1.1').length - 1
      await waitFor(() => held.length === count, 'the requests')
      const seen = []
      const subscriber = ({ request, response, socket, server: of }) => seen.push([
        request.url, response.req === request, response instanceof http.ServerResponse, response.statusCode,
        response.getHeader('X-Some'), response.finished, response.writableFinished, socket === sockets[0], of === server
      ])
      diagnostics.subscribe(CHANNELS[2], subscriber)
      try {
        for (const resolve of held) resolve()
        await client.until(count === 1 ? /hello$/ : /hello[^]+hello$/)
        await waitFor(() => seen.length >= count, 'the subscriber')
      } finally {
        diagnostics.unsubscribe(CHANNELS[2], subscriber)
      }
      assert.deepEqual(seen, ['/', '/two'].slice(0, count).map(url => [url, true, true, 201, 'one', true, true, true, true]))
    })
  }
})

describe('KONE_WARN_FALLBACK', () => {
  const run = promisify(execFile)

  /** What a process warns of that serves two requests after `code`. */
  async function warned (code, env = {}) {
    const script = `
      const Kone = require('kone')
      const http = require('node:http')
      process.on('warning', ({ code, message }) => { if (code === 'KONE_WARN_FALLBACK') console.log(message) })
      process.removeAllListeners('warning').on('warning', w => { if (w.code === 'KONE_WARN_FALLBACK') console.log(w.message) })
      const app = new Kone()
      app.use(ctx => { ctx.body = 'x' })
      ${code}
      const server = app.listen(0, '127.0.0.1', async () => {
        for (let i = 0; i < 2; i++) await (await fetch('http://127.0.0.1:' + server.address().port)).text()
        server.close()
        server.closeAllConnections()
      })`
    const { stdout } = await run(process.execPath, ['-e', script], {
      cwd: __dirname,
      env: { ...process.env, NODE_ENV: '', KONE_HTTP1: '', ...env }
    })
    return stdout.trim().split('\n').filter(Boolean)
  }

  const PATCH = 'http.ServerResponse.prototype.writeHead = function (...args) {' +
    ' return Object.getPrototypeOf(http.ServerResponse.prototype).writeHead?.apply(this, args) ?? real.apply(this, args) }'
  const PATCHED = `const real = http.ServerResponse.prototype.writeHead; ${PATCH}`

  test('should be emitted once per process and cause', async () => {
    const warnings = await warned(PATCHED)
    assert.equal(warnings.length, 1)
    assert.match(warnings[0], /node:http.*patched methods of IncomingMessage, OutgoingMessage or ServerResponse/)
  })

  test('should not be emitted without a fallback, in tests, for a silent app, or for what the app asked for', async () => {
    assert.deepEqual(await warned(''), [])
    assert.deepEqual(await warned(PATCHED, { NODE_ENV: 'test' }), [])
    assert.deepEqual(await warned(`${PATCHED}; app.silent = true`), [])
    assert.deepEqual(await warned('app.http1 = false'), [])
  })
})
