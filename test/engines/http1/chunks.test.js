'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const http = require('node:http')
const { setImmediate: turn } = require('node:timers/promises')

const Kone = require('../../helpers/kone')
const { random } = require('../../helpers/random')
const { isNodes, setUp, unwired } = require('./sides')

/*
 * Chunked bodies, read by node and by the front in the same pieces. Everything that a handler and a listener for
 * 'clientError' can see is compared: each piece of the body, the trailers, the end, the error with its properties, and what
 * becomes of the next request.
 */

const HEADERS = 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n'
const NEXT = 'GET /next HTTP/1.1\r\nHost: a\r\n\r\n'
const LIMIT = 16 * 1024

const good = (rest = '') => `3\r\nabc\r\n${rest}`
const trailers = (...lines) => `${good('0\r\n')}${lines.map(line => `${line}\r\n`).join('')}\r\n`
const extension = text => `3;${text}\r\nabc\r\n0\r\n\r\n`

/** What the body is, in words → its bytes. */
const BODIES = {
  'no chunk': '0\r\n\r\n',
  'one chunk': good('0\r\n\r\n'),
  'two chunks and a last one of three zeros': good('5\r\nworld\r\n000\r\n\r\n'),
  'a size in small letters': 'a\r\n0123456789\r\n0\r\n\r\n',
  'a size in capital letters': 'A\r\n0123456789\r\n0\r\n\r\n',
  'a size of two digits': '1e\r\nall these bytes belong together\r\n0\r\n\r\n'.replace('together', 'togethe'),
  'zeros in front of a size': '0000000000000000000000003\r\nabc\r\n0\r\n\r\n',
  'data that look like chunks': '7\r\n0\r\n\r\n\r\n\r\n0\r\n\r\n',
  'the largest size': 'ffffffffffffffff\r\nabc',
  'the largest size behind zeros': '00ffffffffffffffff\r\nabc',
  'a size beyond the largest': '10000000000000000\r\nabc',
  'a size far beyond the largest': 'fffffffffffffffff\r\nabc',
  'a large size, then junk': '20000000000000x\r\nabc',
  trailers: trailers('Vary: *', 'Content-Type: text/plain'),
  'trailers behind no data': '0\r\nX-Sum: 1\r\n\r\n',
  'a trailer twice': trailers('X-A: 1', 'x-a: 2', 'Cookie: a', 'Cookie: b', 'Set-Cookie: c', 'set-cookie: d'),
  'a trailer without a value': trailers('X-A:', 'X-B:   ', 'X-C:\t c \t'),
  'fifty trailers': trailers(...Array.from({ length: 50 }, (_, i) => `X-${i}: ${i}`)),
  'a trailer of 8-bit bytes': trailers('X-A: \xfc\xff'),
  'a trailer __proto__': trailers('__proto__: 1'),
  'a trailer without a colon': trailers('nothing'),
  'a trailer with a space in its name': trailers('X A: 1'),
  'a trailer that begins with a space': trailers(' X: 1'),
  'a trailer that begins with a colon': trailers(': 1'),
  'a folded trailer': trailers('X-A: 1', ' 2'),
  'a trailer with a control byte': trailers('X-A: \x01'),
  'a trailer with a null byte': trailers('X-A: \0'),
  'a trailer that ends in LF': `${good('0\r\n')}X-A: 1\n\r\n`,
  'a trailer that ends in CR': `${good('0\r\n')}X-A: 1\rX-B: 2\r\n\r\n`,
  'trailers that end in LF': `${good('0\r\n')}X-A: 1\r\n\n`,
  'trailers that end in CR': `${good('0\r\n')}X-A: 1\r\n\rx`,
  'the trailer Content-Length': trailers('Content-Length: 3'),
  'the trailer Transfer-Encoding: chunked': trailers('Transfer-Encoding: chunked'),
  'the trailer Transfer-Encoding: gzip': trailers('Transfer-Encoding: gzip'),
  'an empty trailer Transfer-Encoding': trailers('Transfer-Encoding:'),
  'the trailer Connection: close': trailers('Connection: close'),
  'the trailer Connection: keep-alive': trailers('Connection: keep-alive'),
  'the trailers of an upgrade': trailers('Connection: upgrade', 'Upgrade: websocket'),
  'the trailers Host and Expect': trailers('Host: b', 'Host: c', 'Expect: 100-continue'),
  extensions: '3;love;much=little;other=one\r\nabc\r\n2;again\r\nde\r\n0\r\n\r\n',
  'extensions of each chunk, and trailers': '1;a\r\na\r\n1;b=c\r\nb\r\n0;last\r\nX-A: 1\r\n\r\n',
  'quoted extensions': extension('a="b \\"c\\"; \\\\d\\\\";e="f";g;h=i'),
  'a quoted LF': extension('a="b\nc"'),
  'a quoted control byte': extension('a="b\x01c"'),
  'a quoted byte after a backslash': extension('a="\\\x01"'),
  'quotes without an end': extension('a="b"; c="d'),
  'bytes behind quotes': extension('a="b"c'),
  'an extension without a name': extension('=b'),
  'an extension without a value': extension('a='),
  'nothing behind a semicolon': extension(''),
  'two semicolons': extension(';'),
  'a space behind a semicolon': extension(' a'),
  'a space in an extension': extension('a b'),
  'an extension with a bad byte in its value': extension('a=b\x7f'),
  'extensions that end in LF': '3;a\nabc\r\n0\r\n\r\n',
  'quoted extensions that end in LF': '3;a="b"\nabc\r\n0\r\n\r\n',
  'extensions that end in CR': '3;a\rabc\r\n0\r\n\r\n',
  'a space instead of a semicolon': '2 abc\r\nab\r\n0 def\r\n\r\n',
  'a space behind a size': '3 \r\nabc\r\n0\r\n\r\n',
  'a tab behind a size': '3\t\r\nabc\r\n0\r\n\r\n',
  'a space before a size': ' 3\r\nabc\r\n0\r\n\r\n',
  'no size': '\r\nabc\r\n0\r\n\r\n',
  'no size, but an extension': ';a\r\nabc\r\n0\r\n\r\n',
  'a size with a sign': '+3\r\nabc\r\n0\r\n\r\n',
  'a size with 0x': '0x3\r\nabc\r\n0\r\n\r\n',
  'a size of other letters': 'xyz\r\nabc\r\n0\r\n\r\n',
  'a letter behind a size': '3g\r\nabc\r\n0\r\n\r\n',
  'a size of an 8-bit byte': '\xb3\r\nabc\r\n0\r\n\r\n',
  'a size that ends in LF': '3\nabc\r\n0\r\n\r\n',
  'a size that ends in CR': '3\rabc\r\n0\r\n\r\n',
  'a size that ends in two CR': '5\r\r;ABCD\r\n0\r\n\r\n',
  'a last size that ends in CR': good('0\rX\r\n'),
  'a last size that ends in LF': good('0\n\r\n'),
  'data longer than their size': '3\r\nabcd\r\n0\r\n\r\n',
  'data shorter than their size': '5\r\nabc\r\n0\r\n\r\n',
  'data that end in LF': '3\r\nabc\n0\r\n\r\n',
  'data that end in CR': '3\r\nabc\rx\r\n\r\n',
  'data that end in two CR': '3\r\nabc\r\r\n0\r\n\r\n',
  'data that end without a line break': '5\r\nABCDE0\r\n\r\n',
  'no last chunk': good('\r\n'),
  'no last chunk, but a request': good(),
  'a line break too many': good('\r\n0\r\n\r\n'),
  'a body that ends in LF': good('0\r\n\n'),
  'a body that ends in CR': good('0\r\n\rx')
}

