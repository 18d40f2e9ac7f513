'use strict'

const { ENDS, GET, HANDLER, KB, MB } = require('./plan')

/*
 * Conversations for faults that kone had, each written down as a plan: what a random one finds in hours is tried in
 * every run. The title says what must hold.
 */

const SERVER = { keepAliveTimeout: 1000, headersTimeout: 2000, requestTimeout: 4000, timeout: 0, finish: false }

const get = (kind, size, more) => ({ ...GET, handler: { ...HANDLER, kind, size, ...more } })

const next = (kind, size, more) => ({ ...get(kind, size, more), pipelined: true })

const post = (length, body, more) => ({
  ...GET,
  method: 'POST',
  body: { length, chunked: false, sent: length, ...body },
  handler: { ...HANDLER, ...more }
})

const repeat = (count, request) => Array.from({ length: count }, () => request)

const client = (requests, more) => ({
  kind: 'directed',
  start: 0,
  requests,
  write: { piece: 0, pause: 0 },
  read: { hold: 0, rate: 0 },
  end: { how: ENDS.WAIT, ms: 0, bytes: 0 },
  ...more
})

const leaves = (ms, bytes = 0) => ({ end: { how: ENDS.ABORT, ms, bytes } })

const conversation = (clients, { drain = null, stranger = null, call = null, arrival = 'accepted', throws = [], ...server } = {}) => ({
  seed: 0, server: { ...SERVER, ...server }, drain, stranger, call, arrival, throws, clients
})

// So many requests fit into one read.
const READ = 1800

const slowly = { read: { hold: 0, rate: 64 * KB } }
const never = { read: { hold: 60_000, rate: 0 } }

const CHARSETS = ['bytes', 'wide', 'utf8', 'buffer', 'surrogates', 'bytes', 'latin1', 'pieces', 'bytes', 'string', 'freed', 'wide', 'bytes']

