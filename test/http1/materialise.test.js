'use strict'

const assert = require('node:assert/strict')
const http = require('node:http')
const { Readable, PassThrough, pipeline } = require('node:stream')
const { pipeline: pipelined } = require('node:stream/promises')
const busboy = require('busboy')
const compression = require('compression')
const cookieSession = require('cookie-session')
const express = require('express')
const { formidable } = require('formidable')
const morgan = require('morgan')
const onFinished = require('on-finished')
const onHeaders = require('on-headers')
const rawBody = require('raw-body')
const zlib = require('node:zlib')

const { get, sides, waitFor } = require('./sides')

const post = (body, more = '') => `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n${more}\r\n${body}`
const bodyOf = text => text.slice(text.indexOf('\r\n\r\n') + 4)

/** A middleware of connect's kind in an onion: what it does before `next` is done before ours go on. */
const connect = fn => (ctx, next) => new Promise((resolve, reject) => {
  fn(ctx.req, ctx.res, err => err ? reject(err) : resolve(next()))
})

sides('ctx.req and ctx.res', ({ side, it, serve }) => {
  it("should be node's own objects", async () => {
    const { talk, sockets } = await serve(app => app.use(ctx => {
      const { req, res } = ctx
      assert(req instanceof http.IncomingMessage)
      assert(res instanceof http.ServerResponse)
      assert.equal(req.socket, sockets[0])
      assert.equal(req.socket, ctx.socket)
      assert.equal(req.client, req.socket)
      assert.equal(res.socket, req.socket)
      assert.equal(res.connection, req.socket)
      assert.equal(res.req, req)
      assert.equal(req.socket._httpMessage, res)
      assert.equal(ctx.req, req)
      assert.equal(ctx.request.req, req)
      assert.equal(ctx.response.req, req)
      assert.equal(ctx.res, res)
      assert.equal(ctx.response.res, res)
      assert.deepEqual(req.rawHeaders, ['Host', 'a', 'X-Some', 'One', 'x-some', 'two'])
      assert.deepEqual({ ...req.headers }, { host: 'a', 'x-some': 'One, two' })
      assert.deepEqual({ ...req.headersDistinct }, { host: ['a'], 'x-some': ['One', 'two'] })
      ctx.body = 'yes'
    }))
    const client = await talk(get('/', 'X-Some: One\r\nx-some: two\r\n'))
    await client.until(/yes$/)
  })

  it('should hold what was set before, and set what is read after', async () => {
    const { talk } = await serve(app => app.use(ctx => {
      ctx.set('X-Before', 'b')
      ctx.set('X-Many', ['1', '2'])
      ctx.status = 201
      ctx.message = 'Before'
      const { res } = ctx
      assert.equal(res.getHeader('x-before'), 'b')
      assert.deepEqual(res.getHeader('X-Many'), ['1', '2'])
      assert.deepEqual([res.statusCode, res.statusMessage], [201, 'Before'])
      res.setHeader('X-After', 'a')
      res.removeHeader('X-Many')
      res.statusCode = 202
      assert.equal(ctx.response.get('X-After'), 'a')
      assert.equal(ctx.response.get('X-Many'), '')
      assert.equal(ctx.status, 202)
      ctx.body = 'both'
    }))
    const client = await talk(get('/'))
    await client.until(/both$/)
    assert.match(client.text, /^HTTP\/1\.1 202 Before\r\nX-Before: b\r\nX-After: a\r\n/)
  })

  it('should see late changes of the request, in both directions', async () => {
    const { talk } = await serve(app => app.use(ctx => {
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
    }))
    const client = await talk(get('/'))
    await client.until(/seen$/)
  })

  it('should respond with by hand with ctx.respond = false', async () => {
    const { talk } = await serve(app => app.use(async ctx => {
      ctx.respond = false
      await null
      ctx.res.writeHead(201, { 'Content-Type': 'text/x' })
      ctx.res.write('by ')
      setImmediate(() => ctx.res.end('hand'))
    }))
    const client = await talk(get('/'))
    await client.until(/\r\n3\r\nby \r\n4\r\nhand\r\n0\r\n\r\n$/)
    client.write(get('/'))
    await client.until(/hand[^]+hand\r\n0\r\n\r\n$/)
  })

  it('should call patched methods', async () => {
    const calls = []
    const { talk } = await serve(app => app.use((ctx, next) => {
      for (const name of ['writeHead', 'setHeader', 'end', 'on']) {
        const real = ctx.res[name]
        ctx.res[name] = function (...args) {
          calls.push(name)
          return real.apply(this, args)
        }
      }
      return next()
    }).use(ctx => {
      ctx.set('X-Set', '1')
      ctx.body = 'patched'
    }))
    const client = await talk(get('/'))
    await client.until(/patched$/)
    for (const name of ['writeHead', 'setHeader', 'end']) assert(calls.includes(name), name)
  })

  it('should take a stream by pipe and by pipeline', async () => {
    const { talk } = await serve(app => app.use(async ctx => {
      ctx.respond = false
      if (ctx.path === '/pipe') Readable.from(['pi', 'pe']).pipe(ctx.res)
      else if (ctx.path === '/pipeline') pipeline(Readable.from(['pipe', 'line']), ctx.res, () => {})
      else await pipelined(Readable.from(['a', 'wait']), new PassThrough(), ctx.res)
    }))
    for (const [path, end] of [['/pipe', 'pe'], ['/pipeline', 'line'], ['/await', 'wait']]) {
      const client = await talk(get(path))
      await client.until(new RegExp(`${end}\\r\\n0\\r\\n\\r\\n$`))
    }
  })

  it("should have node's values after the response is sent", async () => {
    let seen
    const { talk } = await serve(app => app.use(ctx => {
      ctx.onFinished(() => {
        const { req, res } = ctx
        seen = [res.headersSent, res.writableEnded, res.writableFinished, res.finished, req.complete, req.aborted, res.statusCode]
      })
      ctx.status = 202
      ctx.body = 'out'
    }))
    const client = await talk(get('/'))
    await client.until(/out$/)
    await waitFor(() => seen, 'the end')
    assert.deepEqual(seen, [true, true, true, true, true, false, 202])
  })

  it("should have node's values after the client is gone", async () => {
    let seen
    let arrived
    const { talk } = await serve(app => app.use(async ctx => {
      ctx.respond = false
      arrived = true
      await new Promise(resolve => ctx.onFinished(resolve))
      const { req, res } = ctx
      seen = [res.headersSent, res.writableEnded, res.destroyed, req.aborted, req.destroyed]
      res.end('too late')
    }))
    const client = await talk(get('/'))
    await waitFor(() => arrived, 'the request')
    client.destroy()
    await waitFor(() => seen, 'the end')
    assert.deepEqual(seen.slice(0, 3), [false, false, true])
  })

  it('should be there for an app that was mounted by hand', async () => {
    const { talk } = await serve(app => {
      const inner = new app.constructor()
      inner.use(ctx => { ctx.body = `inner ${ctx.path}` })
      const handle = inner.callback()
      app.use(ctx => {
        ctx.respond = false
        return handle(ctx.req, ctx.res)
      })
    })
    const client = await talk(get('/x'))
    await client.until(/inner \/x$/)
  })

  it(`should ${side === 'front' ? 'keep' : 'leave'} the connection with the front`, async () => {
    const { talk, sockets } = await serve(app => app.use(ctx => { ctx.body = `${ctx.req.url} ${ctx.res.statusCode}` }))
    const client = await talk(get('/1'))
    await client.until(/\/1 \d+$/)
    assert.equal('parser' in sockets[0], side !== 'front')
  })
})

