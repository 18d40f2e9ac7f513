'use strict'

const assert = require('node:assert/strict')
const { describe, it } = require('node:test')

const { Partial, parse, found, INCOMPLETE, UNSUPPORTED } = require('../../../lib/front/input/parser')
const { CHUNKED } = require('../../../lib/front/input/headers')

// What node:http makes of the same bytes is in corpus/, which runs on sockets. Here every byte has its verdict: the
// grammar is written out in lib/front/input/parser.js.

const HOST = 'Host: a\r\n'
const MAX_SIZE = 16384
const MAX_FIELDS = 1000

const request = (line, fields = HOST) => `${line}\r\n${fields}\r\n`
const get = (fields, target = '/') => request(`GET ${target} HTTP/1.1`, fields)

/** The verdict about a section, which is the same in pieces. */
function verdict (text, { at = 0, previous = null, maxSize = MAX_SIZE, maxFields = MAX_FIELDS } = {}) {
  const read = text => parse(text, at, previous, maxSize, maxFields)
  const end = read(text)
  if (at === 0) for (const pieces of cuts(text)) assert.equal(inPieces(pieces, read), end, JSON.stringify(pieces.map(String)))
  return end > 0 ? 'supported' : end === INCOMPLETE ? 'incomplete' : end === UNSUPPORTED ? 'unsupported' : end
}

/** The verdict at the first piece that has one, with which parse() begins again where the reader does. */
function inPieces (pieces, read) {
  let partial = null
  for (const piece of pieces) {
    const verdict = partial === null ? 1 : partial.add(piece)
    if (verdict === INCOMPLETE) continue
    if (verdict === UNSUPPORTED) return UNSUPPORTED
    const bytes = partial === null ? piece : partial.bytes
    const end = read(bytes.latin1Slice(0, bytes.length))
    if (end !== INCOMPLETE) return end
    partial = new Partial(bytes)
  }
  return INCOMPLETE
}

/** Two pieces, cut at up to a hundred places; pieces of seven bytes, and of one. */
function * cuts (text) {
  const bytes = Buffer.from(text, 'latin1')
  const step = Math.ceil(bytes.length / 100)
  for (let at = step; at < bytes.length; at += step) yield [bytes.subarray(0, at), bytes.subarray(at)]
  for (const size of [1, 7]) {
    const count = Math.ceil(bytes.length / size)
    yield Array.from({ length: count }, (_, i) => bytes.subarray(i * size, (i + 1) * size))
  }
}

/** Every character of latin1. */
const LATIN1 = Array.from({ length: 256 }, (_, code) => String.fromCharCode(code))

/** Which characters are supported between `before` and `after`? */
const supported = (before, after) => LATIN1.filter(char => verdict(before + char + after) === 'supported').join('')

const range = (from, to) => LATIN1.slice(from, to + 1).join('')

const TOKEN = '!#$%&\'*+-.0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ^_`abcdefghijklmnopqrstuvwxyz|~'

describe('the parser: the request line', () => {
  for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
    it(`should support ${method}`, () => {
      const text = request(`${method} /a?b=c HTTP/1.1`)
      assert.equal(parse(text, 0, null, MAX_SIZE, MAX_FIELDS), text.length)
      assert.equal(found.method, method)
      assert.equal(found.url, '/a?b=c')
      assert.equal(verdict(text), 'supported')
    })

    it(`should support ${method} only as it is written`, () => {
      for (const other of [
        method.toLowerCase(), `${method}X`, `X${method}`, method.slice(0, -1), `${method.slice(0, -1)}\t`, ` ${method}`
      ]) {
        for (const text of [request(`${other} / HTTP/1.1`), request(`${other}/ HTTP/1.1`)]) {
          assert.equal(verdict(text), 'unsupported', text)
        }
      }
    })

    it(`should call every beginning of a ${method} incomplete`, () => {
      const text = request(`${method} /a HTTP/1.1`, 'Host: a\r\nContent-Length: 1 \r\nX: y\r\n')
      for (let length = 0; length < text.length; length++) {
        assert.equal(verdict(text.slice(0, length)), 'incomplete', JSON.stringify(text.slice(0, length)))
      }
      assert.equal(verdict(text), 'supported')
    })
  }

  it('should not support another method', () => {
    for (const method of [' /', 'TRACE /', 'CONNECT /', 'PROPFIND /', 'LOCK /', 'M-SEARCH /', 'A /', 'P /', 'H /', '/', '']) {
      assert.equal(verdict(request(`${method} HTTP/1.1`)), 'unsupported', method)
    }
  })

  it('should support a target that begins with a slash', () => {
    for (const target of ['*', 'http://a/', 'a:80', '?x', 'x', '', ' /']) {
      assert.equal(verdict(get(HOST, target)), 'unsupported', target)
    }
    assert.equal(supported('GET ', ' HTTP/1.1\r\nHost: a\r\n\r\n'), '/')
  })

  it('should support visible ASCII in a target', () => {
    assert.equal(supported('GET /', ' HTTP/1.1\r\nHost: a\r\n\r\n'), range(0x21, 0x7e))
    assert.equal(supported('GET /a', 'b HTTP/1.1\r\nHost: a\r\n\r\n'), range(0x21, 0x7e))
  })

  it('should support HTTP/1.1 and HTTP/1.0 alone', () => {
    assert.equal(verdict(request('GET / HTTP/1.0')), 'supported')
    for (const version of [' HTTP/0.9', ' HTTP/1.2', ' HTTP/1.00', ' HTTP/2.1', ' http/1.1', ' HTTP/1.1 ', '  HTTP/1.1', ' HTTP/1.11', ' HTTP/1.', ' ', '']) {
      assert.equal(verdict(request(`GET /${version}`)), 'unsupported', version)
    }
    for (const end of ['\n', '\r']) assert.equal(verdict(`GET / HTTP/1.1${end}Host: a\r\n\r\n`), 'unsupported')
  })
})

