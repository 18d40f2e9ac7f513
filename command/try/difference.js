'use strict'

const zlib = require('node:zlib')

/*
 * How two responses differ: a list of parts, each with a key. A part is as narrow as it can be named, so that what Koa
 * changes by itself hides nothing else: one field, one cookie, one member of a JSON value, one word of a text.
 */

/** Content-Encoding → what undoes it. */
const DECODERS = {
  gzip: zlib.gunzipSync,
  deflate: zlib.inflateSync,
  br: zlib.brotliDecompressSync,
  zstd: zlib.zstdDecompressSync // from Node 22.15 on
}

/**
 * @param {object} a response of Client
 * @param {object} b
 * @return {{ key: string, a: *, b: * }[]} keys: `status`, `field etag`, `cookie sid`, `body.users[0].id`, `word 12`, …
 */
exports.differences = function (a, b) {
  if (a.failure !== undefined || b.failure !== undefined) {
    return a.failure === b.failure ? [] : [part('failure', a.failure ?? `responds ${a.status}`, b.failure ?? `responds ${b.status}`)]
  }
  return [
    ...['status', 'reason', 'end'].filter(key => a[key] !== b[key]).map(key => part(key, a[key], b[key])),
    ...ofFields(a.fields, b.fields),
    ...ofBodies(a, b)
  ]
}

const part = (key, a, b) => ({ key, a, b })

function ofFields (a, b) {
  const [left, right] = [byKey(a), byKey(b)]
  const keys = [...new Set([...left.keys(), ...right.keys()])]
  const found = keys.flatMap(key => {
    const [one, other] = [left.get(key), right.get(key)]
    if (one === undefined || other === undefined) return part(key, one?.text ?? null, other?.text ?? null)
    return [
      ...one.name === other.name ? [] : [part(`${key} as written`, one.name, other.name)],
      ...one.value === other.value ? [] : [part(`${key}${one.isCookie ? ' value' : ''}`, one.text, other.text)]
    ]
  })
  const isSame = keys.every(key => left.has(key) && right.has(key))
  const orders = [left, right].map(map => [...map.keys()].join(', '))
  return isSame && orders[0] !== orders[1] ? [...found, part('order of fields', ...orders)] : found
}

/** Fields by name; a cookie by its own name; others that come twice by their number. */
function byKey (fields) {
  const found = new Map()
  for (const [name, value] of fields) {
    const lower = name.toLowerCase()
    const isCookie = lower === 'set-cookie'
    let key = isCookie ? `cookie ${value.split('=')[0]}` : `field ${lower}`
    for (let i = 2; found.has(key); i++) key = `${key.replace(/ #\d+$/, '')} #${i}`
    found.set(key, { name, value, isCookie, text: `${name}: ${value}` })
  }
  return found
}

function ofBodies (a, b) {
  if (a.hash !== null && b.hash !== null ? a.hash === b.hash : startsAlike(a.body, b.body)) return []
  const encoding = valueOf(a, 'content-encoding')
  const isEncoded = encoding !== undefined && encoding === valueOf(b, 'content-encoding')
  const [left, right] = [a, b].map(({ body }) => isEncoded ? decoded(body, encoding) : body)
  if (left === null || right === null) return [part('body', ...sizes(a, b))]
  if (isEncoded && left.equals(right)) return [part('body as compressed', ...sizes(a, b))]

  const [x, y] = [left, right].map(json)
  if (x !== undefined && y !== undefined) {
    const found = ofValues(x, y, 'body')
    if (found.length > 0) return found
  }
  const found = ofTexts(left.latin1Slice(), right.latin1Slice())
  return found.length > 0 ? found : [part('body', ...sizes(a, b))]
}

const startsAlike = (a, b) => {
  const length = Math.min(a.length, b.length)
  return a.subarray(0, length).equals(b.subarray(0, length))
}
const sizes = (...all) => all.map(({ size, hash }) => `${size} bytes, SHA-256 ${hash?.slice(0, 12)}…`)
const valueOf = ({ fields }, wanted) => fields.find(([name]) => name.toLowerCase() === wanted)?.[1]

