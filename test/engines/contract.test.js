'use strict'

const { describe, it: test } = require('node:test')
const assert = require('node:assert/strict')
const { EventEmitter } = require('node:events')
const http = require('node:http')
const { PassThrough, Readable, Writable } = require('node:stream')
const { setImmediate: tick } = require('node:timers/promises')
const { inspect, isDeepStrictEqual } = require('node:util')

const contract = require('../../lib/engines/contract')
const fetchEngine = { ...require('../../lib/engines/fetch/incoming'), ...require('../../lib/engines/fetch/outgoing') }
const front = { ...require('../../lib/front/input/incoming'), ...require('../../lib/front/output/outgoing') }
const engines = require('../helpers/engines')
const until = require('../helpers/until')

/**
 * The contract of lib/engines/contract.js, member by member and state by state, on every engine. The oracle is node's
 * own object: on the engines callback, listen and inject-node `ctx.incoming` is its request, `ctx.outgoing` its response.
 */
const STATES = {
  // in a handler, an iteration of the event loop after it was called
  async open (app, see) {
    app.use(async ctx => {
      prepare(ctx)
      await tick()
      see(ctx)
    })
  },

  // a part of a stream was sent
  async begun (app, see) {
    app.use(async ctx => {
      prepare(ctx)
      const body = ctx.body = new PassThrough()
      body.write('a')
      until(() => ctx.outgoing.headersSent).then(() => {
        see(ctx)
        body.end()
      })
    })
  },

  // in the handler, after end()
  async ended (app, see) {
    app.use(async ctx => {
      prepare(ctx)
      await tick()
      ctx.respond = false
      ctx.outgoing.end('a')
      see(ctx)
    })
  },

  // the listeners of ctx.onFinished() were called with null
  async flushed (app, see) {
    app.use(async ctx => {
      prepare(ctx)
      ctx.body = 'a'
      whenFinished(ctx).then(() => see(ctx))
    })
  },

  // the connection was closed before the response had begun
  async lost (app, see) {
    app.use(async ctx => {
      prepare(ctx)
      whenFinished(ctx).then(() => see(ctx))
      ctx.socket.destroy()
      await new Promise(() => {})
    })
  }
}

function prepare (ctx) {
  ctx.status = 201
  ctx.set('X-A', 'a')
}

/** The response was flushed or lost, and whatever its engine does after that is done. */
async function whenFinished (ctx) {
  const err = await new Promise(resolve => ctx.onFinished(resolve))
  for (let i = 0; i < 3; i++) await tick()
  return err
}

const ANY = Symbol('any')        // not asserted: it depends on when the engine lets go of the response
const OBJECT = Symbol('object')
const SOCKET = Symbol('socket')  // a net.Socket, or a Duplex like one

const always = value => [value, value, value, value, value]

/** Member → its value in each state, in the order of STATES. */
const INCOMING = {
  method: always('GET'),
  url: always('/a?b'),
  headers: always(OBJECT),
  httpVersion: always('1.1'),
  httpVersionMajor: always(1),
  httpVersionMinor: always(1),
  socket: always(SOCKET),
  complete: always(true),
  destroyed: [false, false, ANY, true, true]
}

const OUTGOING = {
  statusCode: always(201),
  statusMessage: always('Created'),
  headersSent: [false, true, true, true, false],
  writableEnded: [false, false, true, true, false],
  finished: [false, false, true, true, false],
  writableFinished: [false, false, ANY, true, false],
  destroyed: [false, false, ANY, true, true],
  writable: always(true),
  socket: [SOCKET, SOCKET, ANY, null, ANY]
}

/** Calls → what they return in each state, or the code of the error that they throw. */
const SENT = 'ERR_HTTP_HEADERS_SENT'
const CALLS = {
  'getHeader X-A': always('a'),
  'getHeader x-a': always('a'),
  'getHeader X-None': always(undefined),
  'hasHeader X-A': always(true),
  'hasHeader X-None': always(false),
  getHeaders: always(OBJECT),
  getHeaderNames: always(['x-a']),
  getRawHeaderNames: always(['X-A']),
  'setHeader X-B b': [OBJECT, SENT, SENT, SENT, OBJECT],
  'removeHeader X-A': [undefined, SENT, SENT, SENT, undefined],
  getHeader: always('ERR_INVALID_ARG_TYPE'),
  hasHeader: always('ERR_INVALID_ARG_TYPE'),
  removeHeader: [...Array(5)].map((_, i) => i > 0 && i < 4 ? ANY : 'ERR_INVALID_ARG_TYPE'),
  'setHeader X-Line a\nb': ['ERR_INVALID_CHAR', SENT, SENT, SENT, 'ERR_INVALID_CHAR'],
  'setHeader X:Y a': ['ERR_INVALID_HTTP_TOKEN', SENT, SENT, SENT, 'ERR_INVALID_HTTP_TOKEN'],
  'setHeader X-None': ['ERR_HTTP_INVALID_HEADER_VALUE', SENT, SENT, SENT, 'ERR_HTTP_INVALID_HEADER_VALUE']
}

