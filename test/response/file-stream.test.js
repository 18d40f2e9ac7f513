'use strict'

const { describe, it: test } = require('node:test')
const assert = require('node:assert/strict')
const { createHook } = require('node:async_hooks')
const { once } = require('node:events')
const fs = require('node:fs')
const path = require('node:path')
const { PassThrough } = require('node:stream')

const { prepare } = require('../../lib/core/file-stream')
const engines = require('../helpers/engines')
const temporary = require('../helpers/folder')

/*
 * What koa-static and koa-send set as a body: a file of a declared length.
 */

const folder = temporary()

const LETTERS = Buffer.alloc(300 * 1024, 'abcdefg')
const LARGE = file('large.txt', LETTERS)
const SMALL = file('small.txt', 'a small file')

function file (name, content) {
  const where = path.join(folder, name)
  fs.writeFileSync(where, content)
  return where
}

engines('an fs.ReadStream of a declared length', ({ it, ask }) => {
  const sending = (length, ...args) => app => app.use(ctx => {
    ctx.length = length
    ctx.type = 'text'
    ctx.body = fs.createReadStream(...args)
  })

  it('should be sent whole, small and large', async () => {
    for (const where of [SMALL, LARGE]) {
      const { size } = fs.statSync(where)
      const res = await ask(sending(size, where), 'GET /')
      assert.equal(res.status, 200)
      assert.equal(Number(res.headers['content-length']), size)
      assert.equal(res.text, fs.readFileSync(where, 'latin1'))
    }
  })

  it('should keep to start, end and highWaterMark', async () => {
    const res = await ask(sending(100, LARGE, { start: 7000, end: 7099, highWaterMark: 32 }), 'GET /')
    assert.equal(res.text, LETTERS.latin1Slice(7000, 7100))
    const rest = await ask(sending(LETTERS.length - 9, LARGE, { start: 9 }), 'GET /')
    assert.equal(rest.text, LETTERS.latin1Slice(9))
  })

  it('should be sent to its declared length when the file has grown', async () => {
    const res = await ask(sending(5, SMALL), 'GET /')
    assert.equal(res.text, 'a sma')
  })

  it('should be sent when it is empty', async () => {
    const res = await ask(sending(0, file('empty', '')), 'GET /')
    assert.equal(res.status, 200)
    assert.equal(res.text, '')
  })

  it('should be a 404 when the file is missing, and a 500 when it is a folder', async () => {
    assert.equal((await ask(sending(5, path.join(folder, 'none')), 'GET /')).status, 404)
    let failed
    const res = await ask(app => {
      app.on('error', err => { failed = err })
      sending(5, folder)(app)
    }, 'GET /')
    assert.equal(res.status, 500)
    assert.equal(failed.code, 'EISDIR')
  })

  it('should be closed afterwards', async () => {
    let body
    await ask(app => app.use(ctx => {
      ctx.length = 12
      ctx.body = body = fs.createReadStream(SMALL)
    }), 'GET /')
    if (!body.closed) await once(body, 'close')
    assert.equal(body.fd, null)
  })
})

/** What prepare() looks at in a sink. */
const NODE = {}
const FRONT = { reportsFlush: true }

describe('prepare(stream, length, sink)', () => {
  /** How many trips to the thread pool it takes to open, read and close the file. */
  async function trips (stream) {
    let count = 0
    const hook = createHook({ init (id, type) { if (type === 'FSREQCALLBACK') count++ } }).enable()
    const sink = new PassThrough()
    stream.pipe(sink).resume()
    await once(stream, 'close')
    hook.disable()
    return count
  }

  test('should save a trip for a small file, and more for a large one', async () => {
    for (const where of [SMALL, LARGE]) {
      const { size } = fs.statSync(where)
      for (const sink of [NODE, FRONT]) {
        const stream = fs.createReadStream(where)
        prepare(stream, size, sink)
        assert.equal(await trips(stream), 2 + Math.ceil(size / (128 * 1024)))
      }
      assert.equal(await trips(fs.createReadStream(where)), 3 + Math.ceil(size / (64 * 1024)))
    }
  })

  async function end (stream) {
    stream.destroy()
    if (!stream.closed) await once(stream, 'close')
  }

  test('should leave those alone that somebody has touched', async () => {
    const touched = {
      'a listener for its chunks': stream => stream.on('data', () => {}),
      'another listener': stream => stream.on('readable', () => {}),
      'an encoding': stream => stream.setEncoding('utf8'),
      'paused by hand': stream => stream.pause(),
      'a patched method': stream => { stream.push = function (...args) { return fs.ReadStream.prototype.push.apply(this, args) } },
      'a patched _read': stream => { stream._read = function (size) { fs.ReadStream.prototype._read.call(this, size) } },
      'a patched _destroy': stream => { stream._destroy = (err, done) => fs.ReadStream.prototype._destroy.call(stream, err, done) },
      destroyed: stream => stream.destroy(),
      'another prototype': stream => Object.setPrototypeOf(stream, Object.create(fs.ReadStream.prototype))
    }
    for (const [what, touch] of Object.entries(touched)) {
      const stream = fs.createReadStream(SMALL)
      touch(stream)
      prepare(stream, 12, FRONT)
      assert.equal(stream.end, Infinity, what)
      assert.equal(stream.readableHighWaterMark, 64 * 1024, what)
      await end(stream)
    }
    const other = fs.createReadStream(SMALL, { fs: { ...fs } })
    prepare(other, 12, FRONT)
    assert.equal(other.end, Infinity)
    await end(other)
    const text = new PassThrough()
    prepare(text, 12, FRONT)
    assert.equal(text.readableHighWaterMark, new PassThrough().readableHighWaterMark)
  })

  test('should leave it alone while fs.read is patched', async () => {
    const { read } = fs
    const stream = fs.createReadStream(SMALL)
    try {
      fs.read = function (...args) { return read.apply(this, args) }
      prepare(stream, 12, FRONT)
    } finally {
      fs.read = read
    }
    assert.equal(stream.end, Infinity)
    await end(stream)
  })
})
