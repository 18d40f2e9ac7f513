'use strict'

const assert = require('node:assert/strict')
const { AsyncLocalStorage } = require('node:async_hooks')
const { setImmediate: turn } = require('node:timers/promises')

const { It, READERS } = require('./acts')
const { chunked, get, isNodes, post, sides, use, waitFor } = require('./sides')

const MB = 1024 * 1024

// Up to Node 22 a store that `enterWith` set stays with the connection's parser: 'end' has it, too.
const LEAKS = Number(process.versions.node.split('.')[0]) < 24

sides('a request body', ({ it, serve, ask, side }) => {
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

  const skip = side === 'front' && LEAKS && "an immediate of its own keeps the handler's store, and comes after the handler's"

  it('should end after the microtasks of the handler and before its immediates', { skip }, async () => {
    const { ask } = await serve(use(async ctx => {
      const order = []
      ctx.req.on('end', () => order.push('end')).resume()
      setImmediate(() => order.push('immediate'))
      await null
      order.push('microtask')
      await turn()
      await turn()
      ctx.body = order.join(' ')
    }))
    await ask(post('hello'), /microtask end immediate$/)
    await ask(post('hello') + post('again'), /microtask end immediate[^]+microtask end immediate$/)
  })

  it('should end after the microtasks of the listeners for its last bytes', async () => {
    let begun = 0
    const { talk } = await serve(use(async ctx => {
      begun++
      ctx.body = ctx.method === 'GET' ? 'next' : await READERS["once('end')"](new It(ctx))
    }))
    for (const [head, body] of [[post('', '', 5), 'hello'], [chunked(''), '5\r\nhello\r\n0\r\n\r\n']]) {
      for (const [next, pattern] of [['', /hello$/], ['\r\n', /hello$/], [get('/'), /hello[^]+next$/]]) {
        begun = 0
        const client = await talk(head)
        await waitFor(() => begun === 1, 'the request')
        client.write(body + next)
        await client.until(pattern)
      }
    }
  })

  it('should end without the store of another request', async () => {
    const storage = new AsyncLocalStorage()
    const stores = []
    const { talk } = await serve(use(async ctx => {
      storage.enterWith(ctx.path)
      await new Promise(resolve => ctx.req.on('end', () => {
        stores.push(storage.getStore() === (LEAKS ? ctx.path : undefined))
        resolve()
      }).resume())
      ctx.body = 'read'
    }))
    const clients = await Promise.all(['/1', '/2', '/3', '/4'].map(path => talk(post('hello', '', 5, path))))
    await Promise.all(clients.map(client => client.until(/read$/)))
    storage.disable()
    assert.deepEqual(stores, [true, true, true, true])
  })

  it('should be drained when nobody reads it', async () => {
    const { talk } = await serve(use(ctx => { ctx.body = `unread ${ctx.path}` }))
    const client = await talk(post('', '', MB, '/1'))
    client.socket.write(Buffer.alloc(MB))
    client.write(get('/2'))
    await client.until(/unread \/1[^]+unread \/2$/)
  })
})

/** Of acts.js, those that give all bytes as they are; and one of its own. */
const TEXTS = ['readBody()', 'co-body', 'raw-body', "on('data')", 'read()', 'for await', 'pipeline()', 'Readable.toWeb()', 'a proxy']
const READS = {
  ...Object.fromEntries(TEXTS.map(name => [name, async it => String(await READERS[name](it))])),
  'for await a turn later, in another encoding': async ({ req }) => {
    await turn()
    let text = ''
    for await (const part of req.setEncoding('hex')) text += part
    return Buffer.from(text, 'hex').toString()
  }
}

