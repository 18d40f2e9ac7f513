'use strict'

const { describe, it, before, after } = require('node:test')
const assert = require('node:assert/strict')
const { once } = require('node:events')
const http = require('node:http')
const http2 = require('node:http2')
const { Readable } = require('node:stream')
const Kone = require('../helpers/kone')
const until = require('../helpers/until')

/** What a proxying app copies from its upstream (RFC 9113, 8.2.2), by ctx, by node's response or as headers of an error. */
const FIELDS = { 'Keep-Alive': 'timeout=5', 'Transfer-Encoding': 'chunked', Upgrade: 'h2c', 'Proxy-Connection': 'keep-alive', Connection: 'keep-alive', 'HTTP2-Settings': 'AAMAAABk' }

const WAYS = {
  set: (ctx, name, value) => ctx.set(name, value),
  'res.setHeader': (ctx, name, value) => ctx.res.setHeader(name, value),
  copied: (ctx, name, value) => ctx.set({ [name]: value, 'X-Other': '1' })
}

const BODIES = {
  text: ctx => { ctx.body = 'hello' },
  json: ctx => { ctx.body = { a: 1 } },
  buffer: ctx => { ctx.body = Buffer.from('hello') },
  stream: ctx => { ctx.body = Readable.from(['a', 'b']) },
  'an empty stream': ctx => { ctx.body = Readable.from([]) },
  null: ctx => { ctx.body = null },
  'null with a status': ctx => { ctx.status = 401; ctx.body = null },
  'a status alone': ctx => { ctx.status = 404 },
  204: ctx => { ctx.status = 204 },
  304: ctx => { ctx.status = 304 },
  'an error': (ctx, name, value) => ctx.throw(422, 'no', { headers: { [name]: value } }),
  'the headers first': ctx => { ctx.status = 200; ctx.flushHeaders(); ctx.body = Readable.from(['a']) }
}

async function respondedTo (session, method, path) {
  const stream = session.request({ ':method': method, ':path': path }, { endStream: true })
  stream.setTimeout(5000, () => stream.destroy(new Error(`${method} ${decodeURIComponent(path)}: no response within 5 s`)))
  let headers
  let body = ''
  stream.setEncoding('utf8').on('response', all => { headers = all }).on('data', text => { body += text })
  await once(stream, 'close')
  assert.notEqual(headers, undefined, `${method} ${decodeURIComponent(path)} was reset: ${stream.rstCode}`)
  return { headers, body }
}