describe('the parser: the fields', () => {
  it('should support the characters of a token in a name', () => {
    assert.equal(supported('GET / HTTP/1.1\r\nHost: a\r\n', ': b\r\n\r\n'), TOKEN)
    assert.equal(supported('GET / HTTP/1.1\r\nHost: a\r\nx', 'y: b\r\n\r\n'), TOKEN.replace('9', '9:'))
  })

  it('should support tabs, spaces, visible ASCII and bytes from 0x80 on in a value', () => {
    const all = `\t${range(0x20, 0x7e)}${range(0x80, 0xff)}`
    assert.equal(supported('GET / HTTP/1.1\r\nHost: a\r\nx: a', 'b\r\n\r\n'), all)
    assert.equal(supported('GET / HTTP/1.1\r\nHost: a\r\nx:', '\r\n\r\n'), all)
    assert.equal(verdict(get('Host: a\r\nx:\r\n')), 'supported')
  })

  it('should not support a line without a name, without a colon, a folded one, or one that ends in one character', () => {
    for (const fields of [
      `${HOST}: a\r\n`, `${HOST}a\r\n`, `${HOST}a : b\r\n`, `${HOST} a: b\r\n`, `${HOST}a: b\r\n c\r\n`, `${HOST}\ta: b\r\n`,
      `${HOST}a: b\n`, `${HOST}a: b\r`, `${HOST}a: b\r\r\n`, 'Host: a\n', ''
    ]) {
      assert.equal(verdict(get(fields)), 'unsupported', JSON.stringify(fields))
    }
    assert.equal(verdict('GET / HTTP/1.1\r\nHost: a\r\n\n'), 'unsupported')
    assert.equal(verdict('GET / HTTP/1.1\r\nHost: a\r\n\rx\n'), 'unsupported')
  })

  it('should reject a method that it does not know before its line ends', () => {
    for (const text of ['X', 'GEX', 'GETT', 'GET\t', 'G ', 'g', ' ', 'PRI', 'OPTIONSX', '\0', '\x16\x03\x01\x02\0\x01\0\x01']) {
      assert.equal(verdict(text), 'unsupported', JSON.stringify(text))
    }
  })

  it('should reject a bad line when it ends', () => {
    for (const line of [
      'GET x HTTP/1.1', 'GET / HTTP/0.9', 'GET /\xfc HTTP/1.1', 'GET /', 'GET / HTTP/1.1\r', 'GET / HTTP/1.1\r\nHo st: a',
      'GET / HTTP/1.1\r\nHost: a\0', 'GET / HTTP/1.1\r\nHost', 'GET / HTTP/1.1\r\n: a', 'GET / HTTP/1.1\r\nHost: a\r\n b',
      'GET / HTTP/1.1\r\nHost: a\rX: b', 'GET / HTTP/1.1\r\nHost: a\r\n\r'
    ]) {
      assert.equal(verdict(line), 'incomplete', JSON.stringify(line))
      assert.equal(verdict(`${line}\r\n`), 'unsupported', JSON.stringify(line))
    }
    assert.equal(verdict('GET / HTTP/1.1\n'), 'unsupported')
    assert.equal(verdict('GET / HTTP/1.1\r\nHost: a\n'), 'unsupported')
  })

  it('should reject what only all fields together show when the section ends', () => {
    for (const fields of [
      'Upgrade: a', 'expect: a', 'Transfer-Encoding: g', 'Transfer-Encoding:', 'Transfer-Encoding: chunked,',
      'Content-Length: 1\r\nTransfer-Encoding: chunked', 'Transfer-Encoding: chunked\r\nContent-Length: 1', 'Content-Length: x',
      'Content-Length: 1\r\nContent-Length: 1', 'Content-Length: 1 1', 'Content-Length:', 'Content-Length: 1234567890123456789'
    ]) {
      const text = `GET / HTTP/1.1\r\nHost: a\r\n${fields}\r\n`
      assert.equal(verdict(text), 'incomplete', text)
      assert.equal(verdict(`${text}\r\n`), 'unsupported', text)
    }
  })

  it('should need one Host that is not empty, of characters of a host', () => {
    for (const [expected, ...cases] of [
      ['supported', 'Host: a', 'host:a', 'HOST: a', 'hOsT:   a', 'X: y\r\nHost: a', 'Host: a_b:x', 'Host: !', 'Host:\ta \t'],
      ['unsupported', 'X: Host: a', 'Hosts: a', 'Hos: a', 'Hoss: a', 'X-Host: a', 'Host:', 'Host: ', 'Host:   ', 'Host:\t',
        'Host: a\r\nHost: a', 'Host: a\r\nhost: b', 'Host: a\r\nHost:',
        ...Array.from(' \t/?#@\\<>"^{|}`\x80\xff', character => `Host: a${character}b`)]
    ]) {
      for (const fields of cases) assert.equal(verdict(get(`${fields}\r\n`)), expected, fields)
    }
  })

  it('should need no Host on HTTP/1.0, and ignore Expect', () => {
    const old = fields => verdict(request('GET / HTTP/1.0', fields))
    for (const fields of ['', HOST, 'Expect: 100-continue\r\n', `Expect: x\r\n${HOST}`]) assert.equal(old(fields), 'supported', fields)
    for (const fields of [HOST + HOST, 'Host:\r\n', 'Upgrade: x\r\n', 'Transfer-Encoding: x\r\n']) assert.equal(old(fields), 'unsupported', fields)
  })

  it('should not support Transfer-Encoding, Expect and Upgrade, whatever their case', () => {
    for (const name of ['Transfer-Encoding', 'Expect', 'Upgrade']) {
      for (const spelled of [name, name.toLowerCase(), name.toUpperCase()]) {
        assert.equal(verdict(get(`${HOST}${spelled}: x\r\n`)), 'unsupported', spelled)
        assert.equal(verdict(get(`${spelled}:\r\n${HOST}`)), 'unsupported', spelled)
      }
      for (const other of [`X-${name}`, `${name}s`, name.slice(0, -1), `${name.slice(0, -1)}x`]) {
        assert.equal(verdict(get(`${HOST}${other}: x\r\n`)), 'supported', other)
      }
    }
  })
})