/** What is different on HTTP/2, whose objects are node's own, too. The fields of a lost response are gone with its stream. */
const ON_HTTP2 = {
  'incoming.httpVersion': '2.0',
  'incoming.httpVersionMajor': 2,
  'incoming.httpVersionMinor': 0,
  'incoming.destroyed': ANY,         // of its stream
  'incoming.complete': ANY,
  'outgoing.statusMessage': '',      // HTTP/2 has no reason phrase
  'outgoing.writable': ANY,
  'outgoing.destroyed': ANY,
  'outgoing.writableFinished': ANY,
  'outgoing.writableEnded': ANY,
  'outgoing.socket': ANY,            // the session's, until that is closed
  'outgoing.getRawHeaderNames': ANY, // missing
  'outgoing.getHeaderNames': ANY,    // with its pseudo-header
  'outgoing.setHeader X:Y a': ANY,
  'outgoing.setHeader X-B b': ANY,   // returns nothing
  'incoming.headers': ANY,           // without a prototype, before node 24
  'outgoing.setHeader X-Line a\nb': ANY,
  'outgoing.setHeader X-None': ANY,
  'outgoing.removeHeader X-A': ANY   // the codes of HTTP/2
}

function isAs (value, expected) {
  if (expected === OBJECT) return value !== null && typeof value === 'object'
  if (expected === SOCKET) return value !== null && typeof value === 'object' && typeof value.destroy === 'function'
  return isDeepStrictEqual(value, expected)
}

/** What an engine has to return for a member in a state. */
function expectedOf (engine, state, member, values) {
  if (engine !== 'http2') return values[Object.keys(STATES).indexOf(state)]
  if (state === 'lost') return ANY
  return member in ON_HTTP2 ? ON_HTTP2[member] : values[Object.keys(STATES).indexOf(state)]
}

function outcomeOf (read) {
  try {
    return read()
  } catch (err) {
    return err.code ?? err
  }
}