sides('packages that patch ctx.res', ({ it, serve }) => {
  it('should run morgan', async () => {
    const lines = []
    const log = morgan(':method :url :status :res[content-length] :req[host] :response-time', { stream: { write: line => lines.push(line) } })
    const { talk } = await serve(app => app.use(connect(log)).use(ctx => { ctx.body = 'logged' }))
    const client = await talk(get('/a?b'))
    await client.until(/logged$/)
    await waitFor(() => lines.length, 'a line')
    assert.match(lines[0], /^GET \/a\?b 200 6 a \d+\.\d+\n$/)
  })

  it('should run on-headers', async () => {
    const { talk } = await serve(app => app.use((ctx, next) => {
      onHeaders(ctx.res, function () { this.setHeader('X-On-Headers', this.statusCode) })
      return next()
    }).use(ctx => { ctx.body = 'on headers' }))
    const client = await talk(get('/'))
    await client.until(/on headers$/)
    assert.match(client.text, /\r\nX-On-Headers: 200\r\n/)
  })

  it('should run compression', async () => {
    const { talk } = await serve(app => app.use(connect(compression({ threshold: 0 }))).use(ctx => { ctx.body = 'compressed '.repeat(50) }))
    const client = await talk(get('/', 'Accept-Encoding: gzip\r\nConnection: close\r\n'))
    const text = await client.all()
    assert.match(text, /\r\nContent-Encoding: gzip\r\n/)
    assert.match(text, /\r\nVary: Accept-Encoding\r\n/)
    const chunked = bodyOf(text)
    const data = []
    for (let at = 0, size; (size = parseInt(chunked.slice(at), 16)); at += 2) {
      at = chunked.indexOf('\r\n', at) + 2
      data.push(chunked.slice(at, at += size))
    }
    assert.equal(zlib.gunzipSync(Buffer.from(data.join(''), 'latin1')).toString(), 'compressed '.repeat(50))
  })

  it('should run cookie-session', async () => {
    const { talk } = await serve(app => app.use(connect(cookieSession({ keys: ['k'] }))).use(ctx => {
      ctx.req.session.count = (ctx.req.session.count ?? 0) + 1
      ctx.body = `count ${ctx.req.session.count}`
    }))
    const client = await talk(get('/'))
    await client.until(/count 1$/)
    const cookies = [...client.text.matchAll(/Set-Cookie: ([^;]+)/gi)].map(match => match[1]).join('; ')
    client.write(get('/', `Cookie: ${cookies}\r\n`))
    await client.until(/count 2$/)
  })

  it('should carry express on top', async () => {
    const inner = express()
    inner.use(express.json())
    inner.post('/', (req, res) => res.status(201).json({ got: req.body, ip: req.ip }))
    inner.get('/send', (req, res) => res.send('express'))
    const { talk } = await serve(app => app.use(ctx => {
      ctx.respond = false
      return inner(ctx.req, ctx.res)
    }))
    const client = await talk(post('{"a":1}', 'Content-Type: application/json\r\n'))
    await client.until(/\{"got":\{"a":1\},"ip":"127\.0\.0\.1"\}$/)
    assert.match(client.text, /^HTTP\/1\.1 201 Created\r\nX-Powered-By: Express\r\n/)
    client.write(get('/send'))
    await client.until(/express$/)
    client.write(get('/missing'))
    await client.until(/Cannot GET \/missing[^]+<\/html>\n$/)
  })

  it('should run on-finished on both', async () => {
    const seen = []
    const { talk } = await serve(app => app.use(ctx => {
      onFinished(ctx.res, err => seen.push(`res ${err}`))
      onFinished(ctx.req, err => seen.push(`req ${err}`))
      assert.equal(onFinished.isFinished(ctx.res), false)
      ctx.body = 'finished'
    }))
    const client = await talk(get('/'))
    await client.until(/finished$/)
    await waitFor(() => seen.length === 2, 'both')
    assert.deepEqual(seen.toSorted(), ['req null', 'res null'])
  })
})