describe('the parser: Content-Length', () => {
  const length = value => parse(get(`${HOST}Content-Length:${value}\r\n`), 0, null, MAX_SIZE, MAX_FIELDS) > 0
    ? found.section.contentLength
    : 'unsupported'

  it('should be -1 without the field', () => {
    assert.equal(verdict(get(HOST)), 'supported')
    assert.equal(found.section.contentLength, -1)
    for (const name of ['Content-Lengths', 'Content-Lengt', 'X-Content-Length', 'Content-Lengtx']) {
      assert.equal(verdict(get(`${HOST}${name}: 5\r\n`)), 'supported')
      assert.equal(found.section.contentLength, -1, name)
    }
  })

  it('should be digits with spaces around them', () => {
    for (const value of ['0', ' 0', '1', ' 9', ' 10', '\t\t 1234567890  ', ' 90 ', ' 999999999999999', ' 9007199254740900']) {
      assert.equal(length(value), Number(value), JSON.stringify(value))
    }
  })

  it('should not be anything else, nor more than fits into a double', () => {
    for (const value of [
      ' 9007199254740992', ' 99999999999999999999999',
      '', ' ', '\t', '+1', '-1', '1.0', '1e3', '0x1', '01', '00', '000', '1,1', '1, 1', '1 1', '1\t', '1a', 'a1', '/', ':', '1/',
      '1:', ' \xa01', '1\xa0'
    ]) {
      assert.equal(length(value), 'unsupported', JSON.stringify(value))
    }
  })

  it('should be there once, even with the same value', () => {
    for (const second of ['Content-Length', 'content-length', 'CONTENT-LENGTH']) {
      assert.equal(verdict(get(`${HOST}Content-Length: 0\r\n${second}: 0\r\n`)), 'unsupported')
    }
  })
})

