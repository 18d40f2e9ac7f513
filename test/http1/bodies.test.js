'use strict'

const assert = require('node:assert/strict')
const { Readable } = require('node:stream')
const { setTimeout: wait } = require('node:timers/promises')

const { get, pump, settled, sides, waitFor } = require('./sides')

const MB = 1024 * 1024

// What a connection may hold for somebody who does not read: socket buffers of both ends and of the kernel.
const BOUND = 8 * MB

sides('a request body', ({ side, it, serve }) => {
  const read = limit => app => app.use(async ctx => {
    const body = await ctx.request.readBody({ limit })
    ctx.body = `${body.length} ${Buffer.isBuffer(body)} ${body.subarray(0, 5)}`
  })
  const post = (length, body) => `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n\r\n${body}`

  it('should be read whole, in one read, in many, and empty', async () => {
    const { talk, sockets } = await serve(read(MB))
    const begun = post(5, 'hello') + post(0, '') + post(9, 'again')
    const client = await talk(begun)
    await client.until(/5 true hello[^]+0 true $/)
    client.write(' tw')
    await waitFor(() => sockets[0].bytesRead === begun.length + 3, 'a read of its own')
    client.write('o')
    await client.until(/9 true again$/)
  })

  it('should be read when it is large', async () => {
    const { talk } = await serve(read(5 * MB))
    const client = await talk(post(4 * MB, ''))
    client.socket.write(Buffer.alloc(4 * MB, 'x'))
    await client.until(/4194304 true xxxxx$/)
    client.write(get('/'))
    await client.until(/0 true $/)
  })

  it('should be refused with 413 beyond the limit', async () => {
    const { talk } = await serve(read(4))
    const client = await talk(post(5, 'hello'))
    await client.until(/^HTTP\/1\.1 413 /)
  })

  it('should be refused when it is cut short', async () => {
    let code
    let reads
    const { talk } = await serve(app => app.use(ctx => {
      reads = true
      return ctx.request.readBody({ limit: MB }).catch(err => { code = err.code })
    }))
    const client = await talk(post(5, 'he'))
    await waitFor(() => reads, 'the request')
    client.end()
    await waitFor(() => code, 'the error')
    assert.equal(code, 'KONE_ERR_BODY_ABORTED')
    assert.equal(await client.all(), 'HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n')
  })

  it('should be drained when nobody reads it', async () => {
    const { talk } = await serve(app => app.use(ctx => { ctx.body = `unread ${ctx.path}` }))
    const client = await talk('POST /1 HTTP/1.1\r\nHost: a\r\nContent-Length: 8388608\r\n\r\n')
    client.socket.write(Buffer.alloc(8 * MB))
    client.write(get('/2'))
    await client.until(/unread \/1[^]+unread \/2$/)
  })

  for (const [how, head, wrap] of [
    ['with its length', 'Content-Length: 16777216', bytes => bytes],
    ['in chunks', 'Transfer-Encoding: chunked', bytes => Buffer.concat([Buffer.from('10000\r\n'), bytes, Buffer.from('\r\n')])]
  ]) {
    for (const touch of [false, true]) {
      it(`should wait at the client ${how}, while ${touch ? 'ctx.req is paused' : 'nobody reads'}`, async () => {
        let go
        const { talk, sockets } = await serve(app => app.use(async ctx => {
          if (touch) ctx.req.pause()
          await new Promise(resolve => { go = resolve })
          let size = 0
          for await (const chunk of ctx.req) size += chunk.length
          ctx.body = `size ${size}`
        }))
        const client = await talk(`POST / HTTP/1.1\r\nHost: a\r\n${head}\r\n\r\n`)
        await waitFor(() => go, 'the request')
        const sent = pump(client.socket, wrap(Buffer.alloc(65536)), 256)
        const held = await settled(() => sockets[0].bytesRead)
        assert(held < MB, `${held} bytes were read for nobody`)
        assert(sent() < 256)
        go()
        await waitFor(() => sent() === 256, 'the rest')
        if (how === 'in chunks') client.write('0\r\n\r\n')
        await client.until(/size 16777216$/)
      })
    }
  }
})

