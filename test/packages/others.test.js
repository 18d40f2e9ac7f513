'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { execFile } = require('node:child_process')
const { once } = require('node:events')
const http = require('node:http')
const net = require('node:net')
const { Readable, pipeline } = require('node:stream')
const { promisify } = require('node:util')
const connect = require('koa-connect')
const WebSocket = require('ws')

const Koa = require('koa')
const Kone = require('../helpers/kone')
const until = require('../helpers/until')
const { compare } = require('./side-by-side')

const run = promisify(execFile)
const isNodes = socket => 'parser' in socket

/** What `use(app, server)` gives in koa and in kone. */
async function both (set, use) {
  const sites = [Koa, Kone].map(Framework => {
    const app = new Framework()
    app.silent = true
    const extra = set(app)
    const server = app.listen(0, '127.0.0.1')
    const sockets = []
    server.on('connection', socket => sockets.push(socket))
    return { app, server, sockets, extra, name: Framework === Koa ? 'koa' : 'kone' }
  })
  try {
    return await Promise.all(sites.map(async site => {
      if (!site.server.listening) await once(site.server, 'listening')
      return use({ ...site, port: site.server.address().port })
    }))
  } finally {
    for (const { server } of sites) {
      server.closeAllConnections()
      server.close()
    }
  }
}

