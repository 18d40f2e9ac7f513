'use strict'

const assert = require('node:assert/strict')
const { readFileSync, readdirSync } = require('node:fs')
const { join, sep } = require('node:path')
const { describe, it } = require('node:test')
const { Linter } = require('eslint')

const owners = require('./helpers/owners')

const LIB = join(__dirname, '../lib')

/** Fields that node does not document; only these files may write them. */
const UNDOCUMENTED = [
  {
    files: /^fetch\/node\.js$/,
    fields: [
      'httpVersionMajor', 'httpVersionMinor', 'httpVersion', 'rawHeaders', 'complete', '_read', // of a request
      'sendDate', 'destroyed', '_closed' // of a response
    ]
  },
  { files: /^file-stream\.js$/, fields: ['end', 'highWaterMark'] }, // of an fs.ReadStream, and of its state
  { files: /^drain\.js$/, fields: ['shouldKeepAlive', 'closeIdleConnections'] },
  {
    files: /^http1\/node\/|^fetch\/node\.js$/,
    fields: [
      'server', '_httpMessage', 'push', 'unshift', 'setEncoding', 'destroy', 'end', 'readableFlowing', 'needReadable', // of a socket
      'httpVersionMajor', 'httpVersionMinor', 'httpVersion', 'upgrade', 'joinDuplicateHeaders', // of a request
      'complete', 'aborted', '_dumped', '_consuming',
      'ended', 'endEmitted', 'destroyed', 'closed', 'closeEmitted', 'errored', 'errorEmitted', // of its state
      '_closed', 'socket', 'shouldKeepAlive', 'outputData', 'outputSize', // of a response
      'rawHeaders', '_read', 'sendDate', // of fetch's, too
      '_storeHeader', '_writeRaw', '_finish', '_hasBody', '_keepAliveTimeout', '_maxRequestsPerSocket', '_onPendingData'
    ]
  }
]

/** Assignments to a stranger that stay: file → what is assigned to → why. */
const EXCEPTIONS = {
  'context.js': {
    'err.expose': 'ctx.throw(err, status) gives the thrown error a status, as in Koa',
    'err[key]': 'Koa documents err.status and err.headerSent for app.on("error")'
  },
  'fetch/node.js': {
    'res[kNeedDrain]': 'node clears this mark of its own in its listener for the socket’s drain'
  },
  'http1/index.js': {
    'Object.defineProperty(object, name, { value, writable: true, configurable: true, enumerable: false })':
      'closeIdleConnections() and closeAllConnections() of a server close the sockets of the front, too'
  },
  'http1/node/response.js': {
    'res[kNeedDrain]': 'node clears this mark of its own in its listener for the socket’s drain'
  },
  'http1/node/probe.js': {
    'Object.assign(server, { maxHeaderSize, insecureHTTPParser, httpValidation, maxHeadersCount })':
      'documented, of a server that it made',
    'this.parser.onIncoming': 'of a parser of its own: node’s own function would emit the request',
    'Object.assign(result, { rawPacket, message })': 'an error of this parser gets what node gives it'
  },
  'http1/input/headers.js': {
    'pattern.lastIndex': 'the state of a regexp that prepare() made'
  },
  'http1/input/partial.js': {
    'part.lastIndex': 'the state of a regexp of this file'
  },
  'stream.js': {
    'res.write': 'node builds the header section in write() and throws where nobody can catch it',
    'res.end': 'the same',
    'Object.assign(res, { write, end })': 'puts node’s own back'
  }
}

function refused (code, fields = []) {
  const config = {
    linterOptions: { reportUnusedDisableDirectives: 'off' },
    languageOptions: { sourceType: 'commonjs', ecmaVersion: 'latest' },
    plugins: { kone: { rules: { owners } } },
    rules: { 'kone/owners': ['error', { fields }] }
  }
  return new Linter().verify(code, config).map(({ message, line }) => ({ message, line }))
}

