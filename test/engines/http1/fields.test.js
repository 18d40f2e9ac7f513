'use strict'

const assert = require('node:assert/strict')
const { STATUS_CODES } = require('node:http')
const { describe, it, mock } = require('node:test')
const { inspect } = require('node:util')

const { REMOVED, FieldName, fieldName, isPlain } = require('../../../lib/engines/field-names')

const range = (from, to) => Array.from({ length: to - from + 1 }, (_, i) => String.fromCharCode(from + i)).join('')

/** A copy of writer.js that has built nothing yet, because it keeps lines that contain the date. */
function writer () {
  const [timers, file] = ['../../../lib/shared/timers', '../../../lib/front/output/writer'].map(name => require.resolve(name))
  delete require.cache[timers]
  delete require.cache[file]
  return require(file)
}

describe('the name of a field', () => {
  const TOKEN = "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

  it('should be a token', () => {
    for (const char of range(0, 0x17f)) {
      for (const name of [`a${char}`, `${char}a`]) {
        assert.equal(fieldName(name)?.text, TOKEN.includes(char) ? name : undefined, JSON.stringify(name))
      }
    }
    for (const name of ['', undefined, null, 5, {}, Symbol('a')]) assert.equal(fieldName(name), undefined)
  })

  it('should not be an integer, which node puts first', () => {
    for (const name of ['0', '1', '10', '123456789012']) assert.equal(fieldName(name), undefined, name)
    for (const name of ['1a', 'a1', '1.5', '-1']) assert.equal(fieldName(name).text, name)
  })

  it('should be known as it was spelled', () => {
    assert.equal(fieldName('X-Known'), fieldName('X-Known'))
    assert.notEqual(fieldName('X-Known'), fieldName('x-known'))
    assert.deepEqual([fieldName('X-Known').text, fieldName('X-Known').key], ['X-Known', 'x-known'])
  })

  it('should have the id of all names that differ in case alone', () => {
    assert.equal(fieldName('X-Case').id, fieldName('x-case').id)
    assert.notEqual(fieldName('X-Case').id, fieldName('X-Case-2').id)
    for (const name of ['404', 'not a token']) {
      assert.equal(new FieldName(name).id, new FieldName(name).id)
      assert.notEqual(new FieldName(name).id, new FieldName(`${name}0`).id)
    }
  })

  it('should be unusual if it changes framing or what node adds', () => {
    for (const name of ['Connection', 'transfer-encoding', 'DATE', 'Expect', 'Trailer', 'Keep-Alive', 'Cookie']) {
      assert.equal(fieldName(name).isUnusual, true, name)
    }
    for (const name of ['Content-Length', 'Content-Type', 'Set-Cookie', 'X']) assert.equal(fieldName(name).isUnusual, false, name)
  })

  it('should have a bit of its own if node remembers that it was removed', () => {
    const removals = ['Content-Length', 'Transfer-Encoding', 'Connection', 'Date'].map(name => fieldName(name).removal)
    assert.deepEqual(removals, [1, 2, 4, 8])
    assert.deepEqual(Object.values(REMOVED), removals)
    for (const name of ['Content-Type', '__proto__', 'constructor', 'toString']) assert.equal(fieldName(name).removal, 0, name)
  })

  it('should be limited in number, and work beyond the limit', () => {
    const known = Array.from({ length: 3000 }, (_, i) => fieldName(`x-many-${i}`))
    const last = known.at(-1)
    assert.equal(known[0], fieldName('x-many-0'))
    assert.notEqual(last, fieldName(last.text))
    assert.equal(last.line('a'), 'x-many-2999: a\r\n')
    assert.equal(last.id, fieldName('X-Many-2999').id)
    assert.notEqual(last.id, fieldName('x-many-2998').id)
    assert.equal(last.accepts('a'), true)
    const kept = known.filter(name => fieldName(name.text) === name).length
    assert(kept <= 1024, `${kept} names are kept`)
  })
})

describe('the value of a field', () => {
  const ASCII = `\t${range(0x20, 0x7e)}`

  it('should be ASCII without control characters, a number, or a list of such strings', () => {
    for (const char of range(0, 0x17f)) {
      for (const value of [char, `a${char}`, `${char}a`]) {
        for (const one of [value, [value], ['a', value], [value, 'a']]) {
          assert.equal(isPlain(one), ASCII.includes(char), JSON.stringify(one))
        }
      }
    }
    for (const value of ['', 0, 5, NaN, ['']]) assert.equal(isPlain(value), true)
    for (const value of [undefined, null, true, {}, [], [5], ['a', 5], [['a']], Symbol('a')]) {
      assert.equal(isPlain(value), false)
    }
  })

  it('should make the line, also when it is set again and again', () => {
    const name = fieldName('X-Line')
    for (const value of ['a', 'a', 'a', 'b', 'a', 5, 5, 5, 'a', 'a', '', '', '', 'c'.repeat(600), 'c'.repeat(600), 'a']) {
      assert.equal(name.accepts(value), true)
      assert.equal(name.line(value), `X-Line: ${value}\r\n`)
    }
    assert.equal(name.line('other'), 'X-Line: other\r\n')
    assert.equal(name.accepts('a'), true)
    assert.equal(name.line('b'), 'X-Line: b\r\n')
  })

  it('should be refused after a good one, too', () => {
    const name = fieldName('X-Refused')
    assert.equal(name.accepts(undefined), false)
    for (const value of ['a', 'a', 'b']) {
      assert.equal(name.accepts(value), true)
      for (const bad of ['a\n', 'é', undefined, null, [], ['a\r']]) assert.equal(name.accepts(bad), false)
      assert.equal(name.line(value), `X-Refused: ${value}\r\n`)
    }
  })

  it('should be checked again if it is a list, which the app may have changed', () => {
    const name = fieldName('X-List')
    const list = ['a']
    assert.equal(name.accepts(list), true)
    list[0] = 'a\r\nX: b'
    assert.equal(name.accepts(list), false)
  })

  it('should be kept as its line when it is set twice, up to 512 characters', () => {
    const name = fieldName('X-Kept')
    const times = (count, value) => {
      for (let i = 0; i < count; i++) name.accepts(value)
      return name.lastLine
    }
    assert.equal(times(1, 'a'), '')
    assert.equal(times(1, 'a'), 'X-Kept: a\r\n')
    assert.equal(times(1, 'b'), '')
    const long = 'c'.repeat(512)
    assert.equal(times(2, long), `X-Kept: ${long}\r\n`)
    assert.equal(times(2, `${long}c`), `X-Kept: ${long}\r\n`)
    assert.equal(times(2, 5), `X-Kept: ${long}\r\n`)
  })
})

