'use strict'

const assert = require('node:assert/strict')

const { get, pump, settled, waitFor } = require('./sides')
const { wire } = require('./wire')

const SIZE = 65536
const TIMES = 160

// Node's parser takes one read or two before it stops, depending on its version.
const BOUND = 4 * SIZE

wire('an upload that nobody reads', ({ it, serve }) => {
  const chunk = Buffer.concat([Buffer.from('10000\r\n'), Buffer.alloc(SIZE, 'x'), Buffer.from('\r\n')])
  const head = more => Buffer.from(`POST /upload HTTP/1.1\r\nHost: a\r\n${more}\r\n`)
  const CHUNKED = 'Transfer-Encoding: chunked\r\n'

  for (const [how, fields, piece, end] of [
    ['in chunks', CHUNKED, chunk, '0\r\n\r\n'],
    ['with its length', `Content-Length: ${SIZE * (TIMES + 1)}\r\n`, chunk.subarray(7, -2), ''],
    // the front hands these over, too
    ['with an expectation', `Expect: 100-continue\r\nContent-Length: ${SIZE * (TIMES + 1)}\r\n`, chunk.subarray(7, -2), '']
  ]) {
    for (const [when, first] of [
      ['together with its header section', Buffer.concat([head(fields), piece])],
      ['with a part of it', Buffer.concat([head(fields), piece.subarray(0, 1000)])],
      ['behind a request in the same read', Buffer.concat([Buffer.from(get('/')), head(fields), piece])]
    ]) {
      it(`should wait at the client ${how}, sent ${when}`, async () => {
        let go
        const { talk, sockets } = await serve(app => app.use(async ctx => {
          if (ctx.path !== '/upload') {
            ctx.body = 'hello'
            return
          }
          await new Promise(resolve => { go = resolve })
          let size = 0
          for await (const part of ctx.req) size += part.length
          ctx.body = `size ${size}`
        }))
        const client = await talk()
        client.socket.write(first)
        if (when === 'with a part of it') client.socket.write(piece.subarray(1000))
        pump(client.socket, piece, TIMES, end)
        await waitFor(() => go, 'the request')
        const taken = await settled(() => sockets[0].bytesRead)
        assert(taken <= BOUND, `${taken} bytes were read for nobody`)
        go()
        await client.until(new RegExp(`size ${SIZE * (TIMES + 1)}$`))
        client.write(get('/'))
        await client.until(/hello$/)
      })
    }
  }
})
