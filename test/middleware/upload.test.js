'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')
const net = require('node:net')
const path = require('node:path')
const zlib = require('node:zlib')
const multer = require('multer')
const upload = require('kone/middleware/upload')
const bodyParser = require('kone/middleware/bodyParser')
const temporary = require('../helpers/folder')
const frameworks = require('../helpers/frameworks')
const until = require('../helpers/until')

const BOUNDARY = '----kone'
const TYPE = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` }

/**
 * @param {Array} parts [name, value] or [name, { filename, type, data }]
 */
function multipart (parts) {
  const chunks = parts.map(([name, value]) => {
    if (typeof value === 'string') {
      return Buffer.from(`--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`)
    }
    const { filename, type = 'application/octet-stream', data = '' } = value
    const head = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"; filename="${filename}"\r\n` +
      `Content-Type: ${type}\r\n\r\n`
    return Buffer.concat([Buffer.from(head), Buffer.from(data), Buffer.from('\r\n')])
  })
  return Buffer.concat([...chunks, Buffer.from(`--${BOUNDARY}--\r\n`)])
}

const scratch = temporary()

frameworks('upload', ({ it, Koa, ask, errors, listen }) => {
  const folder = () => fs.mkdtempSync(path.join(scratch, 'dest-'))
  const isEmpty = dest => until(() => fs.readdirSync(dest).length === 0)

  /** Echoes what it got, with what the files hold. */
  const serve = (options = {}) => {
    const app = new Koa()
    app.dest = options.dest || folder()
    app.reached = 0
    app.on('error', () => {})
    app.use(upload({ dest: app.dest, ...options }))
    app.use(ctx => {
      app.reached++
      const { files = null, body = null } = ctx.request
      ctx.body = { body, files: files && files.map(file => ({ ...file, data: fs.readFileSync(file.path, 'latin1') })) }
    })
    return app
  }
  const send = (app, parts, headers = TYPE) => ask(app, 'POST /', {
    headers,
    body: Array.isArray(parts) ? multipart(parts) : parts
  })

  /** A client that has sent the header section of a form of so many bytes. */
  const connect = async (app, length) => {
    const socket = net.connect((await listen(app)).port, '127.0.0.1')
    socket.on('error', () => {})
    socket.write(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\nContent-Type: ${TYPE['content-type']}\r\n\r\n`)
    return socket
  }

  it('should say what to use for what a file of multer has beside', async () => {
    const told = []
    const app = new Koa().use(upload({ dest: folder() })).use(ctx => {
      const [file] = ctx.request.files
      for (const name of ['buffer', 'filename', 'destination']) {
        try { told.push(file[name]) } catch (err) { told.push(err.message) }
      }
      file.filename = 'mine'
      ctx.body = [Object.keys(file), JSON.parse(JSON.stringify(file)).filename]
    })
    const res = await send(app, [['one', { filename: 'a.txt', data: 'x' }]])
    assert.deepEqual(told, [
      'upload: a file has no buffer, take await fs.promises.readFile(file.path) (kone/middleware/upload/README.md)',
      'upload: a file has no filename, take path.basename(file.path) (kone/middleware/upload/README.md)',
      'upload: a file has no destination, take path.dirname(file.path) (kone/middleware/upload/README.md)'
    ])
    assert.deepEqual(res.json(), [['fieldname', 'originalname', 'mimetype', 'size', 'path', 'filename'], 'mine'])
  })

  it('should keep what the handler has moved, and remove the rest when the response is flushed', async () => {
    const dest = folder()
    const kept = path.join(folder(), 'kept')
    const app = new Koa().use(upload({ dest })).use(async ctx => {
      assert.equal(fs.statSync(ctx.request.files[0].path).mode & 0o777, 0o600)
      await fs.promises.rename(ctx.request.files[0].path, kept)
      ctx.body = 'ok'
    })
    assert.equal((await send(app, [['a', { filename: 'a', data: 'A' }], ['b', { filename: 'b', data: 'B' }]])).text, 'ok')
    await isEmpty(dest)
    assert.equal(fs.readFileSync(kept, 'utf8'), 'A')
  })

  for (const [title, change] of Object.entries({
    'moves a file and writes its new path there': (file, kept) => { fs.renameSync(file.path, kept); file.path = kept },
    'deletes the path': (file, kept) => { fs.renameSync(file.path, kept); delete file.path },
    'changes the path of a file that it leaves': (file, kept) => { fs.copyFileSync(file.path, kept); file.path = kept },
    'empties the list': (file, kept, files) => { fs.renameSync(file.path, kept); files.length = 0 }
  })) {
    it(`should remove its own files alone when the handler ${title}`, async () => {
      const [dest, before] = [folder(), errors.length]
      const kept = path.join(folder(), 'kept')
      const app = new Koa().use(upload({ dest })).use(ctx => {
        const { files } = ctx.request
        change(files[0], kept, files)
        ctx.body = 'ok'
      })
      await send(app, [['a', { filename: 'a', data: 'A' }], ['b', { filename: 'b', data: 'B' }]])
      await isEmpty(dest)
      assert.equal(fs.readFileSync(kept, 'utf8'), 'A')
      assert.equal(errors.length, before)
    })
  }

  it('should remove them when the handler throws, or the client goes away before the response', async () => {
    const seen = []
    const dest = folder()
    const app = [upload({ dest }), ctx => {
      if (ctx.path === '/throw') throw new Error('no')
      return new Promise(() => seen.push(ctx))
    }]
    const body = multipart([['a', { filename: 'a', data: 'A' }]])
    assert.equal((await ask(app, 'POST /throw', { headers: TYPE, body })).status, 500)
    await isEmpty(dest)
    const socket = await connect(app, body.length)
    socket.write(body)
    await until(() => seen.length > 0)
    assert.equal(fs.readdirSync(dest).length, 1)
    socket.destroy()
    await isEmpty(dest)
  })

  it("should never make a path of the client's file name", async () => {
    const app = serve()
    for (const filename of [
      '../../evil', '/etc/passwd', '..\\\\..\\\\evil', 'C:\\\\evil', '..', '.', 'a/../../b', '%2e%2e%2fevil', 'x'.repeat(5000)
    ]) {
      const res = await send(app, [['f', { filename, data: 'x' }]])
      assert.equal(res.status, 200, filename)
      for (const file of res.json().files) {
        assert.equal(path.dirname(file.path), app.dest)
        assert.match(path.basename(file.path), /^[0-9a-f-]{36}$/)
      }
    }
    await isEmpty(app.dest)
  })

  it('should respond with 413 over a limit, before the handler runs, and leave nothing', async () => {
    const file = { filename: 'a', data: 'x'.repeat(1000) }
    for (const [limits, parts] of [
      [{ fileSize: 999 }, [['f', file]]],
      [{ fileSize: '500b' }, [['a', { filename: 'b', data: 'y' }], ['f', file]]],
      [{ files: 1 }, [['f', file], ['g', file]]],
      [{ files: 0 }, [['f', file]]],
      [{ fields: 1 }, [['a', '1'], ['b', '2']]],
      [{ fieldSize: 9 }, [['a', 'x'.repeat(10)]]],
      [{ fields: 1000 }, Array.from({ length: 20 }, (_, i) => [`k${i}`, 'x'.repeat(60000)])]
    ]) {
      const app = serve({ limits })
      const res = await send(app, parts)
      assert.equal(res.status, 413, JSON.stringify(limits))
      assert.equal(app.reached, 0)
      await isEmpty(app.dest)
    }
  })

  it('should take what is exactly at its limits', async () => {
    const app = serve({ limits: { fileSize: 1000, files: 2, fields: 2, fieldSize: 10 } })
    const file = { filename: 'a', data: 'x'.repeat(1000) }
    const res = await send(app, [['f', file], ['g', file], ['a', 'x'.repeat(10)], ['b', '']])
    assert.equal(res.status, 200)
    assert.deepEqual(res.json().body, { a: 'x'.repeat(10), b: '' })
  })

  it('should respond with 413 to a large file without reading all of it', async () => {
    const app = serve({ limits: { fileSize: '10kb' } })
    const socket = await connect(app, 1e9)
    socket.write(multipart([['f', { filename: 'a', data: 'x'.repeat(20000) }]]).subarray(0, 15000))
    let text = ''
    for await (const chunk of socket.setEncoding('latin1')) if (/\r\n\r\n/.test(text += chunk)) break
    assert.match(text, /^HTTP\/1\.1 413 /)
    await isEmpty(app.dest)
  })

  it('should respond with 400 to a malformed body', async () => {
    const good = multipart([['a', '1'], ['f', { filename: 'a', data: 'x'.repeat(5000) }]])
    for (const [body, headers] of [
      [good, { 'content-type': 'multipart/form-data' }],
      [good, { 'content-type': 'multipart/form-data; boundary' }],
      [good, { 'content-type': 'multipart/form-data; boundary=other' }],
      [good.subarray(0, -10), TYPE],
      [good.subarray(0, 200), TYPE],
      [good.subarray(0, 20), TYPE],
      ['', TYPE],
      ['junk', TYPE],
      [`--${BOUNDARY}\r\nContent-Disposition form-data\r\n\r\nx\r\n--${BOUNDARY}--\r\n`, TYPE],
      [`--${BOUNDARY}\r\nContent-Disposition: form-data\r\n\r\nx\r\n--${BOUNDARY}--\r\n`, TYPE],
      [`--${BOUNDARY}\r\nContent-Disposition: form-data; filename="x"\r\n\r\nx\r\n--${BOUNDARY}--\r\n`, TYPE],
      [`--${BOUNDARY}\r\n${'X-A: b\r\n'.repeat(5000)}\r\nx\r\n--${BOUNDARY}--\r\n`, TYPE],
      [multipart([['a[b][c][d][e][f][g][h]', '1']]), TYPE]
    ]) {
      const app = serve()
      assert.equal((await send(app, body, headers)).status, 400, String(body).slice(0, 100))
      assert.equal(app.reached, 0)
      await isEmpty(app.dest)
    }
    const app = serve()
    assert.equal((await send(app, zlib.gzipSync(good), { ...TYPE, 'content-encoding': 'gzip' })).status, 415)
  })

  it('should leave other content types unread', async () => {
    const app = new Koa().use(upload({ dest: scratch })).use(async ctx => {
      const chunks = []
      for await (const chunk of ctx.req) chunks.push(chunk)
      ctx.body = { read: Buffer.concat(chunks).toString(), body: ctx.request.body, files: ctx.request.files }
    })
    const types = [
      'text/plain', 'multipart/mixed; boundary=a', 'application/x-www-form-urlencoded', 'multipart/form-datax'
    ]
    for (const type of types) {
      assert.deepEqual((await send(app, 'bytes', { 'content-type': type })).json(), { read: 'bytes' })
    }
    assert.equal((await ask(app, 'GET /')).status, 200)
  })

  it('should let a request without a body pass, whatever its content type', async () => {
    for (const type of [TYPE['content-type'], 'multipart/form-data']) {
      for (const method of ['GET', 'DELETE', 'OPTIONS']) {
        const res = await ask(serve(), `${method} /`, { headers: { 'content-type': type } })
        assert.deepEqual([res.status, res.json()], [200, { body: null, files: null }], `${method} ${type}`)
      }
    }
  })

  const respondsWith = (options, answer) => {
    return [upload(options), async ctx => { ctx.body = await answer(ctx.request.files) }]
  }
  const text = name => [name, { filename: `${name}.txt`, type: 'text/plain', data: name.repeat(1000) }]
  const names = files => files.map(file => file.fieldname)

  it('should take the files of known fields only, and a number of each', async () => {
    const app = respondsWith({ dest: folder(), fields: [{ name: 'a', maxCount: 2 }, { name: 'b' }] }, names)
    assert.deepEqual((await send(app, [text('a'), text('b'), text('a'), ['c', 'text'], text('b')])).json(), ['a', 'b', 'a', 'b'])
    assert.equal((await send(app, [text('a'), text('a'), text('b'), text('a')])).status, 413)
    for (const name of ['c', '__proto__', 'constructor', 'A']) {
      const res = await send(app, [text('a'), text(name)])
      assert.deepEqual([res.status, res.text], [400, 'a file in a field that takes none'], name)
    }
    assert.deepEqual((await send(app, [['c', { filename: '' }]])).json(), [])
  })

  it('should ask the filter before anything is written', async () => {
    const dest = folder()
    const asked = []
    const filter = async (ctx, file) => {
      await new Promise(setImmediate)
      asked.push([ctx.method, { ...file }, fs.readdirSync(dest).length])
      if (file.fieldname === 'bad') ctx.throw(415, 'no such files')
      return file.fieldname !== 'b'
    }
    const app = respondsWith({ dest, filter }, names)
    assert.deepEqual((await send(app, [text('b'), text('a'), ['b', { filename: 'b', data: 'x'.repeat(300000) }]])).json(), ['a'])
    assert.deepEqual(asked[0], ['POST', { fieldname: 'b', originalname: 'b.txt', mimetype: 'text/plain' }, 0])
    const res = await send(app, [text('a'), text('bad')])
    assert.deepEqual([res.status, res.text], [415, 'no such files'])
    await isEmpty(dest)
    for (const thrown of [null, 'text']) {
      const throwing = respondsWith({ dest, filter () { throw thrown } }, names)
      assert.equal((await send(throwing, [text('a')])).status, 500)
    }
  })

  it('should keep files in memory', async () => {
    const app = respondsWith({ storage: upload.memoryStorage(), limits: { fileSize: 1000 } }, files =>
      files.map(({ buffer, ...file }) => ({ ...file, text: String(buffer).slice(0, 3) })))
    assert.deepEqual((await send(app, [text('a')])).json(), [
      { fieldname: 'a', originalname: 'a.txt', mimetype: 'text/plain', size: 1000, text: 'aaa' }
    ])
    assert.equal((await send(app, [text('ab')])).status, 413)
  })

  it("should take multer's storages, whose files it keeps", async () => {
    const destination = folder()
    const names = { a: 'first', ab: 'second' }
    const filename = (req, file, done) => done(null, names[file.fieldname])
    const options = { storage: multer.diskStorage({ destination, filename }), limits: { fileSize: 1000 } }
    const app = respondsWith(options, ([file]) => ({ ...file }))
    assert.deepEqual((await send(app, [text('a')])).json(), {
      fieldname: 'a',
      originalname: 'a.txt',
      mimetype: 'text/plain',
      destination,
      filename: 'first',
      path: path.join(destination, 'first'),
      size: 1000
    })
    assert.equal((await send(app, [text('ab')])).status, 413)
    await until(() => fs.readdirSync(destination).length === 1)
    const inMemory = respondsWith({ storage: multer.memoryStorage() }, ([{ buffer }]) => buffer.length)
    assert.equal((await send(inMemory, [text('ab')])).json(), 2000)
  })

  it('should respond with 500 when a storage fails, and remove what it has stored', async () => {
    const removed = []
    const fail = { a: done => done(null, {}), b: done => done(new Error('full')), c: () => { throw new Error('thrown') } }
    const storage = {
      _handleFile (req, file, done) {
        file.stream.resume()
        fail[file.fieldname](done)
      },
      _removeFile (req, file, done) {
        removed.push(file.fieldname)
        done()
      }
    }
    for (const name of ['b', 'c']) {
      assert.equal((await send(respondsWith({ storage }, names), [text('a'), text(name)])).status, 500)
      assert.deepEqual(removed.splice(0), ['a'])
    }
    const some = { ...storage, _handleFile: (req, { stream }, done) => stream.once('data', () => stream.destroy() && done(null, {})) }
    const large = ['a', { filename: 'a', data: Buffer.alloc(500000) }]
    assert.deepEqual((await send(respondsWith({ storage: some }, names), [large, text('b')])).json(), ['a', 'b'])
  })

  for (const order of ['before', 'after']) {
    it(`should work ${order} bodyParser`, async () => {
      const app = new Koa()
      const both = [upload({ dest: folder() }), bodyParser()]
      for (const fn of order === 'before' ? both : both.reverse()) app.use(fn)
      app.use(ctx => { ctx.body = { body: ctx.request.body, files: ctx.request.files?.length } })
      const sent = await send(app, [['a', '1'], ['f', { filename: 'a', data: 'x' }]])
      assert.deepEqual(sent.json(), { body: { a: '1' }, files: 1 })
      assert.deepEqual((await send(app, '{"a":1}', { 'content-type': 'application/json' })).json(), { body: { a: 1 } })
    })
  }

  it('should keep field names out of every prototype', async () => {
    const app = serve()
    const res = await send(app, [
      ['__proto__', 'x'], ['__proto__[x]', '1'], ['a[__proto__][x]', '1'], ['constructor[prototype][x]', '1'], ['ok', '1']
    ])
    assert.deepEqual(res.json().body, { ok: '1' })
    assert.ok(!('x' in {}))
  })

  it('should respond with 500 when it cannot write, or somebody else has read the body', async () => {
    const dest = folder()
    const app = serve({ dest })
    fs.rmSync(dest, { recursive: true })
    assert.equal((await send(app, [['f', { filename: 'a', data: 'x' }]])).status, 500)
    assert.equal(app.reached, 0)
    const drained = [async (ctx, next) => {
      for await (const chunk of ctx.req) assert.ok(chunk)
      return next()
    }, upload({ dest: scratch }), ctx => { ctx.body = 'reached' }]
    assert.equal((await send(drained, [['a', '1']])).status, 500)
  })

  it('should receive many at once, each its own', async () => {
    const app = serve()
    const answers = await Promise.all(Array.from({ length: 10 }, (_, i) => send(app, [
      ['n', `${i}`], ['f', { filename: `${i}`, data: `${i}`.repeat(20000) }]
    ])))
    answers.forEach((res, i) => {
      const { body, files } = res.json()
      assert.deepEqual([body.n, files[0].originalname, files[0].data === `${i}`.repeat(20000)], [`${i}`, `${i}`, true])
    })
    await isEmpty(app.dest)
  })
})