engines('the contract', ({ it, serve, engine }) => {
  /** One server of an app whose responses come into `state`: `visit(see)` calls `see` with the ctx of one of them. */
  async function inState (state, use) {
    let seen
    const { ask, close } = await serve(app => STATES[state](app, ctx => seen(ctx)))
    const visit = async see => {
      const value = new Promise((resolve, reject) => {
        seen = ctx => {
          try {
            resolve(see(ctx))
          } catch (err) {
            reject(err)
          }
        }
      })
      const asked = Promise.resolve(ask('GET /a?b', { headers: { 'x-q': 'q' } }))
      if (state === 'lost') asked.catch(() => {})
      else await asked
      return value
    }
    try {
      return await use(visit)
    } finally {
      await close()
    }
  }

  const see = (state, look) => inState(state, visit => visit(look))

  for (const state of Object.keys(STATES)) {
    it(`should have node’s members when a response is ${state}`, { timeout: 20000 }, () => inState(state, async visit => {
      const wrong = []
      for (const [whose, members] of Object.entries({ incoming: INCOMING, outgoing: OUTGOING })) {
        for (const [name, values] of Object.entries(members)) {
          const expected = expectedOf(engine, state, `${whose}.${name}`, values)
          if (expected === ANY) continue
          const value = await visit(ctx => ctx[whose][name])
          if (!isAs(value, expected)) wrong.push(`${whose}.${name} is ${inspect(value, { depth: 0 })}, not ${inspect(expected)}`)
        }
      }
      assert.deepEqual(wrong, [])
    }))

    it(`should allow or refuse node’s calls when a response is ${state}`, { timeout: 20000 }, () => inState(state, async visit => {
      const wrong = []
      for (const [call, values] of Object.entries(CALLS)) {
        const expected = expectedOf(engine, state, `outgoing.${call}`, values)
        if (expected === ANY) continue
        const [name, ...args] = call.split(' ')
        let value = await visit(ctx => outcomeOf(() => ctx.outgoing[name](...args)))
        if (name.endsWith('Names') && Array.isArray(value)) value = value.filter(one => !/^content/i.test(one))
        if (!isAs(value, expected)) wrong.push(`${inspect(call)} gave ${inspect(value, { depth: 0 })}, not ${inspect(expected)}`)
      }
      assert.deepEqual(wrong, [])
    }))
  }

  // ---- what the core needs beyond node's API

  it('should say what it can: field, response.writable', async () => {
    for (const [state, writable] of Object.entries({ open: true, begun: true, ended: false, flushed: false, lost: false })) {
      await see(state, ctx => {
        assert.equal(ctx.response.writable, writable, state)
        assert.equal(ctx.get('X-Q'), 'q', state)
        assert.equal(ctx.get('X-None'), '', state)
        assert.equal(ctx.get('__proto__'), '', state)
        assert.equal(ctx.get('constructor'), '', state)
      })
    }
  })

  it('should call listeners of onFinished() once, in every state', async () => {
    for (const [state, code] of Object.entries({ open: null, begun: null, ended: null, flushed: null, lost: 'KONE_ERR_RESPONSE_LOST' })) {
      const calls = []
      let finished
      await see(state, ctx => {
        let isSync = true
        ctx.onFinished(err => calls.push([isSync, err && err.code]))
        isSync = false
        finished = whenFinished(ctx)
      })
      await finished
      assert.deepEqual(calls, [[false, code]], state)
    }
  })

  it('should read a body that came whole after the client has gone, and app.fetch() refuse to', { skip: { http2: 'its stream has the body still' } }, async () => {
    let read
    const { ask, close } = await serve(app => app.use(async ctx => {
      read = whenFinished(ctx).then(() => ctx.request.readBody()).catch(err => err.code)
      ctx.socket.destroy()
      await new Promise(() => {})
    }))
    await Promise.resolve(ask('POST /', { body: 'abc' })).catch(() => {})
    assert.equal(String(await read), engine.startsWith('fetch') ? 'KONE_ERR_BODY_ABORTED' : 'abc')
    await close()
  })

  const isEngine = /^(?:http1|fetch|inject$)/.test(engine)
  it('should make node’s objects once, and forward to them', { skip: { [engine]: isEngine ? false : 'they are node’s' } }, async () => {
    for (const state of Object.keys(STATES)) {
      await see(state, ctx => {
        const { incoming, outgoing } = ctx
        const [req, res] = [incoming.materialize(), outgoing.materialize()]
        assert(req instanceof http.IncomingMessage && res instanceof http.ServerResponse, state)
        assert([incoming.req, ctx.req, incoming.materialize()].every(one => one === req), state)
        assert([outgoing.res, ctx.res, outgoing.materialize()].every(one => one === res), state)
        for (const name of Object.keys(INCOMING)) assert.equal(incoming[name], req[name], `${state}: ${name}`)
        for (const [name, values] of Object.entries(OUTGOING)) {
          assert.equal(outgoing[name], res[name], `${state}: ${name}`)
          const expected = expectedOf(engine, state, `outgoing.${name}`, values)
          assert(expected === ANY || isAs(res[name], expected), `${state}: ${name} of node’s is ${inspect(res[name], { depth: 0 })}`)
        }
        assert.equal(res.getHeader('x-a'), 'a', state)
        assert.equal(outgoing.incoming, incoming)
        assert.equal(outgoing.owner, ctx)
        if (state === 'flushed' || state === 'lost') res.write('late') // node ignores it
      })
    }
  })

  it('should have a sink for streams', { skip: { [engine]: isEngine ? false : 'it is node’s response' } }, async () => {
    await see('open', ({ outgoing }) => {
      const stream = Readable.from([])
      const sink = outgoing.sink(stream)
      assert(sink instanceof EventEmitter || sink instanceof http.ServerResponse)
      assert.deepEqual([typeof sink.write, typeof sink.end, typeof sink.destroy], ['function', 'function', 'function'])
      assert.equal(sink.writableNeedDrain, false)
      assert.equal(outgoing.sink(stream), sink)
    })
  })

  it('should give a Writable to a stream that looks at it', { skip: { [engine]: isEngine ? false : 'it is node’s response' } }, async () => {
    await see('open', ({ outgoing }) => {
      const stream = Object.assign(Readable.from([]), { pipe () {} })
      const sink = outgoing.sink(stream)
      assert(sink instanceof Writable || sink instanceof http.ServerResponse)
    })
  })
})

// ---- the classes

/** Members of the base classes that only engines and node's objects of an engine use. */
const INTERNAL = [
  'constructor', 'find', 'put', 'names', 'getField', 'getFields', 'removeField', 'releaseFields', 'adopt', 'setOwner',
  'become', 'lose', 'hasBegun', 'hasEnded', 'isFlushed'
]

/** Members whose tests are above, under other names. */
const BEYOND = ['field', 'readBody', 'materialize', 'sink', 'onFinished', 'end', 'isLost', 'canRespond', 'destroy', 'flushHeaders']

/** What an engine provides. */
const PROVIDED = {
  Incoming: ['localSocket', 'localMinor', 'isSpent', 'makeHeaders', 'findField', 'collect', 'makeRequest'],
  Outgoing: ['localSocket', 'isClosed', 'setField', 'end', 'onFinished', 'makeResponse']
}

describe('the members of the contract', () => {
  const tested = {
    Incoming: Object.keys(INCOMING),
    Outgoing: [...Object.keys(OUTGOING), ...Object.keys(CALLS).map(call => call.split(' ')[0])]
  }
  for (const name of ['Incoming', 'Outgoing']) {
    test(`should all be tested: ${name}`, () => {
      const members = Object.getOwnPropertyNames(contract[name].prototype)
      const known = new Set([...tested[name], ...INTERNAL, ...BEYOND])
      assert.deepEqual(members.filter(member => !known.has(member)), [])
    })

    for (const [engine, classes] of Object.entries({ http1: front, fetch: fetchEngine })) {
      test(`should be provided by ${engine}: ${name}`, () => {
        assert(classes[name].prototype instanceof contract[name])
        assert.deepEqual(PROVIDED[name].filter(member => !(member in classes[name].prototype)), [])
      })
    }
  }
})