sides('a slow reader', ({ it, serve }) => {
  it('should stop the reading of pipelined requests', async () => {
    let seen = 0
    const answer = 'x'.repeat(100_000)
    const { talk } = await serve(app => app.use(ctx => {
      seen++
      ctx.body = answer
    }))
    const client = await talk()
    client.socket.pause()
    // Larger than what one read can hold many of.
    pump(client.socket, Buffer.from(get('/', `X: ${'x'.repeat(4000)}\r\n`)), 400)
    const before = await settled(() => seen)
    assert(before < 300, `${before} of 400 requests had a response for nobody`)
    let size = 0
    client.socket.removeAllListeners('data')
    client.socket.on('data', chunk => { size += chunk.length })
    client.socket.resume()
    await waitFor(() => seen === 400 && size > 400 * answer.length, 'all responses')
  })

  it('should stop a stream', async () => {
    let made = 0
    const { talk } = await serve(app => app.use(ctx => {
      const chunk = Buffer.alloc(65536)
      ctx.body = new Readable({
        read () {
          this.push(made++ < 512 ? chunk : null)
        }
      })
    }))
    const client = await talk(get('/'))
    client.socket.pause()
    const before = await settled(() => made)
    assert(before * 65536 < BOUND * 2, `${before} chunks were made for nobody`)
    client.socket.removeAllListeners('data')
    let size = 0
    client.socket.on('data', chunk => { size += chunk.length })
    client.socket.resume()
    await waitFor(() => size > 32 * MB, 'the whole stream')
  })
})

sides('pipelined requests', ({ side, it, serve }) => {
  it('should get a response in order, the slow one first', async () => {
    const held = []
    const { talk } = await serve(app => app.use(async ctx => {
      if (ctx.path.startsWith('/slow')) await new Promise(resolve => held.push(resolve))
      ctx.body = `<${ctx.path}>`
    }))
    const client = await talk(['/slow1', '/2', '/slow3', '/4'].map(path => get(path)).join(''))
    await waitFor(() => held.length === 2, 'both slow ones')
    held[1]()
    await wait(5) // a response too early would come now
    assert.equal(client.text, '')
    held[0]()
    await client.until(/<\/slow1>[^]+<\/2>[^]+<\/slow3>[^]+<\/4>$/)
  })

  it('should get a response, thousands of them', async () => {
    const { talk } = await serve(app => app.use(ctx => { ctx.body = ctx.path }))
    const client = await talk(Array.from({ length: 5000 }, (_, i) => get(`/${i}`)).join(''))
    await client.until(/\/4999$/)
    const order = [...client.text.matchAll(/\r\n\r\n\/(\d+)/g)].map(match => Number(match[1]))
    assert.deepEqual(order, Array.from({ length: 5000 }, (_, i) => i))
  })

  const skip = side === 'node:http' && 'node:http limits the bytes that wait, not the requests'

  it('should not wait in any number behind a slow one', { skip }, async () => {
    let seen = 0
    let go
    const { talk } = await serve(app => app.use(async ctx => {
      if (seen++ === 0) await new Promise(resolve => { go = resolve })
      ctx.body = 'x'
    }))
    const client = await talk(get('/'))
    await waitFor(() => go, 'the first')
    pump(client.socket, Buffer.from(get('/').repeat(1000)), 10)
    const before = await settled(() => seen)
    assert(before < 5000, `${before} of 10001 requests wait`)
    go()
    await waitFor(() => seen === 10001, 'all of them')
  })

  it('should be written together when they are ready together', { skip: side === 'node:http' && 'node:http writes each by itself' }, async () => {
    const { talk, sockets } = await serve(app => app.use(async ctx => {
      await null
      ctx.body = 'x'
    }))
    const client = await talk(get('/'))
    await client.until(/x$/)
    let writes = 0
    const { write } = sockets[0]
    sockets[0].write = function (...args) {
      writes++
      return write.apply(this, args)
    }
    client.write(get('/').repeat(16))
    await client.until(/(?:\r\n\r\nx[^]*){17}$/)
    assert(writes <= 2, `${writes} writes`)
  })
})
