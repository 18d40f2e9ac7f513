'use strict'

const { random } = require('../../../helpers/random')
const { isHarmless, samples } = require('../acts')

/*
 * A conversation as data, so that a seed makes it again and a shorter one can be made of it:
 *
 *   server    options of the http.Server in ms, `finish`: the app listens to 'finish'
 *   drain     { at, timeout, grace }: app.close() in the middle, or null
 *   stranger  { from, to }: another 'request' listener for this time, or null
 *   call      { at, name }: a method of the http.Server, or null
 *   arrival   how sockets come to the server: 'accepted', 'tls', or one of ARRIVALS of harness.js, each with an async store
 *   throws    listeners that throw, each once; see servers.js
 *   clients   one connection each:
 *     start     ms after the server listens
 *     requests  { method, pipelined, close, expect, old, body, handler }
 *     write     { piece, pause }: bytes per write (0: all at once), ms between two writes
 *     read      { hold, rate }: ms without any read, then bytes per 10 ms (0: no limit)
 *     end       { how, ms, bytes }: how the client leaves
 *
 * `close` and `expect`: the request says `Connection: close` or `Expect: 100-continue`. `old`: it is HTTP/1.0, kept unless it
 * closes, and takes chunks.
 * `body` is { length, chunked, sent }: `sent` bytes of it are sent, then the client stalls.
 * `handler` is described in handlers.js. All of these are mixed: arrivals × listeners that throw × closing × kinds of clients ×
 * bodies of every kind and charset × responses that other handlers end × touched, late, destroyed, slow, half, stalled.
 */

const KB = 1024
const MB = KB * KB

/** Of the handlers that read with a small limit, in bytes. */
const LIMIT = 10

/** What each kind of body repeats: PATTERNS[kind](letter), as it is given to ctx.body or to res.write(). */
const PATTERNS = {
  utf8: () => 'é',
  latin1: letter => `${letter}é\xff`,
  wide: letter => `${letter}子\u{1f600}`,
  surrogates: letter => `${letter}\ud800`,
  bytes: letter => Buffer.from([0xff, letter.charCodeAt(0), 0xe5, 0xad, 0x90])
}

/** What a body repeats that is not of PATTERNS. */
const patternOf = (kind, letter) => kind in PATTERNS ? PATTERNS[kind](letter) : letter

/** The letter that the body of a request, and that of its response, is made of. */
const letterOf = (client, request) => String.fromCharCode(97 + (client * 7 + request) % 26)

/** Does the client stop in the middle of the body? */
const isStalled = ({ body }) => body !== null && body.sent < body.length

const ENDS = {
  WAIT: 'wait',         // for all responses, then `ms` more, then close
  HALF: 'half-close',   // end() behind the last byte of the last request
  ABORT: 'abort',       // destroy after `ms` or `bytes` received, whatever comes first
  RESET: 'reset',       // the same by RST
  SERVER: 'server'      // until the server closes
}

/**
 * Acts that leave a response as it is. Not those of a prototype, of a body that is set, and what node:http writes into the
 * response in front of it.
 */
const TOUCHES = samples(['respond', 'outgoing', 'response', 'look', 'touch'], ['patch', 'remove patches', 'repipe', 'hints', 'processing'])
  .filter(isHarmless)

/** Kinds of handlers that never end their response. */
const HANGS = ['hang', 'stuck']

const HANDLER = { kind: 'string', size: 100, listen: true, touch: false, close: false, late: -1, read: '', destroy: null }

const GET = { method: 'GET', pipelined: false, close: false, expect: false, old: false, body: null }

/**
 * Make the conversation of a seed.
 *
 *    generate(7).clients.length
 */
function generate (seed) {
  const rnd = random(seed)
  const drain = rnd.chance(0.25)
    ? { at: rnd.int(400), timeout: rnd.pick([300, 1000, 2000]), grace: rnd.pick([0, 0, 100, 400]) }
    : null
  const server = {
    keepAliveTimeout: rnd.pick([100, 100, 300, 1000, 5000]),
    headersTimeout: rnd.pick([200, 1000, 5000]),
    requestTimeout: rnd.pick([300, 1000, 5000]),
    timeout: rnd.chance(0.75) ? 0 : rnd.pick([100, 300, 1000, 5000]),
    finish: rnd.chance(0.6)
  }
  // As node requires of its own: the header section is a part of the request.
  server.headersTimeout = Math.min(server.headersTimeout, server.requestTimeout)
  const from = rnd.int(300)
  const stranger = rnd.chance(0.15) ? { from, to: from + rnd.int(300) } : null
  const clients = Array.from({ length: 1 + rnd.int(10) }, () => makeClient(rnd, server))
  const call = rnd.chance(0.06)
    ? { at: rnd.int(400), name: rnd.pick(['closeIdleConnections', 'close', 'closeAllConnections']) }
    : null
  // Drawn last, so that a seed makes the clients that it made before.
  const arrival = rnd.chance(0.65) ? 'accepted' : rnd.pick(['tls', 'tls', ...ARRIVALS])
  const throws = rnd.chance(0.2) ? [rnd.pick(THROWS), rnd.pick(THROWS)] : []
  if (throws.length > 0) clients.forEach(keepOnFastPath)
  for (const { requests } of clients) {
    for (const { handler } of requests) if (rnd.chance(0.15)) handler.touches = [rnd.pick(TOUCHES)]
  }
  for (const { requests } of clients) {
    for (const request of requests) request.old = !request.expect && rnd.chance(0.1)
  }
  // The server neither counts nor closes what another one has accepted.
  const isOwn = arrival === 'accepted' || arrival === 'tls'
  return { seed, server, drain: isOwn ? drain : null, stranger, call: isOwn ? call : null, arrival, throws, clients }
}

