'use strict'

const assert = require('node:assert/strict')

const { BOTH, chunked, get, last, post, sides, use, waitFor } = require('./sides')

/** What a client sends, read by read; null is its FIN. Malformed chunks and trailers are in chunks.test.js. */
const FAULTS = {
  junk: ['junk\r\n\r\n'],
  'junk behind a request': [get('/done'), 'junk\r\n\r\n'],
  'data behind the last request': [last('/'), 'junk'],
  'data behind the last request, in the same read': [`${last('/')}junk`],
  'data behind line breaks behind the last request': [last('/'), `\r\n\r\n${get('/')}`],
  'data behind the body of the last request': [`${get('/', 'Connection: close\r\nContent-Length: 4\r\n')}bo`, 'dyGET / HTTP/1.1\r\n'],
  'the end of a header section is missing': ['GET / HT', null],
  'the end of a body is missing': [post('bo', '', 4), null],
  'the end of a chunked body is missing': [chunked('4\r\nbo'), null],
  'a malformed chunk in the read of its header section': [chunked('-1\r\n')],
  'data behind trailers that end the connection': [chunked('0\r\nConnection: '), 'close\r\n\r\n', get('/')],
  'a late header section': ['GET / HT']
}

/** As a handler does that logs the packet: it throws without one. */
const HAS_PACKET = code => code.startsWith('HPE_') && code !== 'HPE_INVALID_EOF_STATE'

const found = { 'node:http': {}, front: {} }

sides("the error of 'clientError'", ({ side, it, serve }) => {
  for (const [what, reads] of Object.entries(FAULTS)) {
    it(`should have the properties that node gives it: ${what}`, async () => {
      const errors = []
      const { sockets, server, talk } = await serve(use(ctx => ctx.path === '/done' || new Promise(() => {})), {
        connectionsCheckingInterval: 20, headersTimeout: 300, requestTimeout: 0
      })
      server.on('clientError', (err, socket) => {
        errors.push(err)
        socket.destroy()
      })
      const client = await talk()
      let read = 0
      for (const bytes of reads) {
        if (bytes === null) client.end()
        else client.write(bytes)
        read += bytes === null ? 0 : bytes.length
        await waitFor(() => sockets[0]?.bytesRead === read || errors.length > 0, `${read} bytes`)
      }
      await waitFor(() => errors.length > 0, 'the error')
      const [err] = errors
      if (HAS_PACKET(err.code)) assert(Buffer.isBuffer(err.rawPacket) && err.bytesParsed <= err.rawPacket.length)
      const { message, name } = err
      const shown = { name, message, ...err, rawPacket: err.rawPacket?.toString() }
      found[side][what] = shown
      if (side === 'front') assert.deepEqual(shown, found['node:http'][what])
    })
  }
}, BOTH)
