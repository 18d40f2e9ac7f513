'use strict'

const { describe, it, before, after } = require('node:test')
const assert = require('node:assert/strict')
const http = require('node:http')
const Koa = require('koa')

const { accepted, callback, cuts, differences, exchange, open } = require('./harness')
const { random } = require('../../helpers/random')
const { corpus, verdictOf } = require('./corpus')
const { observe } = require('./program')

// The judge is judged without kone: koa on node:http against itself, and against servers that are wrong on purpose.

function define () {
  const app = new Koa()
  app.use(observe)
  return app
}

const level = { app: 'materialised' }
const get = (target, more = '') => Buffer.from(`GET ${target} HTTP/1.1\r\nHost: a\r\n${more}\r\n`)

describe('the differential harness', () => {
  let one
  let two
  before(async () => {
    one = await open('one', callback, define)
    two = await open('two', callback, define)
  })
  after(() => Promise.all([one.close(), two.close()]))

  async function compare (other, steps, options = level) {
    const [a, b] = await Promise.all([exchange(one, steps, options), exchange(other, steps, options)])
    return differences(a, b, steps)
  }

  for (const transport of ['socket', 'duplex']) {
    it(`should find node:http equal to itself, ${transport}`, async () => {
      const { next } = random(1)
      for (const { title, parts, server } of corpus()) {
        if (Object.keys(server).length) continue
        for (const cut of [cuts.whole, cuts.random]) {
          const steps = parts.flatMap(part => Buffer.isBuffer(part) ? cut(part, next) : part)
          assert.deepEqual(await compare(two, steps, { ...level, transport }), [], title)
        }
      }
    })
  }

  it('should find node:http equal to itself, byte by byte', async () => {
    const bytes = Buffer.concat([get('/'), get('/stream'), get('/2', 'X: y\r\n')])
    assert.deepEqual(await compare(two, cuts.bytes(bytes)), [])
  })

  it('should deliver every step as one read', async () => {
    const reads = []
    const server = http.createServer((req, res) => res.end())
    server.on('connection', socket => {
      const { push } = socket
      socket.push = function (chunk) {
        if (chunk) reads.push(chunk.length)
        return push.call(this, chunk)
      }
      socket.on('error', () => {}).resume()
    })
    server.removeListener('connection', server.listeners('connection')[0])
    const side = await open('reads', () => server.listen(0, '127.0.0.1'), () => ({ on () {} }))
    await exchange(side, [3, 1, 1, 5000, 7].map(size => ({ send: Buffer.alloc(size, 'x') })))
    await side.close()
    assert.deepEqual(reads, [3, 1, 1, 5000, 7])
  })

  const wrong = {
    'a header in the response': app => app.use((ctx, next) => { ctx.set('X-Extra', '1'); return next() }),
    'a byte of the body': app => app.use(async (ctx, next) => { await next(); ctx.body += '!' }),
    'the order of headers': app => app.use((ctx, next) => { ctx.set('Content-Length', '5'); return next() }),
    'a header the app sees': app => app.use((ctx, next) => { ctx.req.headers.extra = '1'; return next() }),
    'the order of headers the app sees': app => app.use((ctx, next) => {
      const { host, ...rest } = ctx.req.headers
      ctx.req.headers = { ...rest, host }
      return next()
    }),
    'the url': app => app.use((ctx, next) => { ctx.req.url += '?'; return next() }),
    'a connection that closes': app => app.use(async (ctx, next) => { await next(); ctx.res.on('finish', () => ctx.socket.end()) }),
    'a connection that is destroyed': app => app.use(async (ctx, next) => { await next(); ctx.res.on('finish', () => ctx.socket.destroy()) }),
    'a request that is lost': app => app.use((ctx, next) => { if (ctx.url !== '/2') return next() }),
    'an error nobody else has': app => app.use((ctx, next) => { ctx.app.emit('error', new Error('odd'), ctx); return next() }),
    'a response that is late': app => app.use(async (ctx, next) => {
      await next()
      await new Promise(resolve => ctx.socket.once('close', resolve)) // later than any step
    })
  }

  for (const [title, plant] of Object.entries(wrong)) {
    it(`should see ${title}`, async () => {
      const other = await open('wrong', callback, () => {
        const app = new Koa()
        plant(app)
        app.use(observe)
        return app
      })
      const steps = [{ send: Buffer.concat([get('/1', 'X: y\r\n'), get('/2')]) }, { send: get('/3') }]
      const found = await compare(other, steps)
      await other.close()
      assert.notDeepEqual(found, [])
    })
  }

  /** What differs between two raw servers: each gets a read and the socket. */
  async function compareRaw (steps, ...servers) {
    const sides = []
    for (const onRead of servers) sides.push(await open('raw', () => rawServer(onRead), () => ({ on () {} })))
    const [a, b] = [await exchange(sides[0], steps), await exchange(sides[1], steps)]
    await Promise.all(sides.map(side => side.close()))
    return differences(a, b, steps)
  }

  it('should see responses in the wrong order', async () => {
    const answers = request => request.split('\r\n\r\n').slice(0, -1).map((head, i) => answer(String(i)))
    const found = await compareRaw([{ send: Buffer.concat([get('/1'), get('/2')]) }],
      (request, socket) => socket.write(answers(request).join('')), (request, socket) => socket.write(answers(request).reverse().join('')))
    assert.deepEqual(found.map(({ what }) => what), ['got'])
  })

  it('should tell a half-closed server from a destroyed one', async () => {
    const found = await compareRaw([{ send: get('/') }], (request, socket) => socket.end(), (request, socket) => socket.destroy())
    assert.deepEqual(found, [{ step: 0, what: 'socket', node: 'ended', other: 'destroyed' }])
  })

  it('should accept only a lost response before a common end', async () => {
    const record = (got, socket, requests = ['/1']) => [{ requests, log: {}, events: {}, errors: {}, finished: [], got, socket, count: 1, node: true }]
    const steps = [{ send: Buffer.concat([get('/1'), Buffer.from('junk\r\n\r\n')]) }]
    const bad = 'HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n'
    const node = record(answer('1') + bad, 'destroyed')
    assert.equal(accepted(steps, node, record(bad, 'destroyed')), 'junk in the same read')
    assert.equal(accepted(steps, node, record(bad, 'open')), null)
    assert.equal(accepted(steps, node, record(bad, 'destroyed', [])), null)
    assert.equal(accepted(steps, node, record('HTTP/1.1 431 \r\n\r\n', 'destroyed')), null)
  })

  it('should accept over TLS only what node loses there, or what the front need not begin', () => {
    const record = (got, requests = ['/1'], errors = {}) =>
      [{ requests, log: {}, events: {}, errors, finished: requests.map((path, i) => i + 1), got, socket: 'destroyed', count: requests.length, node: false }]
    const steps = [{ send: Buffer.concat([get('/1'), get('/2')]) }]
    const both = ['/1', '/2']
    const paused = { 1: ['HPE_PAUSED'] }
    const interim = 'HTTP/1.1 100 Continue\r\n\r\n'
    const byNode = rows => rows.map(entry => ({ ...entry, node: true }))
    for (const [node, other, name] of [
      [record(answer('1')), record(answer('1') + answer('2')), 'what node drops over TLS'],
      [record(answer('1')), record(answer('2')), null],
      [record(answer('1')), record(answer('1').replace('OK', 'Fine') + answer('2')), null],
      [record(answer('1'), both), record(answer('1')), 'behind a pending response'],
      [record(answer('1'), both), record(answer('2')), null],
      [record(answer('1')), record(answer('1'), both), null],
      [record(answer('1'), ['/1'], paused), record(answer('1') + answer('2'), both), "the pause of node's parser"],
      [record(answer('1'), ['/1'], paused), record(answer('2'), both), null],
      [record(answer('1'), ['/1'], paused), record(answer('1'), ['/2']), null],
      [record(interim + answer('1')), byNode(record(answer('1') + interim)), '100 Continue within a queued response'],
      [record(interim + answer('1')), byNode(record(answer('2') + interim)), null]
    ]) {
      assert.equal(accepted(steps, node, other, 'records'), name)
      if (name !== null && !name.startsWith('100')) assert.equal(accepted(steps, node, other, 'socket'), null)
    }
  })

  it('should accept that a listener begins elsewhere, and else nothing of what it gets', () => {
    const record = (handedOver, ...texts) => texts.map((text, i) => ({
      requests: [],
      log: {},
      events: {},
      errors: {},
      finished: [],
      touched: text === '' ? {} : { 0: text },
      got: '',
      socket: 'open',
      count: 0,
      node: i >= handedOver
    }))
    const steps = [{ touch: 'data' }, { send: Buffer.from('aa') }, { send: Buffer.from('bb') }, { send: Buffer.from('cc') }]
    const node = record(0, '', 'aa', 'bb', 'cc')
    for (const [other, name, one = node] of [
      [record(1, '', 'a', 'bb', 'cc'), 'where a listener begins'],
      [record(2, '', '', 'b', 'cc'), 'where a listener begins'],
      [record(2, '', '', '', ''), null],
      [record(1, 'x', 'aa', 'bb', 'cc'), 'where a listener begins'],
      [record(2, '', '', 'abb', 'cc'), 'where a listener begins'],
      [record(2, '', 'aa', '', 'cc'), null],
      [record(2, '', 'aa', '', 'bbcc'), null],
      [record(1, '', 'aa', 'bb', ''), null],
      [record(1, '', 'aa', 'cc', 'bb'), null],
      [record(1, '', 'aa', 'bbbb', 'cc'), null],
      [record(1, '', 'aa', 'bb', 'ccx'), null],
      [record(1, '', 'aa', 'bb', 'cc'), null, record(0, '', 'aa', '', '')],
      [record(1, '', 'aa', 'bb', 'cc'), 'where a listener begins', record(1, '', 'aa', '', '')],
      [record(1, '', 'aa', 'cc', ''), null, record(1, '', 'aa', 'bb', '')]
    ]) {
      assert.equal(accepted(steps, one, other), name, JSON.stringify(other.map(({ touched }) => touched)))
    }
  })

  it('should give the corpus its words', () => {
    assert.deepEqual(
      verdictOf([{ got: answer('1'), socket: 'open' }, { got: answer('2'), socket: 'ended', count: 2, node: false }]),
      { http1: 'head', node: '200, 200, connection closed' }
    )
  })
})

const answer = body => `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`

function rawServer (onRead) {
  const server = http.createServer()
  server.removeAllListeners('connection')
  server.on('connection', socket => socket.on('error', () => {}).on('data', chunk => onRead(String(chunk), socket)))
  return server.listen(0, '127.0.0.1')
}