/** Node's own listeners do not survive one that throws: it says nothing about the front. */
function keepOnFastPath ({ requests }) {
  for (const request of requests) {
    request.expect = request.close = false
  }
}

/** Of harness.js; not those of unix sockets. */
const ARRIVALS = ['emitted', 'paused', 'put back before', 'put back after', 'sniffed', 'read by another']

/** Listeners that throw once. */
const THROWS = ['connection', 'close', 'timeout', 'clientError', 'onFinished', 'finish', "'finish' of res", "'close' of res"]

const KINDS = {
  plain (rnd, server) {
    return { requests: requests(rnd, 1 + rnd.int(6)) }
  },
  pipeliner (rnd) {
    return { requests: requests(rnd, 2 + rnd.int(30), { pipelined: true }) }
  },
  burst (rnd) {
    const kind = rnd.pick(['string', 'buffer', 'utf8', ...Object.keys(PATTERNS)])
    const size = rnd.pick([1 * KB, 20 * KB, 100 * KB, 250 * KB])
    const one = { ...GET, pipelined: true, handler: { ...HANDLER, kind, size, listen: rnd.chance(0.5) } }
    const all = Array.from({ length: 20 + rnd.int(150) }, () => one)
    if (rnd.chance(0.4)) all[rnd.int(3)] = makeRequest(rnd, { pipelined: true })
    return {
      requests: all,
      read: { hold: rnd.pick([0, 0, 200, 600]), rate: 0 },
      end: rnd.pick([wait(rnd), abort(rnd, ENDS.ABORT), abort(rnd, ENDS.RESET)])
    }
  },
  slowReader (rnd) {
    const size = rnd.pick([200 * KB, 2 * MB, 8 * MB, 12 * MB])
    const handler = { ...makeHandler(rnd, GET), kind: rnd.pick(['string', 'buffer', 'stream', 'raw']), size, destroy: null }
    return {
      requests: [{ ...GET, handler }, ...requests(rnd, rnd.int(3), { pipelined: rnd.chance(0.5) })],
      read: { hold: rnd.pick([0, 100, 500]), rate: rnd.pick([64 * KB, 128 * KB]) },
      end: rnd.pick([wait(rnd), wait(rnd), abort(rnd, ENDS.ABORT)])
    }
  },
  slowWriter (rnd) {
    return {
      requests: requests(rnd, 1 + rnd.int(3), { pipelined: rnd.chance(0.5), small: true }),
      write: { piece: 1 + rnd.int(40), pause: rnd.pick([0, 1, 5, 20]) }
    }
  },
  byteWriter (rnd) {
    return {
      requests: requests(rnd, 1 + rnd.int(3), { pipelined: rnd.chance(0.5), small: true }),
      write: { piece: 1, pause: rnd.pick([0, 0, 1]) }
    }
  },
  aborter (rnd) {
    return {
      requests: requests(rnd, 1 + rnd.int(8), { pipelined: rnd.chance(0.6) }),
      end: abort(rnd, rnd.pick([ENDS.ABORT, ENDS.RESET]))
    }
  },
  halfCloser (rnd) {
    return { requests: requests(rnd, 1 + rnd.int(6), { pipelined: true }), end: { how: ENDS.HALF, ms: 0, bytes: 0 } }
  },
  idler (rnd, server) {
    const patient = server.keepAliveTimeout <= 300
    return {
      requests: requests(rnd, patient ? 1 + rnd.int(2) : rnd.int(3)),
      end: patient ? { how: ENDS.SERVER, ms: 0, bytes: 0 } : { how: ENDS.WAIT, ms: rnd.int(800), bytes: 0 }
    }
  },
  uploader (rnd) {
    return { requests: requests(rnd, 1 + rnd.int(4), { pipelined: rnd.chance(0.4), upload: true }) }
  },
  staller (rnd) {
    const stalled = makeRequest(rnd, { upload: true })
    stalled.body.sent = rnd.int(stalled.body.length)
    return { requests: [...requests(rnd, rnd.int(3)), stalled], end: abort(rnd, ENDS.ABORT, 1500) }
  }
}

