'use strict'

/*
 * Cases from a seed: requests, well-formed and not, how they are cut, and the app that responds to them. A case is plain
 * data: printed, it is its own reproduction.
 *
 *   { profile, transport, messages: [{ blank, head: [line, …], body, mangle }], cut: [kind, …], programs, releases, touches,
 *     closes, ends }
 *
 * It mixes: how the socket came to the server (`transport`: accepted, TLS in several records, a Duplex, or one of ARRIVALS)
 * × what other code does to it and when (`touches`: TOUCHES of harness.js) × server.close() (`closes`) × the properties of the
 * server (PROFILES) × requests and how they are cut × programs: bodies of every kind and charset, whole and in pieces, at once
 * and late, ended by other handlers, listeners that throw.
 */

const { random: seeded } = require('../../helpers/random')
const { GROUPS, REQUEST_NAMES: NAMES, draw } = require('./acts')
const { ARRIVALS, TOUCHES, cuts } = require('./harness')

/** Properties of the servers that cases meet. */
const PROFILES = [
  {},
  { maxRequestsPerSocket: 2 },
  { maxHeadersCount: 4 },
  { keepAliveTimeout: 0 },
  { joinDuplicateHeaders: true },
  { requireHostHeader: false },
  { maxHeaderSize: 300 },
  { keepAliveTimeout: 72500, maxRequestsPerSocket: 3 },
  { insecureHTTPParser: true }
]

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']
const ODD_METHODS = ['CONNECT', 'PROPFIND', 'TRACE', 'get', 'PRI', 'BREW', 'QUERY', 'GETT', 'POS', '', 'M-SEARCH']
const TARGETS = ['/', '/a', '/a/b?c=d', '/%20', '/?', '/a#b', '//a', '/;=&', '/a?b=c&b=d', '/~!*()', '/?q=%C3%BC+x']
const ODD_TARGETS = ['*', 'http://b/c', 'https://b', 'a', '', '?', '/\xfc', '/ b', '/\t', '/\x7f', 'b:443', '/\0', 'ws://x/y', '/{}|\\^`"<>']
const VERSIONS = ['HTTP/1.2', 'HTTP/2.0', 'HTTP/0.9', 'http/1.1', 'HTTP/1.1 ', '', 'HTTP/11', 'HTTP/1.01', 'RTSP/1.1']
const ODD_NAMES = ['', 'X Y', 'X\t', '\xfc', 'X(', 'X\0', 'X\x7f', '"X"', 'X/Y', 'X@', 'X,Y', '[X]', ' X']
const VALUES = ['', 'v', 'a b', 'text/html, */*;q=0.8', '"quoted"', 'a=1; b=2', '\xfc\x80\xff', 'a\tb', ' v ', '\t v\t', 'x'.repeat(60),
  'x'.repeat(300), ',', ':', 'close', 'gzip', 'Sat, 01 Jan 2000 00:00:00 GMT', 'W/"1"', '0', '5']
const ODD_VALUES = ['a\x01', 'a\0b', '\x7f', 'a\rb', 'a\nb', 'a\r\n b', 'a\r\n\tb', 'a\x0bb']
const CONNECTIONS = ['keep-alive', 'close', 'Close', 'KEEP-ALIVE', 'keep-alive, close', 'close, keep-alive', 'close;x', 'xclose', 'close close',
  'upgrade', 'Upgrade, close', '', ',', ',close,', 'te, close', 'close\t', 'close ,', 'keep-alive close', 'keepalive', 'closed', 'clos']
const LENGTHS = ['0', '5', '05', '+5', '-5', '5, 5', '5 ', '5\t', ' 5', '0x5', '5.0', '', 'x', '9007199254740993', '18446744073709551616', '5;']
const CODINGS = ['chunked', 'Chunked', 'gzip, chunked', 'chunked, gzip', 'identity', '', 'xchunked', 'chunked, chunked', 'chunked ', 'gzip']
const EXTENSIONS = ['', '', '', ';x=y', ';x', ';x="y;\\"z"']
const ODD_EXTENSIONS = [';', ' ;x', '; x', ';x="', ';x=y z', 'x', ';x\n', '\r']
const TRAILERS = ['', '', 'X-T: t\r\n', 'X-T: t\r\nX-T:\r\nX-U: u \r\n']
const ODD_TRAILERS = ['X T: t\r\n', 'Connection: close\r\n', 'Content-Length: 1\r\n', 'X-T: t\n', ' X: t\r\n', 'X-T: t\r\n'.repeat(8)]
const BLANK = ['\r\n', '\n', '\r', '\r\n\r\n\n\r']
const INSERTS = ['\r', '\n', '\r\n', '\0', ' ', '\t', ':', ',', '\x7f', '\xff', '\x01', '\r\n\r\n', ' HTTP/1.1', 'Content-Length: 3\r\n']

