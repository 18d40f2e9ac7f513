'use strict'

const assert = require('node:assert/strict')

const { get, pump, settled, use, waitFor } = require('./sides')
const { wire } = require('./wire')

const SIZE = 65536
const TIMES = 160

// Node's parser takes one read or two before it stops, depending on its version.
const BOUND = 4 * SIZE

wire('an upload that nobody reads', ({ it, serve }) => {
  const chunk = Buffer.concat([Buffer.from('10000\r\n'), Buffer.alloc(SIZE, 'x'), Buffer.from('\r\n')])
  const plain = chunk.subarray(7, -2)
  const LENGTH = `Content-Length: ${SIZE * (TIMES + 1)}\r\n`
  const head = (more, target) => Buffer.from(`POST ${target} HTTP/1.1\r\nHost: a\r\n${more}\r\n`)

  for (const [how, fields, piece, end] of [
    ['in chunks', 'Transfer-Encoding: chunked\r\n', chunk, '0\r\n\r\n'],
    ['with its length', LENGTH, plain, ''],
    // the front hands these over
    ['in chunks that only node decodes', 'Transfer-Encoding: gzip, chunked\r\n', chunk, '0\r\n\r\n'],
    ['with an expectation', `Expect: 100-continue\r\n${LENGTH}`, plain, '']
  ]) {
    for (const [when, first, second = ''] of [
      ['sent together with its header section', Buffer.concat([head(fields, '/upload'), piece])],
      ['sent with a part of it', Buffer.concat([head(fields, '/upload'), piece.subarray(0, 1000)]), piece.subarray(1000)],
      ['sent behind a request in the same read', Buffer.concat([Buffer.from(get('/')), head(fields, '/upload'), piece])],
      ['while ctx.req is paused', Buffer.concat([head(fields, '/paused'), piece])]
    ]) {
      it(`should wait at the client ${how}, ${when}`, async () => {
        let go
        const { talk, sockets } = await serve(use(async ctx => {
          ctx.body = 'hello'
          if (ctx.path === '/') return
          if (ctx.path === '/paused') ctx.req.pause()
          await new Promise(resolve => { go = resolve })
          let size = 0
          for await (const part of ctx.req) size += part.length
          ctx.body = `size ${size}`
        }))
        const client = await talk()
        client.socket.write(first)
        client.socket.write(second)
        const sent = pump(client.socket, piece, TIMES, end)
        await waitFor(() => go, 'the request')
        const taken = await settled(() => sockets[0].bytesRead)
        assert(taken <= BOUND, `${taken} bytes were read for nobody`)
        assert(sent() < TIMES)
        go()
        await client.until(new RegExp(`size ${SIZE * (TIMES + 1)}$`))
        await client.ask(get('/'))
      })
    }
  }
})
