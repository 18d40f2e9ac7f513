'use strict'

const assert = require('node:assert/strict')
const { Readable } = require('node:stream')
const { setTimeout: wait } = require('node:timers/promises')

const { get, holding, post, pump, settled, sides, use, waitFor } = require('./sides')

const MB = 1024 * 1024

// What a connection may hold for somebody who does not read: socket buffers of both ends and of the kernel.
const BOUND = 8 * MB

sides('a request body', ({ it, serve, ask }) => {
  const read = limit => use(async ctx => {
    const body = await ctx.request.readBody({ limit })
    ctx.body = `${body.length} ${Buffer.isBuffer(body)} ${body.subarray(0, 5)}`
  })

  it('should be read whole, in one read, in many, and empty', async () => {
    const { ask, sockets } = await serve(read(MB))
    const begun = post('hello') + post('') + post('again', '', 9)
    const client = await ask(begun, /5 true hello[^]+0 true $/)
    client.write(' tw')
    await waitFor(() => sockets[0].bytesRead === begun.length + 3, 'a read of its own')
    await client.ask('o', /9 true again$/)
  })

  it('should be read when it is large', async () => {
    const { talk } = await serve(read(5 * MB))
    const client = await talk(post('', '', 4 * MB))
    client.socket.write(Buffer.alloc(4 * MB, 'x'))
    await client.until(/4194304 true xxxxx$/)
    await client.ask(get('/'), /0 true $/)
  })

  it('should be refused with 413 beyond the limit', () => ask(read(4), post('hello'), /^HTTP\/1\.1 413 /))

  it('should be refused when it is cut short', async () => {
    let code
    let reads
    const { talk } = await serve(use(ctx => {
      reads = true
      return ctx.request.readBody({ limit: MB }).catch(err => { code = err.code })
    }))
    const client = await talk(post('he', '', 5))
    await waitFor(() => reads, 'the request')
    client.end()
    await waitFor(() => code, 'the error')
    assert.equal(code, 'KONE_ERR_BODY_ABORTED')
    assert.equal(await client.all(), 'HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n')
  })

  it('should be drained when nobody reads it', async () => {
    const { talk } = await serve(use(ctx => { ctx.body = `unread ${ctx.path}` }))
    const client = await talk(post('', '', 8 * MB, '/1'))
    client.socket.write(Buffer.alloc(8 * MB))
    client.write(get('/2'))
    await client.until(/unread \/1[^]+unread \/2$/)
  })
})

sides('a slow reader', ({ it, serve }) => {
  /** Counts what comes from now on. */
  function resume ({ socket }) {
    const read = { size: 0 }
    socket.removeAllListeners('data').on('data', chunk => { read.size += chunk.length }).resume()
    return read
  }

  it('should stop the reading of pipelined requests', async () => {
    let seen = 0
    const page = 'x'.repeat(100_000)
    const { talk } = await serve(use(ctx => {
      seen++
      ctx.body = page
    }))
    const client = await talk()
    client.socket.pause()
    // Larger than what one read can hold many of.
    pump(client.socket, Buffer.from(get('/', `X: ${'x'.repeat(4000)}\r\n`)), 400)
    const before = await settled(() => seen)
    assert(before < 300, `${before} of 400 requests had a response for nobody`)
    const read = resume(client)
    await waitFor(() => seen === 400 && read.size > 400 * page.length, 'all responses')
  })

  it('should stop a stream', async () => {
    let made = 0
    const chunk = Buffer.alloc(65536)
    const { talk } = await serve(use(ctx => {
      ctx.body = new Readable({ read () { this.push(made++ < 512 ? chunk : null) } })
    }))
    const client = await talk(get('/'))
    client.socket.pause()
    const before = await settled(() => made)
    assert(before * 65536 < BOUND * 2, `${before} chunks were made for nobody`)
    const read = resume(client)
    await waitFor(() => read.size > 32 * MB, 'the whole stream')
  })
})

sides('pipelined requests', ({ side, it, serve, ask }) => {
  it('should get a response in order, the slow one first', async () => {
    const { held, begun, setup } = holding(ctx => { ctx.body = `<${ctx.path}>` })
    const { talk } = await serve(setup)
    const client = await talk(['/slow1', '/2', '/slow3', '/4'].map(path => get(path)).join(''))
    await begun(2)
    held[1]()
    await wait(5) // a response too early would come now
    assert.equal(client.text, '')
    held[0]()
    await client.until(/<\/slow1>[^]+<\/2>[^]+<\/slow3>[^]+<\/4>$/)
  })

  it('should get a response, thousands of them', async () => {
    const numbers = Array.from({ length: 5000 }, (_, i) => i)
    const client = await ask(use(ctx => { ctx.body = ctx.path }), numbers.map(i => get(`/${i}`)).join(''), /\/4999$/)
    assert.deepEqual([...client.text.matchAll(/\r\n\r\n\/(\d+)/g)].map(match => Number(match[1])), numbers)
  })

  const skip = side === 'node:http' && 'node:http limits the bytes that wait, not the requests'

  it('should not wait in any number behind a slow one', { skip }, async () => {
    let seen = 0
    const { begun, release, setup } = holding(ctx => { ctx.body = 'x' }, () => seen++ === 0)
    const { talk } = await serve(setup)
    const client = await talk(get('/'))
    await begun()
    pump(client.socket, Buffer.from(get('/').repeat(1000)), 10)
    const before = await settled(() => seen)
    assert(before < 5000, `${before} of 10001 requests wait`)
    release()
    await waitFor(() => seen === 10001, 'all of them')
  })

  it('should be written together when they are ready together', { skip: side === 'node:http' && 'node:http writes each by itself' }, async () => {
    const { ask, sockets } = await serve(use(async ctx => {
      await null
      ctx.body = 'x'
    }))
    const client = await ask(get('/'), /x$/)
    let writes = 0
    const { write } = sockets[0]
    sockets[0].write = function (...args) {
      writes++
      return write.apply(this, args)
    }
    await client.ask(get('/').repeat(16), /(?:\r\n\r\nx[^]*){16}$/)
    assert(writes <= 2, `${writes} writes`)
  })
})
