'use strict'

const { long } = require('../share')

/**
 * Text that a hostile client may send: a unit repeated between a beginning that leads code far in and an end
 * that fails there. `shape.make(size)` gives about `size` characters.
 */

// Each alone is quadratic or worse in some parser.
const UNITS = [
  ' ', '\t', '"', '\\', ',', ';', '%', '%41', '[', ']', '[]', '(', '{', '-', '1', 'a', 'A', '\xe9', '/', '.', '../', ':', '=', '&',
  '*', '+', '@', '#', '<', ', ', '; ', '",', '";', '\\"', 'a/b,', 'a=b&', 'a=b;', 'a[b]=c&', 'a[]=b&', 'W/"x",', '1.2.3.4,', '%s'
]

// Differing pieces: what is collected by key, or sorted.
const SERIES = {
  'distinct cookies': i => `k${i}=${i}; `,
  'distinct fields': i => `k${i}=${i}&`,
  'distinct nested fields': i => `a[k${i}]=${i}&`,
  'distinct weights': i => `t${i}/s${i};q=0.${i % 1000},`,
  'distinct words': i => `w${i},`,
  'distinct segments': i => `s${i}/`
}

const ANY = [['', ''], ['x', 'x']]
const HOST = [['a@', ':80'], ['[', ']'], ['a:', ''], ['xn--tda', '']]
const URL = [['http://', '/'], ['http://a.com/', '"'], ['http://xn--tda', '/'], ['http://a@', ':80/']]
const TAGS = [['W/"', ''], ['"a", "', '"']]
const DATE = [['Mon, 01 Jan 2024 00:00:00', 'GMT'], ['2024-01-01T00', 'Z']]
const TYPE = [['a/b;c="', ''], ['text/plain;', 'x'], ['text/plain; charset=', 'x'], ['multipart/form-data; boundary=', '']]
const WEIGHTED = [['a/b;c="', ''], ['en;q=', '']]
const LIST = [['1.2.3.4,', ',1.2.3.4'], ['::ffff:', '']]

const FRAMES = {
  accept: WEIGHTED,
  'accept-charset': WEIGHTED,
  'accept-encoding': WEIGHTED,
  'accept-language': WEIGHTED,
  'content-type': TYPE,
  cookie: [['session=', ''], ['koa:sess=', ''], ['locale="', '"']],
  host: HOST,
  ':authority': HOST,
  'x-forwarded-host': HOST,
  'x-forwarded-for': LIST,
  'x-forwarded-proto': LIST,
  referer: URL,
  referrer: URL,
  origin: URL,
  range: [['bytes', 'x'], ['bytes=', 'x'], ['bytes=1', '-x'], ['bytes=1-', 'x']],
  'if-range': [...TAGS, ...DATE],
  'if-match': TAGS,
  'if-none-match': TAGS,
  'if-modified-since': DATE,
  'if-unmodified-since': DATE,
  // not of headers
  path: [['a/', '/'], ['a/b', '.x'], ['%', '%']],
  query: [['a=', '='], ['callback=', '!'], ['locale=', ''], ['a[', ']=1'], ['requestId=', '!'], ['_csrf=', '=']],
  body: [['a=', '='], ['a[', ']=1'], ['{"', '"}'], ['{"a":"', '"}'], ['[', ']'], ['<', '>'], [' ', '{']],
  text: [...HOST, ...URL, ...TYPE, ['%(', ')s'], ['<', '>']]
}

// Of the 48 of each frame `make test` takes every 23rd, so that each frame has others.
const isTaken = long((shape, i) => i % 23 === 0, () => true)

module.exports = function shapes (where) {
  return [...ANY, ...FRAMES[where] ?? []].flatMap(([start, end]) => {
    const title = name => JSON.stringify(start) + ` … ${name} … ` + JSON.stringify(end)
    const ofUnits = UNITS.map(unit => ({
      title: title(JSON.stringify(unit)),
      make: size => start + unit.repeat(Math.ceil(size / unit.length)) + end
    }))
    const ofSeries = Object.entries(SERIES).map(([name, piece]) => ({
      title: title(name),
      make: size => start + series(piece, size) + end
    }))
    return [...ofUnits, ...ofSeries]
  }).filter(isTaken)
}

const made = new Map()

function series (piece, size) {
  const key = `${piece} ${size}`
  if (!made.has(key)) {
    let text = ''
    for (let i = 0; text.length < size; i++) text += piece(i)
    made.set(key, text)
  }
  return made.get(key)
}