/** The same, where limits make the difference. A cut at each place would take minutes. */
const LIMITS = {
  'an extension of the longest size': extension('e'.repeat(LIMIT)),
  'an extension beyond it': extension('e'.repeat(LIMIT + 1)),
  'extensions beyond it together': extension(`${'e'.repeat(LIMIT / 2)}=${'f'.repeat(LIMIT / 2)};g`),
  'extensions of two chunks beyond it': `1;${'e'.repeat(LIMIT)}\r\na\r\n${extension('f'.repeat(LIMIT))}`,
  'a quoted extension beyond it': extension(`e="${'f'.repeat(LIMIT)}"`),
  'a trailer below maxHeaderSize': trailers(`X:${'x'.repeat(LIMIT - 2)}`),
  'a trailer of maxHeaderSize': trailers(`X:${'x'.repeat(LIMIT - 1)}`),
  'trailers of maxHeaderSize': trailers(`X:${'x'.repeat(LIMIT / 2)}`, `X:${'x'.repeat(LIMIT / 2)}`),
  'a thousand trailers': trailers(...Array.from({ length: 1000 }, () => 'X: 1')),
  'more trailers than node counts': trailers(...Array.from({ length: 1001 }, () => 'X: 1'))
}

/** How node and the front begin, and end what a client sends. */
function open (attach, properties = {}) {
  let seen
  const app = new Kone()
  app.silent = true
  app.use(ctx => {
    const { req } = ctx
    ctx.respond = false
    seen.push(`request ${req.url}`)
    // Before the stream joins them. It stays the reader's business to read.
    const { push } = req
    req.push = function (chunk) {
      if (chunk === null) seen.push(['end', req.complete, req.rawTrailers, Object.entries(req.trailers)])
      else seen.push(String(chunk.latin1Slice()))
      return push.call(this, chunk)
    }
    req.on('error', () => {}).resume()
    if (req.url === '/next') ctx.res.end('next')
    else req.on('end', () => ctx.res.end('ended'))
  })
  const server = http.createServer()
  attach(app, server)
  Object.assign(server, properties)
  server.on('clientError', (err, socket) => {
    const { name, message, rawPacket } = err
    // Of a later read node computes it from addresses of two reads.
    const bytesParsed = socket.hasFailed ? 'any' : err.bytesParsed
    socket.hasFailed = true
    seen.push(['clientError', { name, message, ...err, bytesParsed, rawPacket: rawPacket?.latin1Slice() }])
  })
  return async function talk (reads) {
    seen = []
    const socket = unwired(server)
    socket.on('error', () => {})
    server.emit('connection', socket)
    await turn()
    const record = []
    let isFronts = true
    for (const bytes of reads) {
      if (socket.destroyed) break
      socket.push(Buffer.from(bytes, 'latin1'))
      await turn()
      isFronts &&= !isNodes(socket)
      record.push(seen.splice(0), socket.written.replace(/^Date: .*\r\n/gm, ''))
      socket.written = ''
    }
    socket.destroy()
    await turn()
    return { record, isFronts }
  }
}

