'use strict'

const { after, describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { AsyncLocalStorage, createHook } = require('node:async_hooks')
const { once } = require('node:events')
const fs = require('node:fs')
const http = require('node:http')
const { PerformanceObserver } = require('node:perf_hooks')
const { Readable } = require('node:stream')
const onFinished = require('on-finished')

const Koa = require('koa')
const Kone = require('../helpers/kone')
const { Clock } = require('../../lib/http1/clock')
const { rows } = require('./readme')
const { get, settled, talk, waitFor } = require('./sides')

/*
 * The known differences of lib/http1/README.md. Each row is a test that shows what the front does, and what node:http (or
 * koa) does: a difference that is gone fails here, and so does one that the table does not know.
 */

const MAJOR = Number(process.versions.node.split('.')[0])

const open = []
after(() => {
  for (const server of open) {
    server.closeAllConnections()
    server.close()
  }
})

/** A client's connection to an app on the front, or on node:http. */
async function connect (Framework, use, { isNode = false } = {}) {
  const app = new Framework()
  app.silent = true
  use(app)
  const server = http.createServer()
  open.push(server)
  if (Framework === Kone && !isNode) app.attach(server)
  else server.on('request', app.callback())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return talk(server.address().port)
}

/** What `visit(client, app's state)` gives on the front and with node:http. */
async function both (visit) {
  const [front, node] = [await visit(use => connect(Kone, use)), await visit(use => connect(Kone, use, { isNode: true }))]
  return { front, node }
}

const DIFFERENCES = {
  async 'junk behind good requests in one read' () {
    const { front, node } = await both(async connect => {
      const client = await connect(app => app.use(ctx => { ctx.body = 'good' }))
      client.write(`${get('/')}${get('/')}JUNK\r\n\r\n`)
      return client.all()
    })
    assert.match(front, /^HTTP\/1\.1 400 [^]*Connection: close\r\n\r\n$/)
    assert.match(node, /HTTP\/1\.1 400 [^]*Connection: close\r\n\r\n$/)
    assert.equal(front.includes('good'), false)
  },

  async 'an unsupported request behind an open response' () {
    const chunked = 'POST /second HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'
    const { front, node } = await both(async connect => {
      const begun = []
      let release
      const client = await connect(app => app.use(async ctx => {
        begun.push(ctx.path)
        if (ctx.path === '/first') await new Promise(resolve => { release = resolve })
        ctx.body = ctx.path
      }))
      client.write(get('/first'))
      await waitFor(() => release, 'the first request')
      client.write(chunked)
      await settled(() => begun.length)
      const before = [...begun]
      release()
      await client.until(/\/first[^]*\/second$/)
      return before
    })
    assert.deepEqual({ front, node }, { front: ['/first'], node: ['/first', '/second'] })
  },

  async 'the chunks of a pipelined stream' () {
    const { front, node } = await both(async connect => {
      let release
      const client = await connect(app => app.use(async ctx => {
        if (ctx.path === '/first') await new Promise(resolve => { release = resolve })
        ctx.body = ctx.path === '/first' ? 'first' : Readable.from(['one ', 'two ', 'three'])
      }))
      client.write(get('/first') + get('/stream'))
      await waitFor(() => release, 'the first request')
      await settled(() => client.text.length)
      release()
      await client.until(/\r\n0\r\n\r\n$/)
      const [, chunks] = client.text.split('Transfer-Encoding: chunked\r\n\r\n')
      const list = []
      for (let rest = chunks, size; (size = parseInt(rest, 16)) > 0; rest = rest.slice(size + 2)) {
        rest = rest.slice(rest.indexOf('\n') + 1)
        list.push(rest.slice(0, size))
      }
      return list
    })
    assert.equal(front.join(''), 'one two three')
    assert.equal(node.join(''), front.join(''))
    if (MAJOR < 26) assert.deepEqual(node, front)
    else assert(node.length <= front.length)
  },

  async 'an informational response after the end' () {
    const { front, node } = await both(async connect => {
      let code = 'none'
      const client = await connect(app => app.use(ctx => {
        ctx.respond = false
        ctx.res.end('ended')
        try {
          ctx.res.writeProcessing()
        } catch (err) {
          code = err.code
        }
      }))
      client.write(get('/'))
      await client.until(/ended/)
      await settled(() => client.text.length)
      return { code, isWritten: client.text.includes('HTTP/1.1 102') }
    })
    const code = MAJOR < 24 ? 'none' : 'ERR_HTTP_HEADERS_SENT'
    assert.deepEqual({ front, node }, { front: { code, isWritten: false }, node: { code, isWritten: MAJOR < 24 } })
  },

  async 'ctx.res first read after the end' () {
    const { front, node } = await both(async connect => {
      let isThere
      const client = await connect(app => app.use(ctx => {
        ctx.body = 'ended'
        const look = async () => {
          while (ctx.writable) await null
          isThere = ctx.res.socket !== null
        }
        look()
      }))
      client.write(get('/'))
      await client.until(/ended/)
      return isThere
    })
    assert.deepEqual({ front, node }, { front: false, node: true })
  },

  async 'many pipelined requests' () {
    const { front, node } = await both(async connect => {
      let begun = 0
      const client = await connect(app => app.use(() => {
        begun++
        return new Promise(() => {})
      }))
      for (let i = 0; i < 40; i++) client.write(get('/').repeat(10))
      await settled(() => begun)
      client.destroy()
      return begun
    })
    assert.equal(node, 400)
    assert(front >= 256 && front < 400, `${front}`)
  },

  async "perf_hooks entries of type 'http'" () {
    const { front, node } = await both(async connect => {
      const seen = []
      const observer = new PerformanceObserver(list => seen.push(...list.getEntries().map(({ detail }) => detail.req.url)))
      observer.observe({ entryTypes: ['http'] })
      const client = await connect(app => app.use(ctx => { ctx.body = `${ctx.path} ${ctx.path === '/read' && ctx.res.req.url}` }))
      for (const path of ['/read', '/plain']) {
        client.text = ''
        client.write(get(path))
        await client.until(/(?:\/read|false)$/)
      }
      await settled(() => seen.length)
      observer.disconnect()
      return seen
    })
    assert.deepEqual(node, ['/read', '/plain'])
    assert.deepEqual(front, ['/read'])
  },

  async 'async ids' () {
    const { front, node } = await both(async connect => {
      const storage = new AsyncLocalStorage()
      let resources = 0
      const hook = createHook({ init (id, type) { if (type === 'HTTPINCOMINGMESSAGE') resources++ } }).enable()
      const seen = []
      const client = await connect(app => app.use(ctx => {
        seen.push(storage.getStore())
        storage.enterWith(ctx.path)
        ctx.body = 'x'
      }))
      for (const path of ['/first', '/second']) {
        client.text = ''
        client.write(get(path))
        await client.until(/x$/)
      }
      hook.disable()
      return { resources, seen }
    })
    assert.deepEqual(front, { resources: 0, seen: [undefined, undefined] })
    assert.deepEqual(node.seen, [undefined, MAJOR < 24 ? '/first' : undefined])
    assert(node.resources > 0)
  },

  async 'ctx.req and ctx.res as own properties' () {
    const { front, node } = await both(async connect => {
      let own
      const client = await connect(app => app.use(ctx => {
        const copy = { ...ctx }
        delete ctx.req
        own = [copy.req !== undefined, copy.res !== undefined, ctx.req === undefined]
        ctx.body = 'x'
      }))
      client.write(get('/'))
      await client.until(/\r\n\r\n/)
      return own
    })
    assert.deepEqual({ front, node }, { front: [false, false, false], node: [true, true, true] })
  },

  async 'ctx.res.req as a value' () {
    const { front, node } = await both(async connect => {
      let found
      const client = await connect(app => app.use(ctx => {
        found = Object.getOwnPropertyDescriptor(ctx.res, 'req')
        ctx.body = `${ctx.res.req === ctx.req}`
      }))
      client.write(get('/'))
      await client.until(/true$/)
      return Object.keys(found)[0]
    })
    assert.deepEqual({ front, node }, { front: 'get', node: 'value' })
  },

  async 'how much ctx.res.write() takes in one tick' () {
    const { front, node } = await both(async connect => {
      const took = []
      const client = await connect(app => app.use(ctx => {
        ctx.respond = false
        for (const size of [20, 60]) took.push(ctx.res.write('x'.repeat(size * 1024)))
        ctx.res.end()
      }))
      client.write(get('/', 'Connection: close\r\n'))
      await client.all()
      return took
    })
    assert.deepEqual(front, [true, false])
    assert.deepEqual(node, [MAJOR >= 22, false])
  },

  'when 408 and idle timeouts come' () {
    const period = server => {
      const clock = new Clock(server, new Set())
      clock.start()
      clearTimeout(clock.timer)
      return clock.period
    }
    assert.equal(period({ keepAliveTimeout: 1 }), 20)
    assert.equal(period({ keepAliveTimeout: 5000, connectionsCheckingInterval: 30000 }), 500)
    assert.equal(period({ keepAliveTimeout: 400 }), 100)
    assert.equal(period({}), 500)
  },

  async 'a file of a declared length' () {
    const size = fs.statSync(process.execPath).size
    const bytesRead = async (Framework, options) => {
      let file
      const client = await connect(Framework, app => app.use(ctx => {
        ctx.body = file = fs.createReadStream(process.execPath, { end: 199999 })
        ctx.length = 150000
      }), options)
      client.write(get('/'))
      await waitFor(() => file?.closed, 'the end of the file')
      client.end()
      return file.bytesRead
    }
    assert.ok(size > 200000)
    assert.equal(await bytesRead(Kone), 150000)
    assert.equal(await bytesRead(Kone, { isNode: true }), 150000)
    assert.equal(await bytesRead(Koa), 200000)
  },

  async "the order of on-finished's listeners" () {
    const sides = [[Koa], [Kone], [Kone, { isNode: true }]]
    const [koa, kone, koneOnNode] = await Promise.all(sides.map(async ([Framework, options]) => {
      const log = []
      const client = await connect(Framework, app => app.use(ctx => {
        ctx.res.on('finish', () => log.push('finish'))
        onFinished(ctx.res, () => log.push('on-finished'))
        ctx.body = 'x'
      }), options)
      client.write(get('/'))
      await waitFor(() => log.length === 2, () => log.join(' '))
      return log
    }))
    assert.deepEqual(koa, ['on-finished', 'finish'])
    assert.deepEqual(kone, ['finish', 'on-finished'])
    assert.deepEqual(koneOnNode, kone)
  }
}

describe('the known differences of lib/http1/README.md', () => {
  const table = rows('Known differences', 'Difference')

  it('should have a row for everything that is known here', () => {
    assert.deepEqual(table.map(([name]) => name), Object.keys(DIFFERENCES))
  })

  for (const [name, front, node] of table) {
    it(`should be there: ${name}`, { timeout: 60000 }, async () => {
      assert(front.length > 0 && node.length > 0)
      await DIFFERENCES[name]()
    })
  }
})