sides('a chunked body whose framing comes in reads of its own', ({ it, serve }) => {
  const PIECES = ['8\r\n', 'hello, w', '\r\n', '5\r\n', 'orld!', '\r', '\n', '8\r\n', ' Come in', '\r\n', '0\r\n', '\r\n']

  for (const [how, read] of Object.entries({ ...READS, nobody: () => '' })) {
    // The reader begins when so many pieces have come, and nothing more comes before it has read what there is.
    it(`should be read to its end by ${how}, and the next request be responded to`, async () => {
      let begin
      const { talk } = await serve(use(async ctx => {
        if (ctx.method === 'GET') return (ctx.body = 'next')
        await new Promise(resolve => { begin = resolve })
        ctx.body = JSON.stringify(String(await read(new It(ctx))))
      }), { highWaterMark: 8 })
      const client = await talk()
      for (let late = 0; late <= PIECES.length; late++) {
        begin = undefined
        client.text = ''
        client.write(chunked(''))
        await waitFor(() => begin, 'the request')
        for (const [i, piece] of PIECES.entries()) {
          if (i === late) begin()
          for (let turns = 0; turns < 4; turns++) await turn()
          client.write(piece)
        }
        begin()
        await client.until(how === 'nobody' ? /""$/ : /"hello, world! Come in"$/)
        await client.ask(get('/'), /next$/)
      }
    })
  }
})

sides('a chunked body', ({ side, it, serve }) => {
  const request = chunked('5;a=b\r\nhello\r\n7\r\n, there\r\n0\r\nX-Sum: 1\r\nX-sum: 2\r\n\r\n')
  const EXPECTED = ['hello, there', true, { 'x-sum': '1, 2' }, ['X-Sum', '1', 'X-sum', '2']]

  for (const [how, read] of Object.entries(READS)) {
    it(`should be read by ${how}`, async () => {
      const { talk, sockets } = await serve(use(async ctx => {
        if (ctx.method === 'GET') return (ctx.body = 'next')
        const text = await read(new It(ctx))
        const { req } = ctx
        ctx.body = JSON.stringify([text, req.complete, req.trailers, req.rawTrailers])
      }))
      const client = await talk()
      for (const pieces of [[request], [request.slice(0, 100), request.slice(100)], [...request]]) {
        client.text = ''
        for (const piece of pieces) {
          client.write(piece)
          if (pieces.length > 1) await turn()
        }
        await client.until(/\]$/)
        assert.deepEqual(JSON.parse(client.text.split('\r\n\r\n')[1]), EXPECTED)
        await client.ask(get('/'), /next$/)
      }
      assert.equal(isNodes(sockets[0]), side === 'node:http')
    })
  }

  for (const [what, end] of [['the client resets', client => client.socket.resetAndDestroy()], ['the client ends', client => client.end()],
    ['a malformed chunk comes', client => client.write('x')]]) {
    it(`should be cut off when ${what}`, async () => {
      const events = []
      const { talk } = await serve(use(({ req }) => new Promise(resolve => {
        for (const event of ['aborted', 'end']) req.on(event, () => events.push(event))
        req.on('error', err => events.push(err.code)).on('close', () => events.push('close', req.complete))
        req.on('data', chunk => events.push(String(chunk))).on('close', resolve)
      })))
      const client = await talk(chunked('3\r\nabc\r\n'))
      await waitFor(() => events.length > 0, 'the first chunk')
      end(client)
      await waitFor(() => events.includes('close'), "'close'")
      assert.deepEqual(events, ['abc', 'aborted', 'ECONNRESET', 'close', false])
    })
  }

  it('should be refused with 413 beyond the limit of readBody(), and the rest be left', async () => {
    const { talk } = await serve(use(async ctx => {
      const read = async () => ctx.request.readBody({ limit: 4 })
      ctx.body = await read().catch(err => `${err.code} ${ctx.req.complete} ${ctx.req.destroyed}`)
    }))
    for (const pieces of [['3\r\nabc\r\n3\r\ndef\r\n'], ['3\r\nabc\r\n', '3\r\ndef\r\n']]) {
      const client = await talk(chunked(''))
      for (const piece of pieces) {
        await turn()
        client.write(piece)
      }
      await client.until(/KONE_ERR_BODY_LIMIT false false$/)
      client.write('3\r\nghi\r\n0\r\n\r\n')
      await client.ask(get('/'), /\r\n\r\n$/)
    }
  })
})
