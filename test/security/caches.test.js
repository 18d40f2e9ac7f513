'use strict'

const assert = require('node:assert/strict')
const { STATUS_CODES } = require('node:http')
const { describe, it } = require('node:test')
const v8 = require('node:v8')
const vm = require('node:vm')
const fc = require('fast-check')

const share = require('../helpers/share')

/*
 * The caches of lib cannot be noticed: any sequence of operations has the results that each operation has in a module that
 * was loaded for it alone. And each keeps a bounded number of bytes, however many and however long the texts are.
 */

const SHORT = ['html', '.png', 'text/html', 'x', 'X', 'x-a', 'X-A', 'Etag', 'etag', 'Content-Length', 'content-length', 'set-cookie',
  'cookie', 'Cookie', 'host', '__proto__', 'constructor', '12', '', 'a b', 'é', 'a'.repeat(99), 'A'.repeat(100), 'a'.repeat(101)]
const NAMES = ['Content-Security-Policy', 'Cross-Origin-Opener-Policy', 'Strict-Transport-Security', 'X-Content-Type-Options']
const short = fc.constantFrom(...SHORT)
const message = fc.constantFrom(undefined, '', 'OK', 'unknown', 'Mine')

/** name → { file, operation: arguments of run(module, state, …), lookup: in how many times what a Map takes, fill: for bytes } */
const CACHES = {
  'content types': {
    file: '../../lib/response',
    operation: [fc.oneof(short, fc.constantFrom(null, 5, {}))],
    run: (response, state, type) => typeOf(response, type),
    prefix: 'text/',
    fill: (response, text) => typeOf(response, text)
  },
  'names and values of fields': {
    file: '../../lib/engines/field-names',
    operation: [short, short, fc.oneof(short, fc.constantFrom(undefined, 5, [], ['a', 'é'], 'x'.repeat(512), 'x'.repeat(513)))],
    run ({ FieldName, fieldName }, state, name, other, value) {
      const field = fieldName(name)
      const isSame = (fieldName(name) ?? new FieldName(name)).id === (fieldName(other) ?? new FieldName(other)).id
      const { text, key, isUnusual, removal } = field ?? {}
      return [isSame, text, key, isUnusual, removal, field?.accepts(value) && [].concat(value).map(one => field.line(one))]
    },
    lookup: { hit: ({ fieldName }, state, name) => fieldName(name), names: NAMES, most: 3 },
    fill ({ fieldName }, text) {
      const value = text.length < 1000 ? 'x'.repeat(500) + text.length : text
      for (let times = 0; times < 2; times++) fieldName(text).accepts(value)
    }
  },
  'fields of a request': {
    file: '../../lib/front/input/headers',
    operation: [fc.constantFrom('a', 'b', 'c'), short, fc.boolean()],
    run ({ HeaderSection }, sections, text, name, joins) {
      const fields = `Host: ${text}\r\nX-A: 1\r\nx-a: 2\r\nCookie: a\r\ncookie: b\r\nhost: d\r\n\r\n`
      const section = (sections[text] ??= new HeaderSection(fields, -1, false))
      section.repeat()
      return [section.field(name, joins), section.rawHeaders(), section.rawHeaders().reverse()]
    },
    lookup: {
      hit: ({ HeaderSection }, state, name) => (state.section ??= repeated(HeaderSection)).field(name, false),
      names: NAMES.map(name => name.toLowerCase()),
      most: 5
    },
    fill ({ HeaderSection }, text, state) {
      state.section ??= repeated(HeaderSection)
      state.section.field(text, false)
    }
  },
  'status lines': {
    file: '../../lib/front/output/writer',
    operation: [fc.constantFrom(200, 299, 404), message, message],
    run ({ header }, state, status, message, phrase) {
      const before = STATUS_CODES[status]
      STATUS_CODES[status] = phrase // an app may
      const text = header(status, message, [], '', 0)
      STATUS_CODES[status] = before
      return text
    },
    fill ({ header }, text, state) {
      state.status = (state.status ?? 200) % 700 + 200
      header(state.status, text, [], '', 0)
    }
  },
  hosts: {
    file: '../../lib/request',
    operation: [fc.constantFrom('a', 'a:1', 'a@b', 'b', '[::1]:1', 'ä', '', 'a/b', '0x7f.1')],
    run: (request, state, host) => hostOf(request, host),
    fill: (request, text) => hostOf(request, text)
  }
}

function repeated (HeaderSection) {
  const section = new HeaderSection('Content-Security-Policy: a\r\n\r\n', -1, false)
  section.repeat()
  return section
}

function typeOf (response, type) {
  let found = 'removed'
  const outgoing = { headersSent: false, setHeader (name, value) { found = value }, removeHeader () {} }
  Object.create(response, { outgoing: { value: outgoing } }).type = type
  return found
}

function hostOf (request, host) {
  const properties = { incoming: { value: {} }, app: { value: {} }, get: { value: () => host } }
  const { host: found, hostname } = Object.create(request, properties)
  return [found, hostname]
}

function load (file) {
  delete require.cache[require.resolve(file)]
  return require(file)
}

v8.setFlagsFromString('--expose-gc')
const gc = vm.runInNewContext('gc')

function heapUsed () {
  gc()
  return process.memoryUsage().heapUsed
}

function leastTime (fn) {
  return Math.min(...Array.from({ length: 7 }, () => {
    const before = process.cpuUsage()
    fn()
    const { user, system } = process.cpuUsage(before)
    return user + system
  }))
}

for (const [name, { file, operation, run, lookup, fill, prefix = 'text-' }] of Object.entries(CACHES)) {
  describe(`the cache of ${name}`, () => {
    it('should not be noticed', () => {
      fc.assert(fc.property(fc.array(fc.tuple(...operation), { maxLength: 30 }), operations => {
        const cached = load(file)
        const state = {}
        const found = operations.map(args => run(cached, state, ...args))
        assert.deepEqual(found, operations.map(args => run(load(file), {}, ...args)))
      }), { numRuns: share(30, 100, 300) })
    })

    it('should keep few bytes of many long texts, and of many parts of a long one', () => {
      const cached = load(file)
      const state = {}
      const before = heapUsed()
      for (let i = 0; i < 1000; i++) {
        fill(cached, `${prefix}${i}${'x'.repeat(20_000)}`, state)
        const long = `${prefix}${i}${'y'.repeat(30)} ${'z'.repeat(20_000)}`
        fill(cached, long.slice(0, long.indexOf(' ')), state)
      }
      const kept = heapUsed() - before
      assert(kept < 4 * 1024 * 1024, `${kept} bytes`)
      assert(cached !== undefined && state !== undefined) // until here
    })

    if (lookup === undefined) return
    const { hit, most, names } = lookup
    it('should find the names that code reads about as fast as a Map does', () => {
      const cached = load(file)
      const state = {}
      for (const name of names) hit(cached, state, `${' '.repeat(20_000)}${name} `.slice(20_000, -1)) // learnt from a part
      const map = new Map(names.map(name => [name, name]))
      const times = [name => map.get(name), name => hit(cached, state, name)].map(find => leastTime(() => {
        for (let i = 0; i < 200_000; i++) for (const name of names) if (find(name) === null) throw new Error(name)
      }))
      assert(times[1] < most * times[0], `${times} µs of CPU`)
    })
  })
}