describe('the header section of a response', () => {
  const { CHUNKED, header } = writer()
  const field = (name, value) => [fieldName(name), value]

  it('should have a status line', () => {
    for (const status of [200, 404, 500]) {
      const expected = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n\r\n`
      for (let i = 0; i < 2; i++) assert.equal(header(status, undefined, [], '', -1), expected)
    }
    assert.equal(header(200, 'fine', [], '', -1), 'HTTP/1.1 200 fine\r\n\r\n')
    assert.equal(header(200, '', [], '', -1), 'HTTP/1.1 200 OK\r\n\r\n')
    assert.equal(header(299, undefined, [], '', -1), 'HTTP/1.1 299 unknown\r\n\r\n')
  })

  it('should have the fields of the app, the common ones, and a length or chunks', () => {
    const fields = [...field('X-One', 'a'), ...field('Set-Cookie', ['b', 'c']), ...field('X-Two', 5)]
    const own = 'HTTP/1.1 200 OK\r\nX-One: a\r\nSet-Cookie: b\r\nSet-Cookie: c\r\nX-Two: 5\r\n'
    assert.equal(header(200, undefined, fields, 'Date: d\r\n', -1), `${own}Date: d\r\n\r\n`)
    assert.equal(header(200, undefined, fields, 'Date: d\r\n', 0), `${own}Date: d\r\nContent-Length: 0\r\n\r\n`)
    for (const length of [2, 12]) assert.equal(header(200, undefined, fields, '', length), `${own}Content-Length: ${length}\r\n\r\n`)
    assert.equal(header(200, undefined, fields, 'Date: d\r\n', CHUNKED), `${own}Date: d\r\nTransfer-Encoding: chunked\r\n\r\n`)
  })

  it('should have one length', () => {
    for (const name of ['Content-Length', 'content-length', 'CONTENT-LENGTH']) {
      const fields = [...field(name, 7), ...field('X', 'y')]
      assert.equal(header(200, undefined, fields, '', 12), `HTTP/1.1 200 OK\r\n${name}: 7\r\nX: y\r\n\r\n`)
    }
  })
})

describe('the lines that depend on the connection', () => {
  const DATE = 'Date: Mon, 23 Nov 2026 12:00:00 GMT\r\n'

  /** At 12:00:00.250, on a clock of the test. */
  function clock (t) {
    mock.timers.enable({ apis: ['setTimeout', 'Date'], now: Date.UTC(2026, 10, 23, 12, 0, 0, 250) })
    t.after(() => mock.timers.reset())
    return writer()
  }

  it('should be those that node adds', t => {
    const { keepAlive, close } = clock(t)
    for (let i = 0; i < 2; i++) {
      assert.equal(keepAlive(5000), `${DATE}Connection: keep-alive\r\nKeep-Alive: timeout=5\r\n`)
      assert.equal(close(), `${DATE}Connection: close\r\n`)
      assert.equal(keepAlive(72999), `${DATE}Connection: keep-alive\r\nKeep-Alive: timeout=72\r\n`)
      assert.equal(keepAlive(0), `${DATE}Connection: keep-alive\r\n`)
    }
  })

  it('should begin with either', t => {
    const { close } = clock(t)
    assert.equal(close(), `${DATE}Connection: close\r\n`)
  })

  it('should have another date when the second has passed, and not before', t => {
    const { keepAlive, close } = clock(t)
    close()
    mock.timers.tick(749)
    assert.match(close(), /12:00:00 GMT/)
    mock.timers.tick(1)
    assert.match(close(), /12:00:01 GMT/)
    assert.match(keepAlive(5000), /12:00:01 GMT/)
    mock.timers.tick(999)
    assert.match(keepAlive(5000), /12:00:01 GMT/)
    mock.timers.tick(1)
    assert.match(keepAlive(5000), /12:00:02 GMT/)
    assert.match(close(), /12:00:02 GMT/)
  })

  it('should keep no process running', () => {
    const { keepAlive } = writer()
    const { getActiveResourcesInfo } = process
    const timers = () => getActiveResourcesInfo().filter(name => name === 'Timeout').length
    const before = timers()
    keepAlive(5000)
    assert.equal(timers(), before)
  })
})

describe('the length of a body', () => {
  const { NOT_PLAIN, lengthOf } = writer()
  for (const [body, length] of [
    [undefined, 0], [null, 0], ['', 0], ['abc', 3], ['子', 3], [Buffer.from('ab'), 2], [new Uint8Array(3), 3],
    [5, NOT_PLAIN], [{}, NOT_PLAIN], [new Uint16Array(1), NOT_PLAIN]
  ]) it(`should be ${length} bytes: ${inspect(body)}`, () => assert.equal(lengthOf(body), length))

  it('should be less than that of every plain body if node must send it', () => assert(NOT_PLAIN < 0))
})