describe('the comparison', () => {
  const row = set => ({ set })

  it('should notice another status, another field, another log and a fallback', async () => {
    const differences = [
      (app, { isKone }) => app.use(ctx => { ctx.status = isKone ? 201 : 202 }),
      (app, { isKone }) => app.use((ctx, next) => {
        ctx.set(isKone ? 'X-A' : 'x-a', '1')
        return next()
      }),
      (app, { isKone, log }) => app.use((ctx, next) => { log(isKone); return next() })
    ]
    for (const set of differences) await assert.rejects(compare(row(set), null), { code: 'ERR_ASSERTION' })
    await assert.rejects(compare(row((app, { isKone }) => { if (isKone) app.http1 = false }), null), /kone's front is used/)
  })
})

describe("ws' handleUpgrade", () => {
  it('should get the same request, and leave the front what is plain', async () => {
    const [koa, kone] = await both(app => app.use(ctx => { ctx.body = 'plain' }), async ({ server, port, sockets, name }) => {
      const seen = []
      const wss = new WebSocket.WebSocketServer({ noServer: true })
      server.on('upgrade', (req, socket, rest) => {
        const { method, url, headers, rawHeaders, complete } = req
        seen.push({
          isReal: req instanceof http.IncomingMessage,
          method,
          url,
          complete,
          rest: rest.length,
          isSocket: req.socket === socket,
          fields: Object.keys(headers),
          raw: rawHeaders.filter((_, i) => i % 2 === 0)
        })
        if (url === '/refused') return socket.end('HTTP/1.1 403 Forbidden\r\nConnection: close\r\n\r\n')
        wss.handleUpgrade(req, socket, rest, client => client.on('message', data => client.send(`${data}!`)))
      })
      const text = async () => (await fetch(`http://127.0.0.1:${port}/`)).text()
      seen.push(await text())
      const client = new WebSocket(`ws://127.0.0.1:${port}/chat?a=1`)
      await once(client, 'open')
      for (const message of ['one', 'x'.repeat(70000)]) {
        client.send(message)
        const [data] = await once(client, 'message')
        seen.push(data.length)
      }
      client.close()
      await once(client, 'close')
      const [err] = await once(new WebSocket(`ws://127.0.0.1:${port}/refused`), 'error')
      seen.push(err.message, await text())
      if (name === 'kone') assert.equal(isNodes(sockets[0]), false, 'the front has the plain requests')
      return seen
    })
    assert.equal(koa.length, 7)
    assert.deepEqual(kone, koa)
  })
})

describe('light-my-request', () => {
  it('should inject the same into app.callback()', async () => {
    const inject = require('light-my-request')
    const [koa, kone] = await Promise.all([Koa, Kone].map(async Framework => {
      const app = new Framework()
      app.silent = true
      const log = []
      app.use(async (ctx, next) => {
        for (const name of ['prefinish', 'finish', 'close']) ctx.res.on(name, () => log.push(name))
        await next()
      })
      app.use(async ctx => {
        if (ctx.path === '/error') throw new Error('wrong')
        if (ctx.path === '/stream') ctx.body = Readable.from(['one ', 'two'])
        else if (ctx.method === 'POST') ctx.body = { got: (await Readable.from(ctx.req).toArray()).join('') }
        else ctx.body = { url: ctx.url, host: ctx.host, ip: ctx.ip }
      })
      const responses = []
      for (const request of [
        { url: '/a?b=c' }, { url: '/error' }, { url: '/stream' }, { method: 'HEAD', url: '/a' },
        { method: 'POST', url: '/', payload: 'some text', headers: { 'content-type': 'text/plain' } }
      ]) {
        const { statusCode, statusMessage, headers, payload } = await inject(app.callback(), request)
        responses.push({ statusCode, statusMessage, headers: { ...headers, date: undefined }, payload })
      }
      return { responses, log }
    }))
    assert.deepEqual(koa.responses.map(({ statusCode }) => statusCode), [200, 500, 200, 200, 200])
    assert.deepEqual(kone, koa)
  })
})

describe('back-pressure', { concurrency: true }, () => {
  const PIECE = Buffer.alloc(65536, 'a')
  const PIECES = 800 // more than all buffers between two sockets of loopback can hold

  const express = require('express')
  const pipe = (source, res) => pipeline(source, res, () => {})
  const WAYS = {
    'a stream as body': (app, source) => app.use(ctx => { ctx.body = source() }),
    'stream.pipeline into ctx.res': (app, source) => app.use(ctx => {
      ctx.respond = false
      pipe(source(), ctx.res)
    }),
    'express 5': (app, source) => app.use(connect(express().get('/', (req, res) => { pipe(source(), res.type('bin')) }))),
    'compression, which leaves this type alone': (app, source) => {
      app.use(connect(require('compression')())).use(ctx => {
        ctx.type = 'application/octet-stream'
        ctx.body = source()
      })
    },
    'a patched write': (app, source) => app.use(ctx => {
      const { write } = ctx.res
      ctx.res.write = function (...args) { return write.apply(this, args) }
      ctx.body = source()
    })
  }

  for (const [title, set] of Object.entries(WAYS)) {
    it(`should hold back a source while the client does not read, and destroy it when the client leaves: ${title}`, async () => {
      const results = await both(app => {
        const state = { made: 0, destroyed: false }
        set(app, () => new Readable({
          read () { this.push(state.made++ < PIECES ? PIECE : null) },
          destroy (err, callback) {
            state.destroyed = true
            callback(err)
          }
        }))
        return state
      }, async ({ port, extra: state, sockets, name }) => {
        const client = net.connect({ port, host: '127.0.0.1' }).pause()
        client.on('error', () => {})
        client.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
        await until(() => state.made > 0)
        let last = -1
        await until(() => {
          const isStill = last === state.made
          last = state.made
          return isStill && sockets[0].writableLength > 0
        })
        const held = state.made < PIECES
        client.once('data', () => client.pause()).resume()
        await once(client, 'data')
        client.destroy()
        await until(() => state.destroyed)
        if (name === 'kone') assert.equal(isNodes(sockets[0]), false, "kone's front has it")
        return held && state.made < PIECES
      })
      assert.deepEqual(results, [true, true])
    })
  }
})

describe('a patched prototype', { concurrency: 2 }, () => {
  // One method of each; test/engines/http1/fallback.test.js has the others.
  const PATCHES = [['IncomingMessage', 'emit'], ['OutgoingMessage', 'setHeader'], ['ServerResponse', 'writeHead']]

  /** A process with an app that patches, with the patched method's calls per response, and whether node:http has it. */
  const script = (framework, [name, method], when) => `
    const http = require('node:http')
    const patch = () => {
      const proto = http.${name}.prototype
      const real = proto.${method}
      proto.${method} = function patched (...args) {
        if (isMine(this)) calls.push(String(args[0]?.length > 20 ? args[0].length : args[0]))
        return real.apply(this, args)
      }
    }
    const mine = new Set()
    const isMine = object => mine.has(object)
    const calls = []
    ${when === 'before' ? 'patch()' : ''}
    const Koa = require(${JSON.stringify(framework)})
    ${when === 'after' ? 'patch()' : ''}
    const codes = []
    process.removeAllListeners('warning').on('warning', ({ code }) => codes.push(code))
    const app = new Koa()
    app.use((ctx, next) => {
      mine.add(ctx.req).add(ctx.res)
      return next()
    })
    app.use(ctx => { ctx.body = 'x' })
    const server = app.listen(0, '127.0.0.1', async () => {
      let socket
      server.on('connection', one => { socket = one })
      for (let i = 0; i < 2; i++) await (await fetch('http://127.0.0.1:' + server.address().port)).text()
      console.log(JSON.stringify({ calls, codes, isNodes: 'parser' in socket }))
      process.exit()
    })`

  async function report (framework, patch, when) {
    const { stdout } = await run(process.execPath, ['-e', script(framework, patch, when)], {
      cwd: __dirname,
      env: { ...process.env, NODE_ENV: '', KONE_HTTP1: '' }
    })
    return JSON.parse(stdout)
  }

  for (const patch of PATCHES) {
    for (const when of ['before', 'after']) {
      it(`should be called as in koa, by node:http, when http.${patch.join('.prototype.')} was patched ${when} kone was loaded`, async () => {
        const [koa, kone] = await Promise.all(['koa', '../..'].map(name => report(require.resolve(name), patch, when)))
        assert(koa.calls.length > 0, 'the patch is called')
        assert.deepEqual(koa.codes, [])
        assert.deepEqual(kone, { calls: koa.calls, isNodes: true, codes: ['KONE_WARN_FALLBACK'] })
      })
    }
  }
})
