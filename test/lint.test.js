'use strict'

const assert = require('node:assert/strict')
const { execFileSync } = require('node:child_process')
const { readFileSync } = require('node:fs')
const { join, posix } = require('node:path')
const { describe, it } = require('node:test')
const { Linter } = require('eslint')
const methods = require('../tools/eslint/methods')
const owners = require('../tools/eslint/owners')
const prose = require('../tools/eslint/prose')
const replaced = require('../tools/eslint/replaced')
const { DUTIES } = require('./engines/http1/duties')

/** What the linter's own rules find in a source, whose kind is that of the file name. */
function found (rule, source, { file = 'a.js', options = [] } = {}) {
  const messages = new Linter().verify(source, [{
    files: ['**/*.{js,mjs,md}'],
    linterOptions: { reportUnusedDisableDirectives: 'off' },
    languageOptions: {
      sourceType: file.endsWith('.mjs') ? 'module' : 'commonjs', ...(file.endsWith('.md') && { parser: prose.markdown })
    },
    plugins: { kone: { rules: { methods, owners, prose: prose.rule } } },
    rules: { [`kone/${rule}`]: ['error', ...options] }
  }], file)
  return messages.map(({ message, line }) => ({ message, line }))
}

describe('the rule kone/owners', () => {
  const refused = (code, options = {}) => found('owners', code, { options: [options] }).map(({ message }) => message)

  for (const [what, code, ...expected] of [
    ['a field of a parameter', 'function f (other) { other.x = 1 }', 'other.x'],
    ['a field of a field', 'class A { f () { this.other.x = 1 } }', 'this.other.x'],
    ['a counter', 'function f (other) { other.count++ }', 'other.count'],
    ['a delete', 'function f (other) { delete other.x }', 'other.x'],
    ['a delete behind ?.', 'function f (other) { delete other?.x }', 'other?.x'],
    ['a target of destructuring', 'function f (other) { [other.x, { y: other.y = 2 }] = list }', 'other.x', 'other.y'],
    ['a target of a loop', 'function f (other) { for (other.x of list); }', 'other.x'],
    ['a computed name', 'function f (other, name) { other[name] = 1 }', 'other[name]'],
    ['a symbol of another file', "const { kX } = require('./x')\nfunction f (other) { other[kX] = 1 }", 'other[kX]'],
    ['Object.assign()', 'function f (other) { Object.assign(other, { x: 1 }) }', 'Object.assign(other, { x: 1 })'],
    ['Object.defineProperty()', "function f (other) { Object.defineProperty(other, 'x', {}) }", "Object.defineProperty(other, 'x', {})"],
    ['what another file made', "const { make } = require('./x')\nconst a = make()\na.x = 1", 'a.x'],
    ['a class of another file', "const { A } = require('./a')\nconst a = new A()\na.x = 1", 'a.x'],
    ['what may be a stranger', 'function f (other) { let a = {}; a = other; a.x = 1 }', 'a.x'],
    ['`this` of a listener', 'function onClose () { this.closed = true }', 'this.closed'],
    ['a list that came from elsewhere', 'class A { constructor (l) { this.l = l; this.l[0] = 1 } }', 'this.l[0]']
  ]) it(`should refuse ${what}`, () => assert.deepEqual(refused(code), expected))

  for (const [what, code] of [
    ['`this` of a method', 'class A { f () { this.x = 1; const g = () => { this.y = 2 } } }'],
    ['`this` of an object literal', 'module.exports = { set x (v) { this.y = v }, f () { this.z = 1 } }'],
    ['`this` of a constructor function', 'function A () { this.x = 1 }\nnew A()'],
    ['an object literal', 'const a = {}\na.x = 1'],
    ['an instance of a class of the file', 'class A {}\nfunction f () { const a = new A(); a.x = 1 }'],
    ['an object without a prototype', 'const a = Object.create(null)\na.x = 1'],
    ['a list of its own', 'class A { constructor () { this.list = [] } f (i) { this.list[i] = 1; const { list } = this; list[i]++ } }'],
    ['a function of the file', 'function f () {}\nf.x = 1\nmodule.exports.f = f\nexports.g = 1'],
    ['an error that it makes', 'function f () { const err = new Error(); err.code = 1 }'],
    ['the state of its own regexp', 'const WORD = /a/y\nWORD.lastIndex = 1'],
    ['a symbol of the file', 'const kX = Symbol("x")\nfunction f (o) { o[kX] = 1; Object.defineProperty(o, kX, {}); delete o[kX] }'],
    ["Koa's setters and node's fields", 'function f (ctx, res) { ctx.status = 1; ctx.body = 2; res.statusCode = 3 }']
  ]) it(`should allow ${what}`, () => assert.deepEqual(refused(code), []))

  it('should allow fields and exceptions only where they are named, and no exception without a use', () => {
    const code = 'function f (res) { res.shouldKeepAlive = false }'
    assert.deepEqual(refused(code), ['res.shouldKeepAlive'])
    assert.deepEqual(refused(code, { fields: ['shouldKeepAlive'] }), [])
    assert.deepEqual(refused(code, { exceptions: { 'res.shouldKeepAlive': 'why' } }), [])
    assert.deepEqual(refused('', { exceptions: { 'res.x': 'why' } }), ['an exception without a use: res.x'])
  })
})