describe('the parser: Transfer-Encoding', () => {
  const read = value => {
    const text = get(`${HOST}Transfer-Encoding:${value}\r\n`)
    return verdict(text) === 'supported' ? found.section.contentLength : 'unsupported'
  }

  it('should be chunked with blanks around it, in any case', () => {
    for (const value of ['chunked', ' chunked', ' \t chunked', ' Chunked  ', ' CHUNKED', ' cHUNKED']) {
      assert.equal(read(value), CHUNKED, JSON.stringify(value))
    }
  })

  it('should not be anything else', () => {
    for (const value of [
      '', ' ', ' chunke', ' chunkedd', ' xchunked', ' chunked\t', ' chunked,', ' ,chunked', ' chunked, chunked', ' chunked chunked', ' chunkedchunked',
      ' gzip', ' gzip, chunked', ' chunked, gzip', ' identity', ' chunked;q=1', ' "chunked"', ' \x0bchunked', ' chunked\xa0', ' c hunked'
    ]) {
      assert.equal(read(value), 'unsupported', JSON.stringify(value))
    }
  })

  it('should be there once, and without Content-Length', () => {
    const lines = ['Transfer-Encoding: chunked\r\n', 'Content-Length: 0\r\n']
    for (const one of lines) {
      for (const two of lines) assert.equal(verdict(get(HOST + one + two)), 'unsupported')
    }
  })
})

describe('the parser: Connection', () => {
  const closes = fields => parse(get(HOST + fields), 0, null, MAX_SIZE, MAX_FIELDS) > 0
    ? found.section.closes
    : 'unsupported'

  for (const name of ['Connection', 'Proxy-Connection']) {
    it(`should close for the member close of ${name}`, () => {
      for (const [expected, ...values] of [
        [true, 'close', ' close', ' CLOSE ', ' Close', ' a, close', 'close,a', ' ,close , ', 'keep-alive, close', 'close, keep-alive'],
        [false, '', ' ', ' ,', 'keep-alive', ' keep-alive', ' Keep-Alive', '  KEEP-ALIVE', 'keep-alives', 'closes', 'xclose', 'close;x',
          'close close', 'clos', '"close"', '\xa0close', 'close\xa0', 'close\x80']
      ]) {
        for (const value of values) {
          assert.equal(closes(`${name}:${value}\r\n`), expected, JSON.stringify(value))
          assert.equal(closes(`${name.toUpperCase()}:${value}\r\n`), expected)
        }
      }
    })

    it(`should not support a tab in ${name}, where node's versions differ`, () => {
      for (const value of ['close\t', '\tclose', 'a\tb', ' keep-alive\t', '\tkeep-alive']) {
        assert.equal(closes(`${name}:${value}\r\n`), 'unsupported', JSON.stringify(value))
      }
    })

    it(`should keep HTTP/1.0 for the member keep-alive of ${name}`, () => {
      const keeps = fields => parse(request('GET / HTTP/1.0', fields), 0, null, MAX_SIZE, MAX_FIELDS) > 0 && !found.section.closes
      for (const value of ['keep-alive', ' Keep-Alive ', 'close, keep-alive', ' keep-alive ,close', ',,KEEP-ALIVE,']) {
        assert.equal(keeps(`${name}:${value}\r\n`), true, value)
        assert.equal(keeps(`${name}: close\r\n${name}:${value}\r\n${name}: x\r\n`), true, value)
      }
      for (const value of ['', ' ', 'close', 'keep-alive x', 'keep-alives', 'xkeep-alive', 'keep alive', '"keep-alive"']) {
        assert.equal(keeps(`${name}:${value}\r\n`), false, value)
      }
      assert.equal(keeps(''), false)
    })

    it(`should close if one of several ${name} fields closes`, () => {
      for (const other of ['keep-alive', 'upgrade', 'close']) {
        assert.equal(closes(`${name}: close\r\n${name}: ${other}\r\n`), true, other)
        assert.equal(closes(`${name}: ${other}\r\n${name}: close\r\n`), true, other)
      }
    })

    it(`should look for ${name} alone, and stop at its line`, () => {
      for (const other of [`${name}s`, `X-${name}`, name.slice(0, -1), `${name.slice(0, -1)}x`]) {
        assert.equal(closes(`${other}: close\r\n`), false, other)
        assert.equal(closes(`${other}: a\tb\r\n`), false, other)
      }
      assert.equal(closes(`${name}: a\r\nX: close\r\n`), false)
      assert.equal(closes(`${name}: a\r\nX: b\tc\r\n`), false)
    })
  }
})

