'use strict'

const { after, before, describe, it } = require('node:test')
const assert = require('node:assert/strict')

const Kone = require('../../helpers/kone')
const { ARRIVALS, accepted, callback, cuts, differences, exchange, explain, front, open } = require('./harness')
const { random } = require('../../helpers/random')
const share = require('../../helpers/share')
const { corpus, verdictOf } = require('./corpus')
const { samples } = require('./acts')
const { observe, run } = require('./program')

const fast = { transport: 'socket', app: 'fast' }

// The level of the app makes no difference to how bytes are cut, so only one meets every delivery.
const SOME = new Set(['whole', 'cut at random', 'behind a request, in its read', 'behind a request that waits'])
const levels = ['materialised', 'late'].map(app => ({ transport: 'socket', app, only: SOME }))

// Each case meets one of the ways in which another server gives the socket to ours; the fuzzer mixes them.
const SHORT = new Set(['whole', 'cut at random', 'behind a request'])
const transports = ['duplex', ...Object.keys(ARRIVALS)].map(transport => ({ transport, app: 'fast', only: SHORT }))

// Byte by byte is four turns of the loop per byte; beyond this headers is cut at random only.
const LONG = 600

// Each case is sent as a whole at each level, cut at random to an app that uses node's objects, and in one of the other ways,
// another one on each version of Node: of 273 mutants of the front that everything in every way finds, which takes some seven
// times as long (KONE_TESTS=long), this finds all: 271 by the case as a whole, two by the levels.
const MAJOR = Number(process.versions.node.split('.')[0]) / 2
const isAll = share(false, false, true)

function waysOf (i) {
  const others = isAll ? transports : [transports[(i + MAJOR) % transports.length]]
  return [fast, ...levels, ...process.env.KONE_FRONT ? [] : others]
}

/** Of all deliveries in a way, the first of which is whole, those of this run. */
function chosen (all, { app }, isMixed, i) {
  if (isAll) return all
  return all.filter(([how], at) => at === 0 || (isMixed ? at === 1 + (i + MAJOR) % (all.length - 1) : app === 'materialised' && how === 'cut at random'))
}

function define () {
  const app = new Kone()
  app.use(observe)
  return app
}

const get = target => Buffer.from(`GET ${target} HTTP/1.1\r\nHost: a\r\n\r\n`)

/** `parts` of a case, each cut by `cut`. */
const cutAll = (parts, cut, next) => parts.flatMap(part => Buffer.isBuffer(part) ? cut(part, next) : part)

/** Every way the bytes of a case are sent; each is a list of steps. */
function * deliveries ({ parts }) {
  const { next } = random(1)
  yield ['whole', cutAll(parts, cuts.whole)]
  const size = parts.reduce((sum, part) => sum + (part.length ?? 0), 0)
  if (size < LONG) yield ['byte by byte', cutAll(parts, cuts.bytes)]
  yield ['cut at random', cutAll(parts, cuts.random, next)]

  if (!Buffer.isBuffer(parts[0])) return
  const [first, ...rest] = parts
  yield ['behind a request, in its read', [{ send: Buffer.concat([get('/before'), first]) }, ...cutAll(rest, cuts.whole)]]
  yield ['behind a request', [{ send: get('/before') }, ...cutAll(parts, cuts.whole)]]
  yield ['behind a request that waits', [{ send: get('/hold') }, ...cutAll(parts, cuts.whole), { free: true }]]
  yield ['behind a waiting one, cut at random', [
    ...cutAll([Buffer.concat([get('/hold'), first]), ...rest], cuts.random, next), { free: true }
  ]]
  if (!Buffer.isBuffer(parts.at(-1))) return
  const whole = [...parts.slice(0, -1), Buffer.concat([parts.at(-1), get('/after')])]
  yield ['before a request, in its read', cutAll(whole, cuts.whole)]
  yield ['before a request', [...cutAll(parts, cuts.whole), { send: get('/after') }]]
  yield ['before a request, cut at random', cutAll(whole, cuts.random, next)]
  yield ['before its own end', [...cutAll(parts, cuts.whole), { end: true }]]
}

const files = new Map()
for (const one of corpus()) files.set(one.file, [...files.get(one.file) ?? [], one])

const counted = {}

