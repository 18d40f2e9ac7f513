'use strict'

const assert = require('node:assert/strict')
const net = require('node:net')
const { once } = require('node:events')
const { describe, it, before, after } = require('node:test')
const Kone = require('../helpers/kone')

/**
 * Pipelined responses of every kind next to every other one, compared byte by byte. Each is a text or bytes that the
 * other kinds would change if they were encoded together.
 */

const LARGE = 16 * 1024

/** Name → body: a string is sent as UTF-8. */
const BODIES = {
  ascii: 'ascii',
  latin1: 'déjà vu',
  utf8: '子',
  surrogate: 'a\ud800b',
  empty: '',
  bytes: Buffer.from([0xe5, 0xad, 0x90]),
  view: Buffer.from('..ÿþýüû..', 'latin1').subarray(2, 7),
  large: Buffer.alloc(LARGE, 0xff),
  nearlyLarge: Buffer.alloc(LARGE - 1, 0x80),
  largeText: 'ü'.repeat(LARGE)
}

/** Name → how a handler sends a body. */
const WAYS = {
  body: (ctx, body) => { ctx.body = body },
  end (ctx, body) {
    ctx.respond = false
    ctx.res.setHeader('Content-Length', Buffer.from(body).length)
    ctx.res.end(body)
  },
  write (ctx, body) {
    const bytes = Buffer.from(body)
    ctx.respond = false
    ctx.res.setHeader('Content-Length', bytes.length)
    ctx.res.write(bytes.subarray(0, 1).latin1Slice(), 'latin1')
    ctx.res.write(bytes.subarray(1, 2).hexSlice(), 'hex')
    ctx.res.end(bytes.subarray(2))
  },
  late: async (ctx, body) => {
    await new Promise(resolve => setImmediate(resolve))
    ctx.body = body
  }
}

describe('pipelined bodies of every kind', () => {
  const kinds = Object.keys(BODIES)
  let server

  before(async () => {
    const app = new Kone()
    app.use(ctx => {
      const [, way, kind] = ctx.path.split('/')
      ctx.status = 200
      return WAYS[way](ctx, BODIES[kind])
    })
    server = app.listen(0)
    await once(server, 'listening')
  })
  after(() => server.close())

  for (const first of Object.keys(WAYS)) {
    for (const second of Object.keys(WAYS)) {
      it(`should arrive as they are: ${first}, then ${second}`, async () => {
        for (const a of kinds) {
          const paths = kinds.flatMap(b => [`/${first}/${a}`, `/${second}/${b}`])
          const bodies = kinds.flatMap(b => [BODIES[a], BODIES[b]])
          const received = await pipeline(server, paths)
          bodies.forEach((body, i) => {
            const isEqual = Buffer.from(body).equals(received[i])
            assert.ok(isEqual, `${paths[i]} behind ${paths[i - 1]} is ${received[i].length} other bytes`)
          })
        }
      })
    }
  }
})

/** Sends all requests in one write. Returns the bodies, by their Content-Length. */
async function pipeline (server, paths) {
  const socket = net.connect(server.address().port)
  const heads = paths.map(path => `GET ${path} HTTP/1.1\r\nHost: a\r\n`)
  socket.write(`${heads.join('\r\n')}Connection: close\r\n\r\n`)
  const chunks = []
  for await (const chunk of socket) chunks.push(chunk)

  const bodies = []
  for (let rest = Buffer.concat(chunks); rest.length > 0;) {
    const start = rest.indexOf('\r\n\r\n') + 4
    const head = rest.latin1Slice(0, start)
    assert.match(head, /^HTTP\/1\.1 200 OK\r\n/)
    const end = start + Number(/^content-length: (\d+)\r$/im.exec(head)[1])
    bodies.push(rest.subarray(start, end))
    rest = rest.subarray(end)
  }
  assert.equal(bodies.length, paths.length)
  return bodies
}