/** Title → conversation. */
module.exports = {
  'bytes and texts of every charset in one pipeline arrive as they are':
    conversation([
      client(CHARSETS.map(kind => next(kind, 30))),
      client([get('string', 100, { late: 20 }), ...CHARSETS.map(kind => next(kind, 300))]),
      client(CHARSETS.map((kind, i) => next(kind, 5000, { late: i % 3, touch: i % 2 === 0 })), slowly)
    ]),
  'a download that is slower than keepAliveTimeout arrives whole':
    conversation(['string', 'buffer', 'raw'].map(kind => client([get(kind, 24 * MB)], slowly)), { keepAliveTimeout: 100 }),
  'time in which nothing runs is not time of silence':
    conversation([
      client([get('busy', 1400), get('string', 100)]),
      client([get('string', 100), get('string', 100)], { start: 300 }),
      client([get('string', 100)], { start: 1200, write: { piece: 8, pause: 80 } })
    ], { keepAliveTimeout: 100, headersTimeout: 900, requestTimeout: 900 }),
  'pages longer together than the longest string, behind a stream':
    conversation([client([get('stream', 100 * KB, { late: 20 }), ...repeat(READ, next('string', 320 * KB))], leaves(3000, 64 * MB))]),
  'pages longer together than the longest string':
    conversation([client(repeat(READ, next('string', 320 * KB)), leaves(3000, 64 * MB))]),
  'a client gets all pages that it asked for in one read':
    conversation([client(repeat(READ, next('string', 40 * KB)))]),
  'pages for a client that does not read cost what they cost node:http (string)':
    conversation([client(repeat(READ, next('string', 100 * KB)), { ...never, ...leaves(800) })]),
  'pages for a client that does not read cost what they cost node:http (Buffer)':
    conversation([client(repeat(READ, next('buffer', 100 * KB)), { ...never, ...leaves(800) })]),
  'pages behind a stream for a client that does not read cost what they cost node:http':
    conversation([client([get('stream', 20 * MB), ...repeat(READ, next('string', 100 * KB))], { ...never, ...leaves(800) })]),
  'pages behind a stream for a client that does not read cost what they cost node:http, ctx.res is touched':
    conversation([client([get('stream', 100, { late: 600 }), ...repeat(READ, next('string', 100 * KB, { touch: true }))], { ...never, ...leaves(2500) })]),
  'late pages for a client that does not read cost what they cost node:http':
    conversation([client(repeat(READ, next('string', 100 * KB, { late: 10 })), { ...never, ...leaves(800) })]),
  'a chunked body that nobody reads is not read':
    conversation([client([post(40 * MB, { chunked: true }, { kind: 'hang' })], leaves(1200))], { requestTimeout: 2000 }),
  'a body that nobody reads is not read':
    conversation([client([post(40 * MB, {}, { kind: 'hang' })], leaves(1200))], { requestTimeout: 2000 }),
  'descriptors of files that were only asked for by HEAD are closed':
    conversation([client(repeat(100, [
      { ...next('file', 100), method: 'HEAD' },
      next('buffer', 100, { listen: false })
    ]).flat())]),
  'a handler destroys the socket in the middle of a batch':
    conversation([
      client([...repeat(4, next('string', 100)), next('string', 100, { destroy: 'before' }), ...repeat(3, next('string', 100))]),
      client([...repeat(4, next('string', 100)), next('string', 100, { destroy: 'after' }), ...repeat(3, next('string', 100))]),
      client([...repeat(4, next('buffer', 100)), next('buffer', 100, { destroy: 'before' })], { start: 50 })
    ], { finish: true }),
  'requests behind a response that closes are lost':
    conversation([
      client([get('string', 100, { close: true }), ...repeat(5, next('string', 100))]),
      client([get('string', 100, { close: true, late: 10 }), ...repeat(5, next('buffer', 100, { late: 5 }))]),
      client([get('string', 100, { close: true, touch: true }), ...repeat(5, next('string', 100))])
    ], { finish: true }),
  'a client half-closes before its responses':
    conversation([
      client([get('string', 100, { late: 30 })], { end: { how: ENDS.HALF, ms: 0, bytes: 0 } }),
      client(repeat(4, next('string', 100, { late: 30 })), { end: { how: ENDS.HALF, ms: 0, bytes: 0 } }),
      client(repeat(4, next('buffer', 100, { late: 30, touch: true })), { end: { how: ENDS.HALF, ms: 0, bytes: 0 } })
    ], { finish: true }),
  'a stream fails in the middle':
    conversation([
      client([get('failing stream', 0)]),
      client([get('string', 100), next('failing stream', 0), next('string', 100)])
    ], { finish: true }),
  'more than kernels can hold is lost with the client that does not read it (string)':
    conversation([client([get('string', 48 * MB)], { ...never, ...leaves(400) })], { finish: true }),
  'more than kernels can hold is lost with the client that does not read it (Buffer)':
    conversation([client([get('buffer', 48 * MB)], { ...never, ...leaves(400) })], { finish: true }),
  'more than kernels can hold is lost with the client that does not read it (pipelined)':
    conversation([client(repeat(60, next('buffer', 1 * MB)), { ...never, ...leaves(400) })], { finish: true }),
  'a response that never ends is lost with its client':
    conversation([
      client([get('stuck', 100), next('string', 100)], leaves(200)),
      client([get('stuck', 100 * KB), next('string', 100, { touch: true })], leaves(200)),
      client([get('string', 100), next('hang', 0), next('file', 100)], leaves(200))
    ], { finish: true }),
  'a body that is read when the response is sent':
    conversation([
      client([post(70 * KB, {}, { read: 'too late' }), get('string', 10)]),
      client([post(10, {}, { read: 'too late' }), get('string', 10)]),
      client([post(600 * KB, { chunked: true }, { read: 'too late' }), get('string', 10)]),
      client([post(600 * KB, {}, { read: 'too late', touch: true }), get('string', 10)]),
      client([post(70 * KB, { sent: 10 * KB }, { read: 'too late' })], leaves(300)),
      ...['string', 'raw', 'stream', '204'].map(kind => {
        return client([post(60, {}, { kind, read: 'too late' }), get('string', 10)], { write: { piece: 30, pause: 20 } })
      })
    ]),
  'what is written by hand waits for the client':
    conversation([
      client([get('raw', 100 * KB), next('raw', 300 * KB), get('raw', 2 * MB)]),
      client([get('raw', 8 * MB, { touch: true }), next('string', 100)], { read: { hold: 300, rate: 0 } }),
      client([get('string', 100, { late: 50 }), next('raw', 200 * KB, { touch: true }), next('raw', 200 * KB)])
    ]),
  'a client leaves in the middle of a large response':
    conversation([
      client([get('string', 24 * MB, { touch: true })], { ...never, ...leaves(200) }),
      client([get('buffer', 24 * MB, { touch: true }), next('string', 100, { touch: true })], { ...slowly, ...leaves(200) }),
      client([get('raw', 24 * MB, { touch: true })], { ...slowly, ...leaves(200) }),
      client([get('string', 300, { touch: true, late: 0 }), ...repeat(30, next('utf8', 1024))], { end: { how: ENDS.RESET, ms: 3, bytes: 0 } })
    ], { finish: true }),
  'a response in flight when the drain begins says close':
    conversation([
      client([get('string', 100, { late: 200 })], { end: { how: ENDS.SERVER, ms: 0, bytes: 0 } }),
      client([get('string', 100), get('string', 100, { late: 200, touch: true })], { end: { how: ENDS.SERVER, ms: 0, bytes: 0 } }),
      client(repeat(3, next('string', 100, { late: 200 })), { end: { how: ENDS.SERVER, ms: 0, bytes: 0 } }),
      client([get('string', 100), get('string', 100, { late: 100 })], { write: { piece: 8, pause: 20 }, end: { how: ENDS.SERVER, ms: 0, bytes: 0 } })
    ], { keepAliveTimeout: 5000, drain: { at: 100, timeout: 3000, grace: 500 } }),
  'a request behind the beginning of the drain gets a response':
    conversation([
      client([get('string', 100), get('string', 100, { late: 20 })], { write: { piece: 20, pause: 60 }, end: { how: ENDS.SERVER, ms: 0, bytes: 0 } }),
      client([get('stream', 100, { late: 250 }), get('string', 100)], { end: { how: ENDS.SERVER, ms: 0, bytes: 0 } })
    ], { keepAliveTimeout: 5000, drain: { at: 150, timeout: 3000, grace: 600 } }),
  'a connection that said keep-alive stays open for the grace of a drain':
    conversation([
      client([get('drip', 100), get('string', 100), get('string', 100)]),
      client([get('string', 100, { late: 300 }), next('string', 100), get('string', 100)]),
      client([get('string', 100, { late: 300 }), next('string', 100, { touch: true }), get('string', 100)]),
      client([get('drip', 100), next('string', 100), get('string', 100)])
    ], { keepAliveTimeout: 5000, drain: { at: 150, timeout: 4000, grace: 1000 } }),
  'a drain closes an idle connection after its grace':
    conversation(['string', 'stream', 'file', 'raw'].map(kind => {
      return client([get(kind, 100, { touch: kind === 'file' })], { end: { how: ENDS.SERVER, ms: 0, bytes: 0 } })
    }), { keepAliveTimeout: 5000, drain: { at: 800, timeout: 4000, grace: 100 } }),
  'a drain waits for a client that reads late':
    conversation([client([get('string', 24 * MB)], { read: { hold: 1200, rate: 0 } })],
      { keepAliveTimeout: 5000, drain: { at: 100, timeout: 4000, grace: 0 } }),
  'a request in single bytes behind a response that is late':
    conversation([client([get('string', 100, { late: 300 }), ...repeat(20, next('string', 10))], { write: { piece: 1, pause: 0 } })])
}
