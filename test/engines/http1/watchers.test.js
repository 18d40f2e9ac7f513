'use strict'

const { describe, it: test } = require('node:test')
const assert = require('node:assert/strict')
const diagnostics = require('node:diagnostics_channel')
const http = require('node:http')

const ownProcess = require('./own-process')
const { get, holding, isNodes, post, sides, unsupported, use, waitFor } = require('./sides')

const CHANNELS = ['http.server.request.start', 'http.server.response.created', 'http.server.response.finish']

/** `note` gets what node publishes on a channel; gives back how to end it. */
function subscribe (name, note) {
  diagnostics.subscribe(name, note)
  return () => diagnostics.unsubscribe(name, note)
}

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
  async function watched (watch, expected = /hello$/, isFront = side === 'front') {
    const bodies = []
    const site = await serve(use(async ctx => {
      bodies.push(`${await ctx.request.readBody()}`)
      ctx.body = 'hello'
    }))
    const log = []
    const unwatch = watch(site, what => log.push(what))
    try {
      const client = await site.ask(get('/one?a=1', 'X-Some: One\r\n'), expected)
      await client.ask(post('body', '', 4, '/two'), expected)
    } finally {
      unwatch()
    }
    const after = log.length
    await site.ask(get('/three'))
    assert.equal(log.length, after, 'nothing is seen when the watcher is gone')
    if (isFront) assert(!site.sockets.some(isNodes), 'the front has every socket')
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

  /** On a server that other code has created, only as long as the server itself calls kone's listener. */
  const staysWithOthers = side === 'front' && process.env.KONE_FRONT !== 'callback'

  /** `listener(req, res, own)` in the place of kone's own. */
  function replace (server, listener) {
    const [own] = server.listeners('request')
    server.removeAllListeners('request')
    server.on('request', (req, res) => listener(req, res, own))
    return () => {
      server.removeAllListeners('request')
      server.on('request', own)
    }
  }

  it("should be able to stand in the place of kone's listener and call it", async () => {
    const { log } = await watched(({ server }, note) => replace(server, (req, res, own) => {
      note(seen(req, res))
      own.call(server, req, res)
    }), undefined, staysWithOthers)
    assert.deepEqual(log, [ONE, TWO])
  })

  it('should be able to respond instead of the app', async () => {
    const { log, bodies } = await watched(({ server }, note) => replace(server, (req, res) => {
      note(req.url)
      res.end('other')
    }), /other$/, staysWithOthers)
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
      const { log } = await watched(({ server }, note) => subscribe(name, ({ request, response, socket, server: of }) => {
        if (socket !== undefined && of !== server) return
        note([request.url, response.req === request, socket === undefined || socket === request.socket, response.finished])
      }))
      if (name.endsWith('created') && log.length === 0) return // Node 20 has no such channel
      const isFinished = name.endsWith('finish')
      assert.deepEqual(log, [['/one?a=1', true, true, isFinished], ['/two', true, true, isFinished]])
    })
  }
})

sides('who watches an unsupported request behind an open response', ({ it, serve }) => {
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
    ways[`a subscriber of ${name}`] = (server, note) => subscribe(name, ({ request }) => note(request.url))
  }

  for (const [title, watch] of Object.entries(ways)) {
    it(`should see it once: ${title}`, async () => {
      const { begun, release, setup } = holding(async ctx => { ctx.body = `${ctx.path} ${await ctx.request.readBody()}` }, ctx => ctx.path === '/open')
      const { server, talk, sockets } = await serve(setup)
      const seen = []
      const client = await talk()
      const undo = watch(server, what => seen.push(what))
      try {
        client.write(get('/open'))
        await begun()
        const before = sockets[0].bytesRead
        client.write(unsupported('4\r\nbody\r\n0\r\n\r\n', '/chunked'))
        await waitFor(() => sockets[0].bytesRead > before, 'the second one')
        release()
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
  for (const targets of [['/'], ['/', '/two']]) {
    it(`should get each response that is flushed from then on: ${targets.length}`, async () => {
      const { begun, release, setup } = holding(ctx => {
        ctx.status = 201
        ctx.set('X-Some', 'one')
        ctx.body = 'hello'
      }, () => true)
      const { server, talk, sockets } = await serve(setup)
      const client = await talk(targets.map(target => get(target)).join(''))
      await begun(targets.length)
      const seen = []
      const unsubscribe = subscribe(CHANNELS[2], ({ request, response, socket, server: of }) => seen.push([
        request.url, response.req === request, response instanceof http.ServerResponse, response.statusCode,
        response.getHeader('X-Some'), response.finished, response.writableFinished, socket === sockets[0], of === server
      ]))
      try {
        release()
        await client.until(targets.length === 1 ? /hello$/ : /hello[^]+hello$/)
        await waitFor(() => seen.length >= targets.length, 'the subscriber')
      } finally {
        unsubscribe()
      }
      assert.deepEqual(seen, targets.map(url => [url, true, true, 201, 'one', true, true, true, true]))
    })
  }
})

describe('KONE_WARN_FALLBACK', () => {
  const PATCHED = 'http.ServerResponse.prototype.emit = function (...args) { return http.Server.prototype.emit.apply(this, args) }'
  const REASON = 'patched methods of http.IncomingMessage, OutgoingMessage or ServerResponse'
  const warned = async (before, env) => (await ownProcess({ before, env })).warnings

  test('should be emitted once per process and cause', async () => {
    assert.deepEqual(await warned(PATCHED), [REASON])
  })

  test('should not be emitted in production for the patches of an agent that is loaded', async () => {
    const loaded = name => `${PATCHED}; require.cache['/app/node_modules/${name}/index.js'] = module`
    for (const name of ['dd-trace', 'newrelic', 'elastic-apm-node']) {
      assert.deepEqual(await warned(loaded(name), { NODE_ENV: 'production' }), [])
    }
    assert.deepEqual(await warned(loaded('newrelic')), [REASON])
    assert.deepEqual(await warned(loaded('pg-newrelic'), { NODE_ENV: 'production' }), [REASON])
    const limited = loaded('newrelic').replace(PATCHED, 'server.maxRequestsPerSocket = 9')
    assert.deepEqual(await warned(limited, { NODE_ENV: 'production' }), ['server.maxRequestsPerSocket'])
  })

  test('should not be emitted without a fallback, in tests, for a silent app, or for what the app asked for', async () => {
    assert.deepEqual(await warned(''), [])
    assert.deepEqual(await warned(PATCHED, { NODE_ENV: 'test' }), [])
    assert.deepEqual(await warned(`${PATCHED}; app.silent = true`), [])
    assert.deepEqual(await warned('app.http1 = false'), [])
  })
})