describe('HTTP/2', () => {
  let front, two, session

  before(async () => {
    const app = new Kone()
    app.silent = true
    app.use(ctx => {
      const [name, way, body] = JSON.parse(decodeURIComponent(ctx.querystring))
      WAYS[way](ctx, name, FIELDS[name])
      return BODIES[body](ctx, name, FIELDS[name])
    })
    front = app.listen(0, '127.0.0.1')
    two = http2.createServer(app.callback()).listen(0, '127.0.0.1')
    await Promise.all([once(front, 'listening'), once(two, 'listening')])
    session = http2.connect(`http://127.0.0.1:${two.address().port}`)
  })
  after(() => {
    session.destroy()
    two.close()
    front.close()
  })

  async function byFront (method, path) {
    const req = http.request({ port: front.address().port, host: '127.0.0.1', method, path, agent: false }).end()
    const [res] = await once(req, 'response')
    return { status: res.statusCode, body: (await res.setEncoding('utf8').toArray()).join(''), type: res.headers['content-type'] }
  }

  async function byTwo (method, path) {
    const { headers, body } = await respondedTo(session, method, path)
    for (const name of Object.keys(FIELDS)) assert(!(name.toLowerCase() in headers), name)
    return { status: headers[':status'], body, type: headers['content-type'] }
  }

  for (const name of Object.keys(FIELDS)) {
    it(`should respond as the front where an app sets ${name}`, async () => {
      for (const way of Object.keys(WAYS)) {
        for (const body of Object.keys(BODIES)) {
          for (const method of ['GET', 'HEAD', 'POST']) {
            const path = `/?${encodeURIComponent(JSON.stringify([name, way, body]))}`
            const [one, other] = [await byFront(method, path), await byTwo(method, path)]
            const what = `${method}, ${body}, by ${way}`
            // HTTP/2 has no reason phrase: an empty body is the status
            if (body === 'a status alone' && method !== 'HEAD') assert.deepEqual([one.body, other.body], ['Not Found', '404'], what)
            else assert.deepEqual(other, one, what)
          }
        }
      }
    })
  }

  it('should name the place where an app sets one, in development', async () => {
    const app = new Kone({ env: 'development' })
    app.use(ctx => {
      ctx.set('Keep-Alive', 'timeout=5')
      ctx.body = 'a'
    })
    const server = http2.createServer(app.callback()).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const client = http2.connect(`http://127.0.0.1:${server.address().port}`)
    const warned = once(process, 'warning')
    await respondedTo(client, 'GET', '/')
    const [{ code, message }] = await warned
    assert.equal(code, 'KONE_WARN_MISTAKE')
    assert.match(message, /^Keep-Alive is not sent over HTTP\/2 \(\S*http2\.test\.js:\d+\)/)
    client.destroy()
    server.close()
  })

  it('should respond 500 at once for two Content-Types, and hang for none', async () => {
    const app = new Kone()
    app.silent = true
    app.use(ctx => {
      BODIES[decodeURIComponent(ctx.path.slice(1))](ctx, 'X-A', '1')
      ctx.res.setHeader('Content-Type', ['a/b', 'c/d'])
    })
    const server = http2.createServer(app.callback()).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const client = http2.connect(`http://127.0.0.1:${server.address().port}`)
    for (const body of Object.keys(BODIES).filter(name => !['an error', 'the headers first'].includes(name))) {
      for (const method of ['GET', 'HEAD']) {
        const { headers } = await respondedTo(client, method, `/${encodeURIComponent(body)}`)
        const isStripped = ['null', '204', '304', 'null with a status', 'a status alone'].includes(body) // they have no Content-Type, or one of kone's
        if (!isStripped) assert.equal(headers[':status'], 500, `${method} ${body}`)
      }
    }
    client.destroy()
    server.close()
  })

  it('should respond to an upload that nobody reads, whole or not', async () => {
    const app = new Kone()
    app.silent = true
    app.use(ctx => BODIES[decodeURIComponent(ctx.path.slice(1))](ctx, 'X-A', '1'))
    const server = http2.createServer(app.callback()).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const client = http2.connect(`http://127.0.0.1:${server.address().port}`)
    for (const body of Object.keys(BODIES)) {
      for (const part of ['', 'hello', 'hel']) {
        const stream = client.request({ ':method': 'POST', ':path': `/${encodeURIComponent(body)}`, 'content-length': 5 })
        stream.setTimeout(5000, () => stream.destroy())
        let status
        stream.on('response', headers => { status = headers[':status'] }).on('error', () => {}).resume()
        if (part === 'hello') stream.end(part)
        else if (part !== '') stream.write(part)
        await once(stream, 'close')
        assert.notEqual(status, undefined, `${body}, ${part.length} of 5 bytes`)
      }
    }
    client.destroy()
    server.close()
  })

  it('should call an upload aborted that its client has cancelled, however long a middleware waits', async () => {
    const app = new Kone()
    app.silent = true
    const codes = []
    let left = 0
    app.use(async ctx => {
      await until(() => left === 1)
      await ctx.request.readBody().catch(err => codes.push(err.code, err.status))
    })
    const server = http2.createServer(app.callback()).listen(0, '127.0.0.1')
    server.on('stream', stream => stream.on('close', () => { left++ }))
    await once(server, 'listening')
    const client = http2.connect(`http://127.0.0.1:${server.address().port}`)
    const stream = client.request({ ':method': 'POST', ':path': '/' })
    stream.on('error', () => {}).on('ready', () => {
      stream.write('abc', () => stream.close(http2.constants.NGHTTP2_CANCEL))
    })
    await until(() => codes.length > 0)
    assert.deepEqual(codes, ['KONE_ERR_BODY_ABORTED', 400])
    client.destroy()
    server.close()
  })
})