/** What an app does that responds in Koa's words, and one that responds by hand: acts of all these groups. */
const KOA_OPS = [...actsOf('respond', 'outgoing', 'look', 'wait'), 'resSetHeader', 'resHas', 'set', 'set', 'set', 'setHeader', 'status']
  .filter(name => !['noRespond', 'end', 'leave', 'release', 'endAnother', 'never', 'block', 'soon'].includes(name))
const NODE_OPS = [...actsOf('response'), 'write', 'resEnd', 'flush', 'state', 'destroyReq', 'destroyRes', 'readStream', 'tick', 'turn', 'set', 'statusCode']
  .filter(name => !['cork', 'uncork', 'writeAll', 'resFlush'].includes(name))

function actsOf (...groups) {
  return groups.flatMap(group => Object.keys(GROUPS[group]))
}

/** Not `pause`: the front does not notice it. */
const TOUCHED = Object.keys(TOUCHES).filter(name => !name.startsWith('pause'))

function generate (seed) {
  const rnd = seeded(seed)
  const { next: random, chance, int, pick } = rnd
  const odd = (list, odds, p = 0.05) => chance(p) ? pick(odds) : pick(list)
  const times = (n, make) => Array.from({ length: int(n + 1) }, make)

  // Half of all cases are free of odd requests: what the app does matters only where the front responds.
  const oddness = chance(0.5) ? 0 : 0.04

  function message () {
    const method = odd(METHODS, ODD_METHODS, oddness)
    const isOld = chance(0.15)
    const head = [`${method} ${odd(TARGETS, ODD_TARGETS, oddness)} ${odd([isOld ? 'HTTP/1.0' : 'HTTP/1.1'], VERSIONS, oddness)}`]
    const fields = times(6, () => `${odd(NAMES, ODD_NAMES, oddness / 4)}:${pick(['', ' ', ' ', ' ', '  ', '\t'])}${odd(VALUES, ODD_VALUES, oddness / 4)}`)
    if (isOld ? chance(0.5) : !chance(oddness)) fields.push('Host: a')
    if (isOld && chance(0.7)) fields.push('Connection: keep-alive')
    if (isOld && chance(0.3)) fields.push(`TE: ${pick(['chunked', 'trailers', 'trailers, Chunked;q=0.5', 'xchunked'])}`)
    if (chance(oddness)) fields.push('Host: b')
    if (chance(0.15)) fields.push(`Connection: ${oddness ? pick(CONNECTIONS) : pick(['close', 'keep-alive'])}`)
    if (chance(oddness)) fields.push(`Proxy-Connection: ${pick(CONNECTIONS)}`)
    if (chance(oddness)) fields.push(`Expect: ${pick(['100-continue', '100-Continue', 'x', ''])}`)
    if (chance(oddness)) fields.push(`Upgrade: ${pick(['websocket', 'h2c', ''])}`, ...chance(0.7) ? ['Connection: Upgrade'] : [])
    let body = ''
    if (chance(['POST', 'PUT', 'PATCH'].includes(method) ? 0.8 : 0.1)) {
      body = pick(['hello', '', '{"a":1}', 'GET / HTTP/1.1\r\n\r\n', '\0\xff\r\n', 'x'.repeat(500)])
      if (chance(0.3)) {
        fields.push(`Transfer-Encoding: ${odd(['chunked'], CODINGS, oddness * 5)}`)
        body = chunks(body)
      } else {
        fields.push(`Content-Length: ${odd([body.length], LENGTHS, oddness)}`)
      }
      if (chance(oddness)) fields.push(`Content-Length: ${pick(LENGTHS)}`)
      if (chance(oddness)) body += pick(['x', '\r\n', '\n', '\0'])
      if (chance(oddness)) body = body.slice(0, -1)
    }
    // Shuffle: framing fields stand anywhere.
    for (let i = fields.length - 1; i > 0; i--) {
      const j = int(i + 1);
      [fields[i], fields[j]] = [fields[j], fields[i]]
    }
    head.push(...fields)
    return { blank: chance(0.05) ? pick(BLANK) : '', head, body, mangle: chance(oddness * 3) ? mangle() : [] }
  }

  /** A body in up to four chunks. */
  function chunks (body) {
    const ends = [...times(3, () => int(body.length)), body.length].filter(end => end > 0).sort((a, b) => a - b)
    let text = ''
    let from = 0
    for (const end of new Set(ends)) {
      text += `${(end - from).toString(16)}${odd(EXTENSIONS, ODD_EXTENSIONS, oddness)}\r\n${body.slice(from, end)}\r\n`
      from = end
    }
    return `${text}0${odd(EXTENSIONS, ODD_EXTENSIONS, oddness)}\r\n${odd(TRAILERS, ODD_TRAILERS, oddness)}\r\n`
  }

  /** Where a rendered message is damaged: a place in [0, 1) and what happens there. */
  function mangle () {
    return Array.from({ length: 1 + int(2) }, () => [
      random(), pick(['insert', 'delete', 'flip', 'repeat', 'cut']), pick(INSERTS), 1 + int(6)
    ])
  }

  function program () {
    const level = pick(['fast', 'fast', 'fast', 'materialised', 'late'])
    const ops = []
    if (chance(0.2)) ops.push([pick(['hold', 'tick', 'turn'])])
    // A turn later: whether the others of the same read have begun depends on how much of it is parsed.
    if (chance(0.1)) ops.push(['turn'], [pick(['release', 'endAnother'])])
    if (chance(0.03)) ops.push(chance(0.4) ? ['throwWhenFinished'] : ['throwIn', pick(['finish', 'close'])])
    if (chance(0.08)) return { level, ops: [...ops, ['leave']], later: [] }
    if (chance(0.5)) ops.push(draw(rnd, 'readBody'))
    else if (chance(0.15)) ops.push([pick(['readStream', 'resume'])])
    ops.push(...times(5, koaOp))
    if (chance(0.1)) {
      ops.push(draw(rnd, 'throw'))
    } else if (chance(0.75)) ops.push(draw(rnd, 'body'), ...times(2, koaOp))
    else ops.push(['noRespond'], ...chance(0.8) ? byHand() : times(3, nodeOp))
    const later = chance(0.2) ? times(3, () => chance(0.5) ? koaOp() : nodeOp()) : []
    // Two readers of one body at a time get what they get.
    const isOneReader = level !== 'late'
    // Whether a body that flows, or one whose response has ended, is gone before its listeners come is a matter of one tick.
    const end = ops.findIndex(([name]) => name === 'resEnd')
    const isInTime = i => !ops.some(([name]) => name === 'resume') && (end === -1 || i < end)
    const own = ops.filter(([name], i) => name !== 'readStream' || isInTime(i))
    return { level, ops: own, later: later.filter(([name]) => isOneReader || name !== 'readStream') }
  }

  const koaOp = () => draw(rnd, pick(KOA_OPS))
  const nodeOp = () => draw(rnd, pick(NODE_OPS))
  const byHand = () => [...times(3, nodeOp), ...chance(0.85) ? [draw(rnd, pick(['end', 'resEnd', 'resEnd']))] : [], ...chance(0.2) ? times(2, nodeOp) : []]

  const messages = Array.from({ length: 1 + Math.floor(random() * random() * 6) }, message)
  const cut = [pick(['whole', 'whole', 'messages', 'messages', 'random', 'random', 'bytes']), int(1e9)]
  // What a destroyed message takes with it depends on which responses are flushed, and that on the order within one read.
  const made = Array.from({ length: messages.length }, program).map(one => messages.length > 1 ? peaceful(one) : one)
  const transport = chance(0.6) ? 'socket' : pick(['duplex', 'duplex', 'records', ...Object.keys(ARRIVALS)])
  // The server of `closes` listens again: not with the servers of others.
  const closes = transport !== 'records' && chance(0.05) ? random() : null
  // TLS flushes a response a turn or more later, and with it those that are written together.
  const shown = transport === 'records' && messages.length > 1 ? made.map(one => without('state', one)) : made
  // What a handler releases runs while the other handlers do: which comes first is a matter of one tick.
  const releasesItself = shown.some(({ ops }) => ops.some(([name]) => name === 'release'))
  const programs = releasesItself ? shown.map(one => ({ ...heldFirst(one), later: [] })) : shown
  // A message that is put back waits behind an open response, which it cannot end then.
  const leaves = programs.some(({ ops }) => ops.some(([name]) => name === 'leave'))
  const touches = (chance(0.12) ? times(2, () => [random(), pick(TOUCHED)]) : []).filter(([, name]) => !leaves || name !== 'unshift')
  return {
    // Most of the others make kone fall back to node:http.
    profile: chance(0.6) ? 0 : int(PROFILES.length),
    transport,
    messages,
    cut,
    programs,
    // A release after which steps, and how the client leaves.
    releases: times(2, () => random()),
    touches,
    closes,
    // Leaving before the responses are released is for requests that the front need not hand over.
    ends: pick(oddness ? [['free', 'end'], ['free', 'reset'], ['free']] : [['free', 'end'], ['free'], ['end', 'free'], ['reset', 'free']])
  }
}