const sides = properties => [
  open((app, server) => setUp(server, app, false), properties),
  open((app, server) => app.attach(server), properties)
]

/** The bytes of a client, cut in all ways; the header section has a read of its own, so that the front keeps the rest. */
function * cuts (body, every = 1) {
  const text = body + NEXT
  yield [HEADERS, text]
  yield [HEADERS, ...text]
  for (let at = 1; at < text.length; at += every) yield [HEADERS, text.slice(0, at), text.slice(at)]
}

async function compare ([node, front], reads) {
  const [a, b] = [await node(reads), await front(reads)]
  assert.deepEqual(b.record, a.record, `cut as ${JSON.stringify(reads.slice(1)).slice(0, 300)}`)
  return b.isFronts
}

describe('a chunked body', () => {
  for (const [what, body] of Object.entries(BODIES)) {
    it(`should be read as node reads it: ${what}`, async () => {
      const both = sides()
      for (const reads of cuts(body)) assert(await compare(both, reads), 'the front has the connection')
    })
  }

  for (const [what, body] of Object.entries(LIMITS)) {
    it(`should have the limits of node: ${what}`, async () => {
      const both = sides()
      for (const reads of cuts(body, Math.ceil(body.length / 4))) {
        if (reads.length < 4) assert(await compare(both, reads), 'the front has the connection')
      }
    })
  }

  for (const properties of [
    { maxHeadersCount: 2 }, { maxHeadersCount: 0 }, { maxHeaderSize: 80 }, { joinDuplicateHeaders: true }
  ]) {
    it(`should have the server's limits: ${JSON.stringify(properties)}`, async () => {
      const both = sides(properties)
      for (const lines of [
        ['A: 1', 'B: 2'], ['A: 1', 'A: 2', 'B: 3'], [`A: ${'a'.repeat(40)}`, `B: ${'b'.repeat(40)}`], ['Age: 1', 'Age: 2']
      ]) {
        for (const reads of cuts(trailers(...lines), 7)) await compare(both, reads)
      }
    })
  }

  it('should be read as node reads it, whatever is in it', async () => {
    const both = sides()
    const found = { whole: 0, malformed: 0, kept: 0 }
    for (let seed = 1; seed <= 400; seed++) {
      const rnd = random(seed)
      const body = damaged(rnd, randomBody(rnd))
      const text = body + NEXT
      const marks = Array.from({ length: rnd.int(5) }, () => rnd.int(text.length)).sort((a, b) => a - b)
      const reads = [0, ...marks].map((from, i) => text.slice(from, marks[i])).filter(part => part !== '')
      const { record } = await both[0]([HEADERS, ...reads])
      found[JSON.stringify(record).includes('clientError') ? 'malformed' : 'whole']++
      const isKept = await compare(both, [HEADERS, ...reads]).catch(err => { throw new Error(`seed ${seed}: ${err.message}`) })
      if (isKept) found.kept++
    }
    assert(found.whole > 50 && found.malformed > 50 && found.kept > 350, JSON.stringify(found))
  })

  it('should be node\'s where its header section came with malformed chunks', async () => {
    const [, front] = sides()
    for (const body of [BODIES['one chunk'], BODIES.trailers, BODIES.extensions]) {
      assert.equal((await front([HEADERS + body])).isFronts, true)
    }
    for (const body of [BODIES['no size'], BODIES['a trailer without a colon'], BODIES['quotes without an end']]) {
      assert.equal((await front([HEADERS + body])).isFronts, false)
    }
  })
})

function randomBody ({ pick, chance, int }) {
  let text = ''
  for (let i = int(4); i > 0; i--) {
    const data = 'some data\r\n0\r\n'.slice(int(14))
    text += `${pick(['', '', '0'])}${data.length.toString(16)}${pick(['', '', ';a', ';a=b;c="d e"'])}\r\n${data}\r\n`
  }
  return `${text}0${pick(['', '', ';z'])}\r\n${chance(0.5) ? pick(['X: y\r\n', 'Connection: close\r\n', 'A:\r\nB: c \r\n']) : ''}\r\n`
}

function damaged ({ pick, chance, int }, text) {
  if (chance(0.4)) return text
  const at = int(text.length)
  const byte = pick(['\r', '\n', '\r\n', ' ', '\t', ';', '=', '"', '\\', ':', '0', 'a', 'g', '\0', '\x7f', '\xff', 'ffffffffffffffff'])
  return text.slice(0, at) + byte + text.slice(at + pick([0, 0, 1, 2]))
}