sides('packages that read ctx.req', ({ it, serve }) => {
  const multipart = '--b\r\nContent-Disposition: form-data; name="field"\r\n\r\nvalue\r\n' +
    '--b\r\nContent-Disposition: form-data; name="file"; filename="f.txt"\r\nContent-Type: text/plain\r\n\r\ncontent\r\n--b--\r\n'
  const upload = post(multipart, 'Content-Type: multipart/form-data; boundary=b\r\n')

  // Each package gets the body in the read of the headers, in a second one, and after the handler waited.
  const variants = {
    'in one read': async (talk, message) => talk(message),
    'in two reads': async (talk, message) => {
      const split = message.indexOf('\r\n\r\n') + 6
      const client = await talk(message.slice(0, split))
      await new Promise(resolve => setTimeout(resolve, 10))
      client.write(message.slice(split))
      return client
    }
  }

  for (const [how, send] of Object.entries(variants)) {
    for (const wait of [false, true]) {
      const name = `${how}${wait ? ', late' : ''}`
      const later = () => wait && new Promise(resolve => setTimeout(resolve, 15))

      it(`should run raw-body, ${name}`, async () => {
        const { talk } = await serve(app => app.use(async ctx => {
          await later()
          ctx.body = await rawBody(ctx.req, { length: ctx.length, limit: '1mb', encoding: 'utf8' })
        }))
        const client = await send(talk, post('raw body'))
        await client.until(/\r\n\r\nraw body$/)
      })

      it(`should run busboy, ${name}`, async () => {
        const { talk } = await serve(app => app.use(async ctx => {
          await later()
          const found = []
          const parser = busboy({ headers: ctx.req.headers })
          parser.on('field', (name, value) => found.push(`${name}=${value}`))
          parser.on('file', (name, file) => file.on('data', data => found.push(`${name}=${data}`)))
          await pipelined(ctx.req, parser)
          ctx.body = found.join('&')
        }))
        const client = await send(talk, upload)
        await client.until(/field=value&file=content$/)
      })

      it(`should run formidable, ${name}`, async () => {
        const { talk } = await serve(app => app.use(async ctx => {
          await later()
          const [fields, files] = await formidable({}).parse(ctx.req)
          ctx.body = `${fields.field} ${files.file[0].originalFilename} ${files.file[0].size}`
        }))
        const client = await send(talk, upload)
        await client.until(/value f\.txt 7$/)
      })

      it(`should iterate, ${name}`, async () => {
        const { talk } = await serve(app => app.use(async ctx => {
          await later()
          let text = ''
          for await (const chunk of ctx.req) text += chunk
          ctx.body = `${text} ${ctx.req.complete}`
        }))
        const client = await send(talk, post('iterated'))
        await client.until(/iterated true$/)
      })
    }
  }

  it('should read what was already read on the fast path as an ended stream', async () => {
    const { talk } = await serve(app => app.use(async ctx => {
      const body = await ctx.request.readBody({ limit: 100 })
      const { req } = ctx
      ctx.body = `${body} ${req.readableEnded} ${req.complete}`
    }))
    const client = await talk(post('fast'))
    await client.until(/fast true true$/)
  })
})