function decoded (body, encoding) {
  try {
    return DECODERS[encoding](body, { finishFlush: zlib.constants.Z_SYNC_FLUSH })
  } catch {
    return null
  }
}

function json (body) {
  try {
    const value = JSON.parse(body)
    return value !== null && typeof value === 'object' ? value : undefined
  } catch {
    return undefined
  }
}

function ofValues (a, b, key) {
  if (Object.is(a, b)) return []
  const isObject = value => value !== null && typeof value === 'object'
  if (!isObject(a) || !isObject(b) || Array.isArray(a) !== Array.isArray(b)) return [part(key, short(a), short(b))]
  if (Array.isArray(a)) {
    if (a.length !== b.length) return [part(key, short(a), short(b))]
    return a.flatMap((value, i) => ofValues(value, b[i], `${key}[${i}]`))
  }
  const names = [...new Set([...Object.keys(a), ...Object.keys(b)])]
  const found = names.flatMap(name => ofValues(a[name], b[name], `${key}.${name}`))
  const orders = [a, b].map(value => Object.keys(value).join())
  return found.length === 0 && orders[0] !== orders[1] ? [part(`${key} (order)`, ...orders)] : found
}

const short = value => (JSON.stringify(value) ?? 'nothing').slice(0, 80)

/**
 * Words that differ, by their number. If one text has more words than the other: how many are the same at its beginning
 * and at its end.
 */
function ofTexts (a, b) {
  const [x, y] = [a, b].map(text => text.match(/[\w-]+|[^\w-]+/g) ?? [])
  if (x.length === y.length) {
    return x.flatMap((word, i) => word === y[i] ? [] : [{ ...part(`word ${i}`, word.slice(0, 80), y[i].slice(0, 80)), left: i, right: x.length - 1 - i }])
  }
  const most = Math.min(x.length, y.length)
  let left = 0
  while (left < most && x[left] === y[left]) left++
  let right = 0
  while (right < most - left && x.at(-1 - right) === y.at(-1 - right)) right++
  const cut = words => words.slice(left, words.length - right).join('').slice(0, 80)
  return [{ ...part(`words ${left} to ${right} before the end`, cut(x), cut(y)), left, right, isRange: true }]
}

/** What the two Koas have differed in: for one request. */
class Mask {
  constructor () {
    this.keys = new Set()
    this.range = null // of words: how many are the same at the beginning and at the end
  }

  /** @param {object[]} parts in which Koa differs from Koa */
  add (parts) {
    for (const { key, left, right, isRange } of parts) {
      this.keys.add(key)
      if (!isRange) continue
      const range = this.range ?? { left, right }
      this.range = { left: Math.min(left, range.left), right: Math.min(right, range.right) }
    }
    this.widen()
  }

  /** Two elements of an array that differ: the whole array. Then its order differs, too. */
  widen () {
    const counts = new Map()
    for (const key of this.keys) {
      for (const { index } of key.matchAll(/\[\d+\]/g)) {
        const array = key.slice(0, index)
        const elements = counts.get(array) ?? new Set()
        counts.set(array, elements.add(key.slice(index, key.indexOf(']', index))))
      }
    }
    for (const [array, elements] of counts) if (elements.size > 1) this.keys.add(array)
  }

  has ({ key, left, right }) {
    if (this.keys.has(key) || this.keys.has('failure')) return true
    if (left !== undefined && this.range !== null && left >= this.range.left && right >= this.range.right) return true
    if (this.keys.has('body')) return /^body|^word/.test(key)
    for (const { index } of key.matchAll(/[.[]/g)) if (this.keys.has(key.slice(0, index))) return true
    return false
  }

  /** @return {string[]} as they are printed, without those that a wider one holds */
  get names () {
    const own = key => ![...key.matchAll(/[.[]/g)].some(({ index }) => this.keys.has(key.slice(0, index)))
    const words = [...this.keys].filter(key => /^words? /.test(key)).length
    return [...[...this.keys].filter(key => own(key) && !/^words? /.test(key)), ...words > 0 ? [`${words} ${words === 1 ? 'place' : 'places'} of its text`] : []]
  }
}

exports.Mask = Mask