for (const [file, cases] of files) {
  describe(`corpus/${file}`, () => {
    const sides = new Map()

    // One pair of servers for all cases with the same properties.
    function pair (properties) {
      const key = JSON.stringify(properties)
      if (!sides.has(key)) {
        sides.set(key, Promise.all([
          open('node:http', callback, define, properties),
          open('front', front, define, properties)
        ]))
      }
      return sides.get(key)
    }

    after(async () => {
      for (const both of sides.values()) for (const side of await both) await side.close()
    })

    for (const [i, one] of cases.entries()) {
      it(one.title, async () => {
        const [node, kone] = await pair(one.server)
        const found = []
        for (const { only, ...way } of waysOf(i)) {
          const all = [...deliveries(one)].filter(([how]) => only?.has(how) ?? true)
          for (const [how, steps] of chosen(all, way, !only, i)) {
            const [a, b] = await Promise.all([node, kone].map(side => exchange(side, steps, way)))
            if (how === 'whole' && !only) {
              assert.deepEqual({ ...verdictOf(b), node: verdictOf(a).node }, { http1: one.http1, node: one.node })
            }
            const here = differences(a, b, steps)
            if (!here.length) continue
            const name = accepted(steps, a, b)
            if (name) counted[name] = (counted[name] ?? 0) + 1
            else found.push(`${how}, ${way.transport}, ${way.app}\n${explain(steps, here)}`)
          }
        }
        assert(!found.length, `${found.length} differences\n${found.slice(0, 3).join('\n\n')}`)
      })
    }
  })
}

/** Streams that kone sends. */
const STREAMS = {
  'characters of several bytes': [['body', ['paced', '子', 'é']]],
  'an empty chunk': [['body', ['paced', '', 'a', '']]],
  'no chunk': [['body', ['stream']]],
  'large chunks': [['body', ['stream', 'a'.repeat(100_000), 'b'.repeat(100_000)]]],
  'a declared length': [['body', ['paced', 'a', 'bc']], ['length', 3]],
  'a Transfer-Encoding of the app': [['set', 'Transfer-Encoding', 'chunked'], ['body', ['stream', 'a']]],
  'a stream that was replaced': [['body', ['stream', 'no']], ['body', ['stream', 'a']]]
}

/** What an app does with `ctx.res` when it responds itself. */
const BY_HAND = {
  'text and bytes in every encoding': [
    ['write', 'gr\u00fc\u00dfe '], ['write', ['bytes', 'e29883']], ['write', 'x', 'latin1'], ['turn'], ['write', '616263', 'hex'], ['resEnd', '\u00e9\u2603']
  ],
  'text in an encoding': [['resEnd', '68616c6c6f', 'hex']],
  'text that is not latin1': [['resEnd', 'gr\u00fc\u00dfe \u2603']],
  bytes: [['resEnd', ['bytes', 'ff0001']]],
  'an empty text': [['resEnd', '']],
  'a 204 with a body': [['resHas', 'statusCode', 204], ['resEnd', 'dropped']],
  'a 304': [['resHas', 'statusCode', 304], ['resSetHeader', 'ETag', '"a"'], ['resEnd']],
  'a corked text': [['cork'], ['resEnd', 'corked']],
  trailers: [['resSetHeader', 'Trailer', 'X-T'], ['write', 'body'], ['trailers', { 'X-T': 't' }], ['resEnd']],
  'no field of node': [...['date', 'Content-Length', 'Connection', 'Transfer-Encoding'].map(name => ['resRemoveHeader', name]), ['resEnd', 'removed']],
  'a length that was removed': [
    ['resSetHeader', 'Content-Length', 3], ['resRemoveHeader', 'Content-Length'], ['resSetHeader', 'content-length', 7], ['resEnd', 'removed']
  ],
  'what was set before, and is read': [
    ['set', 'X-Before', 'b'], ['set', 'X-Many', ['1', '2']], ['status', 201], ['message', 'Before'], ['getHeader', 'x-before'], ['res'],
    ['getHeader', 'X-Many'], ['resSetHeader', 'X-After', 'a'], ['resRemoveHeader', 'X-Many'], ['resHas', 'statusCode', 202],
    ['get', 'X-After'], ['get', 'X-Many'], ['see'], ['resEnd', 'both']
  ],
  'no date': [['resHas', 'sendDate', false], ['resEnd', 'no date']],
  'shouldKeepAlive = false': [['resHas', 'shouldKeepAlive', false], ['resEnd', 'closed']],
  'shouldKeepAlive = true': [['resHas', 'shouldKeepAlive', true], ['resEnd', 'kept']],
  'several fields of a name': [['resSetHeader', 'Set-Cookie', ['a=1']], ['appendHeader', 'Set-Cookie', 'c=3'], ['resEnd', 'fields']],
  'a response that was destroyed': [['destroyRes'], ['resEnd', 'x']],
  'what follows the end': [['resEnd', 'once'], ['resEnd'], ['write', 'more'], ['turn'], ['write', 'more'], ['resEnd', 'more']],
  'fields that node rejects': [
    ['resSetHeader', 'bad name', '1'], ['resSetHeader', 'X', 'a\nb'], ['resSetHeader', 'X', undefined], ['getHeader', 1], ['hasHeader', 1],
    ['resRemoveHeader', 1], ['resEnd', 1], ['write', null], ['resEnd', 'after all']
  ],
  'a status that node rejects': [
    ['resHas', 'statusCode', 1000], ['resEnd', 'x'], ['resHas', 'statusCode', 200], ['resHas', 'statusMessage', 'a\nb'], ['resEnd', 'x'],
    ['resHas', 'statusMessage', 'Fine'], ['resEnd', 'after all']
  ]
}