describe('the rule kone/methods', () => {
  const refused = (code, entries = {}) => found('methods', code, { options: [entries] }).map(({ message }) => message)

  for (const [what, code, ...expected] of [
    ['a method of a parameter', 'function f (stream) { stream.write = g }', 'stream.write'],
    ['a computed name', "function f (stream) { stream['_read'] = g }", "stream['_read']"],
    ['a method of a field', 'class A { f () { this.socket.destroy = g } }', 'this.socket.destroy'],
    ['targets of destructuring', 'function f (a) { [a.end, { push: a.push = g }] = list }', 'a.end', 'a.push'],
    ['Object.assign()', 'function f (a) { Object.assign(a, { x, emit () {} }) }', 'Object.assign(a, { x, emit () {} })'],
    ['Object.defineProperty()', "Object.defineProperty(a, 'unshift', {})", "Object.defineProperty(a, 'unshift', {})"],
    ['Object.defineProperties()', 'Object.defineProperties(a, { read: {} })', 'Object.defineProperties(a, { read: {} })'],
    ['Reflect.set()', "Reflect.set(a, 'setEncoding', g)", "Reflect.set(a, 'setEncoding', g)"],
    ['a method over that of a class of node', `
      const http = require('http')
      const { Writable } = require('node:stream')
      class A extends Writable { write (...args) { return super.write(...args) } }
      class B extends http.ServerResponse { end () { super.end() } }`, 'A.write', 'B.end']
  ]) it(`should refuse ${what}`, () => assert.deepEqual(refused(code), expected))

  for (const [what, code] of [
    ['`this`', 'class A { f () { this.write = null; Object.assign(this, { end () {} }) } }'],
    ['exports', 'exports.destroy = f\nmodule.exports.read = g'],
    ['a new object', 'const a = Object.assign({}, { write () {} })'],
    ['another field', 'function f (stream) { stream.length = 1; Object.assign(stream, { size: 2 }) }'],
    ['what node documents for classes', "const { Writable } = require('stream')\nclass A extends Writable { _write () {} }"],
    ['a method without node’s', "const { Readable } = require('stream')\nclass A extends Readable { end () { this.push(null) } }"],
    ['a class of ours', "const { Outgoing } = require('./contract')\nclass A extends Outgoing { end () { super.end() } }"]
  ]) it(`should allow ${what}`, () => assert.deepEqual(refused(code), []))

  it('should allow what has an entry, and no entry without a use', () => {
    assert.deepEqual(refused('stream.write = g', { 'stream.write': {} }), [])
    assert.deepEqual(refused('', { 'stream.write': {} }), ['an entry without a use: stream.write'])
  })

  it('should have a reason for each entry, and the functions of node that call it in make node-duties', () => {
    for (const [file, entries] of Object.entries(replaced)) {
      for (const [target, { why, node }] of Object.entries(entries)) {
        assert.match(why, /\S/, target)
        for (const [name, duties] of Object.entries(node)) {
          const known = Object.entries(DUTIES[name]).filter(([path]) => join('lib/front', path) === file).flat(2)
          assert.deepEqual(duties.filter(duty => !known.includes(duty)), [], target)
        }
      }
    }
  })
})

describe('the rule kone/prose', () => {
  for (const [file, source, line] of [
    ['a.js', '// The answer is sent.', 1],
    ['a.js', '/**\n * Notified when\n * the response is out.\n */', 3],
    ['a.js', "it('should answer 200', () => {})", 1],
    ['a.js', 'const text = `the front ${verb} and stands aside`', 1], // eslint-disable-line no-template-curly-in-string
    ['a.mjs', "import a from 'a' // not mine", 1],
    ['a.md', '# A request\n\nis asked.', 3]
  ]) {
    it(`should read ${JSON.stringify(source)}`, () => {
      assert.deepEqual(found('prose', source, { file }).map(({ line }) => line), [line])
    })
  }

  for (const [file, source] of [
    ['a.js', "const answer = ask('GET /')\nanswer.head // of `the answer`"],
    ['a.js', '/**\n * Ask.\n *\n *    const answer = ask()\n */'],
    ['a.js', '// by HEAD, out of memory'],
    ['a.md', '```js\n// the answer is out\n```\n\nThe name `answer` stays.']
  ]) it(`should not read ${JSON.stringify(source)}`, () => assert.deepEqual(found('prose', source, { file }), []))
})

describe('a comment', () => {
  it('should name no file that is not there', () => {
    const root = join(__dirname, '..')
    const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: root, encoding: 'utf8' }).trim().split('\n')
    const known = new Set(files.flatMap(file => [file, posix.basename(file)]))
    const comments = text => (text.match(/\/\*[^]*?\*\/|(?<=^|\s)\/\/.*$/gm) ?? []).join('\n').replace(/^ \* {4,}.*$/gm, '')
    const wrong = files.filter(file => /\.m?js$/.test(file)).flatMap(file => {
      const names = comments(readFileSync(join(root, file), 'utf8'))
        .match(/(?<![\w$`'"/.@-])(?:\.{1,2}\/|[\w-]+\/)*[a-z][\w.-]*\.(?:m?js|md)\b(?!\()/g) ?? []
      const places = [posix.dirname(file), '.', 'lib', 'lib/front', 'middleware', 'test', 'benchmarks', 'benchmarks/lib']
      const isThere = name => known.has(name) || places.some(place => known.has(posix.join(place, name)))
      return names.filter(name => !/^x\./.test(name) && !isThere(name)).map(name => `${file}: ${name}`) // x.test.js is any
    })
    assert.deepEqual(wrong, [])
  })
})