function makeClient (rnd, server) {
  const kind = rnd.pick(Object.keys(KINDS))
  const client = {
    kind,
    start: rnd.chance(0.5) ? 0 : rnd.int(300),
    write: { piece: 0, pause: 0 },
    read: { hold: 0, rate: 0 },
    end: wait(rnd),
    ...KINDS[kind](rnd, server)
  }
  // What never gets a response has to be left by the client.
  const hangs = client.requests.some(({ handler }) => HANGS.includes(handler.kind) || handler.read === 'half')
  if (hangs && ![ENDS.ABORT, ENDS.RESET, ENDS.HALF].includes(client.end.how)) client.end = abort(rnd, ENDS.ABORT)
  return client
}

function wait (rnd) {
  return { how: ENDS.WAIT, ms: rnd.chance(0.7) ? 0 : rnd.int(300), bytes: 0 }
}

function abort (rnd, how, longest = 600) {
  return { how, ms: rnd.int(longest), bytes: rnd.chance(0.5) ? 0 : 1 + rnd.int(200 * KB) }
}

function requests (rnd, count, options) {
  return Array.from({ length: count }, () => makeRequest(rnd, options))
}

function makeRequest (rnd, { pipelined = false, upload = false, small = false } = {}) {
  const hasBody = upload || rnd.chance(0.15)
  const method = hasBody ? rnd.pick(['POST', 'PUT']) : rnd.pick(['GET', 'GET', 'GET', 'HEAD', 'DELETE', 'OPTIONS'])
  const length = small ? 1 + rnd.int(60) : rnd.pick([1, 100, 5 * KB, 70 * KB, 600 * KB])
  const body = hasBody ? { length, chunked: rnd.chance(0.3), sent: length } : null
  const request = { method, pipelined, close: rnd.chance(0.04), expect: hasBody && !pipelined && rnd.chance(0.1), body }
  return { ...request, handler: makeHandler(rnd, request, small) }
}

function makeHandler (rnd, { body }, small = false) {
  const kind = rnd.pick(['string', 'string', 'string', 'utf8', 'buffer', 'buffer', 'file', 'stream', 'json', '204', '304',
    'nothing', 'throw', 'raw', 'drip', 'late body', 'freed', 'pieces', ...Object.keys(PATTERNS),
    rnd.chance(0.2) ? 'hang' : 'string', rnd.chance(0.3) ? 'failing stream' : 'string', rnd.chance(0.1) ? 'stuck' : 'string'])
  const size = small ? rnd.int(500) : rnd.pick([0, 1, 100, 2 * KB, 16 * KB, 17 * KB, 100 * KB, rnd.chance(0.1) ? 2 * MB : 300])
  return {
    kind,
    size,
    listen: rnd.chance(0.6),
    touch: rnd.chance(0.25),
    close: rnd.chance(0.03),
    late: rnd.chance(0.5) ? -1 : rnd.pick([0, 0, 1, 10, 30, 100]),
    read: body === null ? rnd.pick(['', '', '', 'body']) : rnd.pick(['', 'body', 'body', 'stream', 'limit', 'too late', 'half']),
    destroy: rnd.chance(0.03) ? rnd.pick(['before', 'after', 'later', 'res', 'req']) : null
  }
}

/** Many clients that come and go quickly, to see what they leave behind. */
function crowd (seed, count) {
  const rnd = random(seed)
  const server = { keepAliveTimeout: 100, headersTimeout: 1000, requestTimeout: 1000, timeout: 0, finish: true }
  const clients = []
  while (clients.length < count) {
    const client = makeClient(rnd, server)
    if (['slowReader', 'slowWriter', 'idler', 'staller'].includes(client.kind)) continue
    const requests = client.requests.map(request => ({ ...request, handler: hurry(request.handler) }))
    clients.push({ ...client, start: rnd.int(300), requests })
  }
  return { seed, server, drain: null, stranger: null, call: null, arrival: 'accepted', throws: [], clients }
}

function hurry (handler) {
  return { ...handler, kind: handler.kind === 'drip' ? 'stream' : handler.kind, late: Math.min(handler.late, 10) }
}

/** What the shrinker may change of a conversation. */
const OF_ALL = { arrival: 'accepted', drain: null, call: null, stranger: null, timeout: 0 }
const OF_CLIENT = { start: 0, piece: 0, pause: 0, hold: 0, rate: 0, close: false, expect: false, old: false }
const OF_HANDLER = { late: -1, read: '', touch: false, listen: false, destroy: null, size: 100 }
const RULES = { lists: ['clients', 'requests', 'throws', 'touches'], usual: { ...OF_ALL, ...OF_CLIENT, ...OF_HANDLER } }

module.exports = { ENDS, GET, HANDLER, HANGS, KB, LIMIT, MB, RULES, TOUCHES, crowd, generate, isStalled, letterOf, patternOf }