function peaceful ({ ops, later, ...rest }) {
  const isPeaceful = ([name, value]) => !name.startsWith('destroy') && !(Array.isArray(value) && value[0] === 'broken')
  return { ...rest, ops: ops.filter(isPeaceful), later: later.filter(isPeaceful) }
}

/** A handler that waits for another one does so at once: after a tick the other may have gone on already. */
function heldFirst ({ ops, level, ...rest }) {
  return { ...rest, level, ops: ops.filter(([name], i) => name !== 'hold' || (i === 0 && level !== 'late')) }
}

function without (what, { ops, later, ...rest }) {
  const isOther = ([name]) => name !== what
  return { ...rest, ops: ops.filter(isOther), later: later.filter(isOther) }
}

/** The bytes of a message. */
function render ({ blank = '', head, body, mangle }) {
  let text = `${blank}${head.join('\r\n')}\r\n\r\n${body}`
  for (const [place, how, what, size] of mangle) {
    const at = Math.floor(place * text.length)
    if (how === 'insert') text = text.slice(0, at) + what + text.slice(at)
    else if (how === 'delete') text = text.slice(0, at) + text.slice(at + size)
    else if (how === 'repeat') text = text.slice(0, at + size) + text.slice(at)
    else if (how === 'cut') text = text.slice(0, at)
    else text = text.slice(0, at) + String.fromCharCode(text.charCodeAt(at) ^ (1 << (size % 8))) + text.slice(at + 1)
  }
  return Buffer.from(text, 'latin1')
}