describe('one owner per fact', () => {
  const files = readdirSync(LIB, { recursive: true })
    .filter(name => name.endsWith('.js'))
    .map(name => name.split(sep).join('/'))

  for (const file of files) {
    it(`should be kept by lib/${file}`, () => {
      const { fields } = UNDOCUMENTED.find(({ files }) => files.test(file)) ?? {}
      const found = refused(readFileSync(join(LIB, file), 'utf8'), fields)
      const exceptions = EXCEPTIONS[file] ?? {}
      assert.deepEqual(found.filter(({ message }) => !(message in exceptions)), [])
      const used = new Set(found.map(({ message }) => message))
      assert.deepEqual(Object.keys(exceptions).filter(message => !used.has(message)), [], 'exceptions without a use')
    })
  }
})

describe('the rule', () => {
  const cases = {
    'a field of a parameter': ['function f (other) { other.x = 1 }', 'other.x'],
    'a field of a field': ['class A { f () { this.other.x = 1 } }', 'this.other.x'],
    'a counter': ['function f (other) { other.count++ }', 'other.count'],
    'a delete': ['function f (other) { delete other.x }', 'other.x'],
    'a delete behind ?.': ['function f (other) { delete other?.x }', 'other?.x'],
    'a target of destructuring': ['function f (other) { [other.x, { y: other.y = 2 }] = list }', 'other.x', 'other.y'],
    'a target of a loop': ['function f (other) { for (other.x of list); }', 'other.x'],
    'a computed name': ['function f (other, name) { other[name] = 1 }', 'other[name]'],
    'a symbol of another file': ["const { kX } = require('./x')\nfunction f (other) { other[kX] = 1 }", 'other[kX]'],
    'Object.assign()': ['function f (other) { Object.assign(other, { x: 1 }) }', 'Object.assign(other, { x: 1 })'],
    'Object.defineProperty()': [
      "function f (other) { Object.defineProperty(other, 'x', {}) }", "Object.defineProperty(other, 'x', {})"
    ],
    'what another file made': ["const { make } = require('./x')\nconst a = make()\na.x = 1", 'a.x'],
    'a class of another file': ["const { A } = require('./a')\nconst a = new A()\na.x = 1", 'a.x'],
    'what may be a stranger': ['function f (other) { let a = {}; a = other; a.x = 1 }', 'a.x'],
    '`this` of a listener': ['function onClose () { this.closed = true }', 'this.closed'],
    'a list that came from elsewhere': ['class A { constructor (l) { this.l = l; this.l[0] = 1 } }', 'this.l[0]']
  }
  for (const [what, [code, ...expected]] of Object.entries(cases)) {
    it(`should refuse ${what}`, () => {
      assert.deepEqual(refused(code).map(({ message }) => message), expected)
    })
  }

  const allowed = {
    '`this` of a method': 'class A { f () { this.x = 1; const g = () => { this.y = 2 } } }',
    '`this` of an object literal': 'module.exports = { set x (v) { this.y = v }, f () { this.z = 1 } }',
    '`this` of a constructor function': 'function A () { this.x = 1 }\nnew A()',
    'an object literal': 'const a = {}\na.x = 1',
    'an instance of a class of the file': 'class A {}\nfunction f () { const a = new A(); a.x = 1 }',
    'an object without a prototype': 'const a = Object.create(null)\na.x = 1',
    'a list of its own': 'class A { constructor () { this.list = [] } f (i) { this.list[i] = 1; const { list } = this; list[i]++ } }',
    'a function of the file': 'function f () {}\nf.x = 1\nmodule.exports.f = f\nexports.g = 1',
    'an error that it makes': 'function f () { const err = new Error(); err.code = 1 }',
    'the state of its own regexp': 'const WORD = /a/y\nWORD.lastIndex = 1',
    'a symbol of the file': 'const kX = Symbol("x")\nfunction f (o) { o[kX] = 1; Object.defineProperty(o, kX, {}); delete o[kX] }',
    "Koa's setters and node's fields": 'function f (ctx, res) { ctx.status = 1; ctx.body = 2; res.statusCode = 3 }'
  }
  for (const [what, code] of Object.entries(allowed)) {
    it(`should allow ${what}`, () => assert.deepEqual(refused(code), []))
  }

  it('should allow undocumented fields of node only where they are named', () => {
    const code = 'function f (res) { res.shouldKeepAlive = false }'
    assert.deepEqual(refused(code, ['shouldKeepAlive']), [])
    assert.equal(refused(code).length, 1)
  })
})