// The app of a program knows all of them.
describe('what an app does', () => {
  const GROUPS = ['respond', 'outgoing', 'response', 'read', 'look', 'fail', 'wait']
  // of Koa's packages alone, for two requests, or an error that nobody catches
  const WITHOUT = ['read', 'begin to read', 'release', 'endAnother', 'throwWhenFinished', 'throwIn']
  const withActs = () => new Kone().use(run)
  let pair
  before(async () => { pair = await Promise.all([open('node:http', callback, withActs), open('front', front, withActs)]) })
  after(() => Promise.all(pair.map(side => side.close())))

  async function assertSame (programs, requests = [get('/')]) {
    for (const send of requests) {
      for (const level of ['fast', 'materialised']) {
        for (const program of programs) {
          const steps = [{ send }, { free: true }, { end: true }]
          const ways = pair.map(() => ({ app: [{ level, ...structuredClone(program) }] })) // an app may change its values
          const [a, b] = await Promise.all(pair.map((side, i) => exchange(side, steps, ways[i])))
          const found = differences(a, b, steps)
          assert(found.length === 0 || accepted(steps, a, b), explain(steps, found))
        }
      }
    }
  }

  // Before the response and behind it, by kone and by the app itself.
  for (const one of samples(GROUPS, WITHOUT)) {
    it(`should be the same on both sides: ${one.join(' ')}`, () => {
      const isThrown = one[0] === 'throw'
      const byHand = [[one, ['resEnd', 'text']], ...isThrown ? [] : [[['resEnd', 'text'], one], [['write', 'te'], one, ['resEnd', 'xt']]]]
      return assertSame([
        { ops: [one, ['body', 'text']] },
        ...isThrown ? [] : [{ ops: [['body', 'text']], later: [one] }],
        ...byHand.map(ops => ({ ops: [['noRespond'], ['resHas', 'statusCode', 200], ...ops] }))
      ])
    })
  }

  const REQUESTS = ['GET /', 'HEAD /', 'GET /', 'POST /'].map((start, i) => {
    const field = ['', '', 'Connection: close\r\n', 'Content-Length: 0\r\n'][i]
    return Buffer.from(`${start} HTTP/1.1\r\nHost: a\r\n${field}\r\n`)
  })

  for (const [title, ops] of Object.entries(STREAMS)) {
    it(`should be the same on both sides, a stream: ${title}`, () => assertSame([{ ops }], REQUESTS))
  }

  for (const [title, ops] of Object.entries(BY_HAND)) {
    it(`should be the same on both sides by its own hand: ${title}`, () => {
      return assertSame([{ ops: [['noRespond'], ['resHas', 'statusCode', 200], ...ops] }], REQUESTS)
    })
  }
})

after(() => {
  for (const [name, count] of Object.entries(counted)) console.log(`# accepted: ${name}, ${count} times`)
})