/** The steps of a case, for the harness. */
function steps ({ messages, cut: [kind, seed], releases, touches, closes, ends }) {
  const rendered = messages.map(render).filter(bytes => bytes.length)
  const all = Buffer.concat(rendered)
  const sends = !all.length
    ? []
    : kind === 'messages'
      ? rendered.map(send => ({ send }))
      : kind === 'bytes' && all.length > 600
        ? cuts.random(all, seeded(seed).next, 40)
        : cuts[kind](all, seeded(seed).next)
  for (const place of releases) sends.splice(Math.ceil(place * sends.length), 0, { release: true })
  for (const [place, touch] of touches) sends.splice(Math.floor(place * (sends.length + 1)), 0, { touch })
  if (closes !== null) sends.splice(Math.ceil(closes * sends.length), 0, { close: true })
  return [...sends, ...ends.map(name => ({ [name]: true }))]
}

/** A case for each two acts that never came together in a program. */
function * casesOf (pairs) {
  for (const [number, names] of pairs.left().entries()) {
    const rnd = seeded(number)
    const inTime = names.includes('readStream') ? new Set(['readStream', ...names]) : names
    const ops = [...Array.from(inTime, name => draw(rnd, name)), ['body', 'text']]
    yield [names.join(' and '), {
      profile: 0,
      transport: 'socket',
      messages: [{ blank: '', head: ['POST / HTTP/1.1', 'Host: a', 'Content-Length: 5'], body: 'hello', mangle: [] }],
      cut: ['whole', 0],
      programs: [{ level: rnd.pick(['fast', 'materialised', 'late']), ops, later: [] }],
      releases: [],
      touches: [],
      closes: null,
      ends: ['free', 'end']
    }]
  }
}

/** What the shrinker may change of a case. */
const RULES = {
  lists: ['messages', 'head', 'mangle', 'programs', 'ops', 'later', 'releases', 'touches', 'ends'],
  usual: { profile: 0, transport: 'socket', cut: ['whole', 0], closes: null, blank: '', body: '', level: 'fast' }
}

module.exports = { OPS: [...KOA_OPS, ...NODE_OPS], PROFILES, RULES, casesOf, generate, steps }