describe('the parser: limits', () => {
  const field = size => `X: ${'a'.repeat(size)}\r\n`

  it('should count the target, names and values of a section, as node does', () => {
    for (const [target, ...sizes] of [['/', 100], ['/', 50, 50], [`/${'b'.repeat(60)}`, 40]]) {
      const text = get(HOST + sizes.map(field).join(''), target)
      // Host, a, X; the space behind each colon counts, too, to be on the safe side
      const size = target.length + 'Host a'.length + sizes.reduce((sum, size) => sum + 'X '.length + size, 0)
      const verdicts = [size + 1, size, size - 1].map(maxSize => verdict(text, { maxSize }))
      assert.deepEqual(verdicts, ['supported', 'unsupported', 'unsupported'])
    }
  })

  it('should count the fields', () => {
    for (const count of [1, 2, 3, 10]) {
      const text = get(HOST + 'a:\r\n'.repeat(count - 1))
      const verdicts = [count, count + 1, count - 1].map(maxFields => verdict(text, { maxFields }))
      assert.deepEqual(verdicts, ['supported', 'supported', 'unsupported'])
      assert.equal(verdict(text.slice(0, -1), { maxFields: count - 1 }), 'incomplete') // all of them together
    }
  })
})

describe('the parser: a section of a connection', () => {
  const text = get(`${HOST}Content-Length: 3\r\nConnection: close\r\n`, '/first')

  it('should begin at any offset, and end where the empty line does', () => {
    const all = `junk${text}abc${get(HOST, '/second')}`
    const behind = parse(all, 4, null, MAX_SIZE, MAX_FIELDS)
    assert.equal(behind, 4 + text.length)
    assert.equal(found.url, '/first')
    assert.equal(found.section.contentLength, 3)
    assert.equal(parse(all, behind + 3, null, MAX_SIZE, MAX_FIELDS), all.length)
    assert.equal(found.url, '/second')
    assert.equal(found.section.contentLength, -1)
    assert.equal(found.section.closes, false)
  })

  it('should begin nowhere else', () => {
    for (const [found, options, expected] of [
      [text, { at: 1 }, 'unsupported'],
      [`a${text}`, {}, 'unsupported'],
      [`\r\n${text}`, {}, 'unsupported'],
      [`${text}GET`, { at: text.length }, 'incomplete'],
      [`${text}GEX`, { at: text.length }, 'unsupported']
    ]) assert.equal(verdict(found, options), expected)
  })

  it('should keep the object of a section that is repeated', () => {
    assert.equal(verdict(text), 'supported')
    const { section } = found
    assert.equal(section.repeats, false)
    const again = text.replace('GET /first', 'POST /second')
    assert.equal(parse(again, 0, section, MAX_SIZE, MAX_FIELDS), again.length)
    assert.equal(found.section, section)
    assert.equal(section.repeats, true)
    assert.equal(found.method, 'POST')
    assert.equal(found.url, '/second')
    const at = 2 * MAX_SIZE
    assert.equal(parse('j'.repeat(at) + again, at, section, MAX_SIZE, MAX_FIELDS), at + again.length)
    assert.equal(found.section, section)
  })

  it('should make another object for another section', () => {
    verdict(text)
    const { section } = found
    for (const fields of [
      'Host: b\r\n', `${HOST}Content-Length: 3\r\nConnection: closed\r\n`, `${HOST}Content-Length: 3\r\n`
    ]) {
      const other = get(fields)
      assert.equal(parse(other, 0, section, MAX_SIZE, MAX_FIELDS), other.length, fields)
      assert.notEqual(found.section, section, fields)
      assert.equal(section.repeats, false)
    }
    assert.equal(verdict(text.slice(0, -1), { previous: section }), 'incomplete')
    assert.equal(verdict(text.replace('\r\n\r\n', '\r\n\rx\n'), { previous: section }), 'unsupported')
  })

  it('should have the limit of a section that is repeated, too', () => {
    verdict(text)
    const { section } = found
    const long = text.replace('/first', `/${'b'.repeat(100)}`)
    const size = long.length - 'GET '.length - ' HTTP/1.1\r\n\r\n'.length - 3 * ':\r\n'.length
    assert.equal(verdict(long, { previous: section, maxSize: size + 1 }), 'supported')
    assert.equal(verdict(long, { previous: section, maxSize: size }), 'unsupported')
  })
})
