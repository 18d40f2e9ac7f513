'use strict'

const assert = require('node:assert/strict')
const { Writable } = require('node:stream')
const { describe, it } = require('node:test')

const { Pieces, ASCII, LATIN1, UTF8, LARGE } = require('../../../lib/front/output/pieces')

/** The writes that a socket gets: text with its encoding, or bytes; `[…]` are corked. */
function writes (pieces) {
  const got = []
  let corked = null
  pieces.writeTo({
    writable: true,
    cork () { corked = [] },
    uncork () {
      got.push(corked)
      corked = null
    },
    write (data, encoding, done) {
      if (typeof data !== 'string') {
        if (encoding !== null) done = encoding
        encoding = 'bytes'
      }
      assert(pieces.isEmpty, 'it is empty before the socket is called')
      ;(corked ?? got).push({ data: typeof data === 'string' ? data : Buffer.from(data), encoding, done })
    }
  })
  return got
}

/** What arrives: the socket encodes as node's does. */
function arrives (pieces) {
  const got = []
  const socket = new Writable({
    decodeStrings: true,
    write (chunk, encoding, callback) {
      got.push(chunk)
      callback()
    }
  })
  pieces.writeTo(socket)
  return Buffer.concat(got)
}

const TEXTS = { ASCII: ['abc', ASCII], LATIN1: ['é\xff', LATIN1], UTF8: ['子é', UTF8] }
const BYTES = Buffer.from([0xe5, 0xad, 0x90, 0xff])

/** Pieces of texts and bytes. */
function piecesOf (...all) {
  const pieces = new Pieces()
  for (const one of all) {
    if (Array.isArray(one)) pieces.addText(...one)
    else pieces.addBytes(one)
  }
  return pieces
}

const encode = ([text, encoding]) => Buffer.from(text, encoding === UTF8 ? 'utf8' : 'latin1')

describe('the pieces of a write', () => {
  it('should be empty until something is added', () => {
    const pieces = new Pieces()
    assert.equal(pieces.isEmpty, true)
    assert.equal(pieces.size, 0)
    assert.deepEqual(writes(pieces), [])
  })

  for (const [first, one] of Object.entries(TEXTS)) {
    for (const [second, two] of Object.entries(TEXTS)) {
      it(`should have ${second} text behind ${first} text`, () => {
        const pieces = piecesOf(one)
        assert.equal(pieces.isEmpty, false)
        pieces.addText(...two)
        assert.equal(pieces.size, one[0].length + two[0].length)
        assert.deepEqual(arrives(pieces), Buffer.concat([encode(one), encode(two)]))
      })
    }

    it(`should have bytes behind ${first} text`, () => {
      const pieces = piecesOf(one, BYTES)
      assert.deepEqual(arrives(pieces), Buffer.concat([encode(one), BYTES]))
    })
  }

  it('should have UTF-8 behind bytes', () => {
    const pieces = piecesOf(BYTES)
    pieces.addText('子', UTF8)
    assert.equal(pieces.size, BYTES.length + 1)
    pieces.addText('a', ASCII)
    assert.deepEqual(arrives(pieces), Buffer.concat([BYTES, Buffer.from('子a')]))
  })

  it('should join texts that one encoding can write', () => {
    for (const texts of [[TEXTS.ASCII, TEXTS.LATIN1], [TEXTS.ASCII, TEXTS.UTF8], [['é', LATIN1], ['é', LATIN1]], [['子', UTF8], ['子', UTF8]],
      [['子', UTF8], ['\ue000', UTF8]], [['子', UTF8], ['\ud83d', UTF8]]]) {
      const { text, bytes } = piecesOf(...texts).take()
      assert.deepEqual([text, bytes], [texts.map(([text]) => text).join(''), null])
    }
  })

  it('should not join the halves of a character, which node writes one by one', () => {
    for (const low of ['\udc00', '\ude00', '\udfff']) {
      assert.deepEqual(arrives(piecesOf(['a\ud83d', UTF8], [`${low}b`, UTF8])), Buffer.from('a\ufffd\ufffdb'))
    }
  })

  it('should have every kind of bytes', () => {
    for (const bytes of [BYTES, new Uint8Array(BYTES), new Uint8Array([0, ...BYTES, 0]).subarray(1, 5)]) {
      assert.deepEqual(arrives(piecesOf(bytes)), BYTES)
    }
  })

  it('should not copy a large text into one string with what is in front of it', () => {
    for (const [letter, encoding, name] of [['a', ASCII, 'latin1'], ['é', LATIN1, 'latin1'], ['子', UTF8, 'utf8']]) {
      const large = [letter.repeat(LARGE), encoding]
      for (const front of [[], [['head', encoding]], [BYTES]]) {
        const [all] = writes(piecesOf(...front, large, ['z', ASCII]))
        assert.deepEqual(all.slice(-2).map(({ data, encoding }) => [data, encoding]), [[large[0], name], ['z', 'latin1']])
        const expected = [...front.map(one => Array.isArray(one) ? encode(one) : one), encode(large)]
        assert.deepEqual(arrives(piecesOf(...front, large)), Buffer.concat(expected))
      }
      const { text, bytes } = piecesOf(large).take()
      assert.deepEqual([text, bytes], [large[0], null])
      assert.equal(piecesOf(['head', encoding], [letter.repeat(LARGE - 1), encoding]).take().text.length, LARGE + 3)
    }
  })

  it('should have texts and bytes in any order', () => {
    const largeText = ['子é'.repeat(LARGE), UTF8]
    const large = Buffer.alloc(LARGE, 'b')
    const all = [['子', UTF8], BYTES, ['é', LATIN1], largeText, large, large, largeText, ['a', ASCII], BYTES, ['子', UTF8], ['z', ASCII]]
    const expected = Buffer.concat(all.map(one => Array.isArray(one) ? encode(one) : one))
    assert.deepEqual(arrives(piecesOf(...all)), expected)
    const { text, encoding, bytes } = piecesOf(...all).take()
    assert.deepEqual([text, encoding, bytes], ['', ASCII, expected])
  })

  it('should be taken as a text, then bytes', () => {
    const large = Buffer.alloc(LARGE, 'b')
    const taken = (...all) => {
      const pieces = piecesOf(...all)
      assert.equal(pieces.isPlain, true)
      const { text, encoding, bytes } = pieces.take()
      assert.equal(pieces.isEmpty, true)
      return [text, encoding, bytes]
    }
    assert.deepEqual(taken(), ['', ASCII, null])
    assert.deepEqual(taken(['é', UTF8]), ['é', UTF8, null])
    assert.deepEqual(taken(large), ['', ASCII, large])
    assert.deepEqual(taken(['é', UTF8], BYTES), ['é', UTF8, BYTES])
    assert.deepEqual(taken(['é', LATIN1], large), ['é', LATIN1, large])
    const a = ['a', ASCII]
    for (const all of [[large, a], [large, large], [a, large, BYTES], [a, large, large], [large, large, large]]) {
      const pieces = piecesOf(...all)
      assert.equal(pieces.isPlain, false)
      assert.deepEqual(pieces.take().bytes, Buffer.concat(all.map(part => Array.isArray(part) ? encode(part) : part)))
    }
  })

  it('should be below the mark of the socket, or below 64 KB while that has no bytes', () => {
    const isBelow = (size, writableLength, part = 'a'.repeat(1000)) => {
      const pieces = new Pieces()
      for (let left = size; left > 0; left -= part.length) pieces.add(part)
      return pieces.isBelowMark({ writableLength, writableHighWaterMark: 16384 })
    }
    assert.deepEqual([isBelow(64000, 0), isBelow(66000, 0)], [true, false])
    assert.deepEqual([isBelow(15000, 1), isBelow(17000, 1)], [true, false])
    assert.deepEqual([isBelow(LARGE, 0, Buffer.alloc(LARGE)), isBelow(32000, 0, Buffer.alloc(8000))], [false, true])
  })

  it('should not change for no bytes', () => {
    const pieces = piecesOf(Buffer.alloc(0))
    assert.equal(pieces.isEmpty, true)
    pieces.addText('子', UTF8)
    pieces.addBytes(Buffer.alloc(0))
    assert.deepEqual(writes(pieces).map(({ data, encoding }) => [data, encoding]), [['子', 'utf8']])
  })

  it('should copy small bytes into the text, and no large ones', () => {
    for (const [size, isLarge] of [[LARGE - 1, false], [LARGE, true], [LARGE + 1, true]]) {
      const bytes = Buffer.alloc(size, 0xff)
      const pieces = piecesOf(['a', ASCII], bytes)
      assert.equal(pieces.size, size + 1)
      assert.equal(piecesOf(bytes).isEmpty, false)
      const got = writes(pieces)
      assert.equal(got.length, 1)
      if (isLarge) assert.deepEqual(got[0].map(({ encoding }) => encoding), ['latin1', 'bytes'])
      else assert.equal(got[0].encoding, 'latin1')
    }
    assert.equal(LARGE, 16384)
  })

  it('should be one write, or several that are corked, with the callbacks in the last one', () => {
    const seen = pieces => {
      const called = []
      for (const name of ['one', 'two']) pieces.addCallback(err => called.push(name, err))
      return writes(pieces).flat().map(({ data, encoding, done }) => {
        done?.('flushed')
        return [data.toString('latin1'), encoding, called.splice(0).join()]
      })
    }
    const all = 'one,flushed,two,flushed'
    assert.deepEqual(seen(piecesOf(['a', ASCII])), [['a', 'latin1', all]])
    assert.deepEqual(seen(piecesOf(Buffer.alloc(LARGE, 'b'))), [['b'.repeat(LARGE), 'bytes', all]])
    assert.deepEqual(seen(piecesOf(['é', UTF8], Buffer.from('c'))), [['é', 'utf8', ''], ['c', 'bytes', all]])
    assert.deepEqual(seen(new Pieces()), [['', 'latin1', all]])
    assert.deepEqual(writes(piecesOf(['a', ASCII])).map(({ done }) => done), [undefined])
  })

  it('should be lost with a socket that can no longer be written to', async () => {
    for (const [errored, message] of [[new Error('reset'), 'reset'], [null, 'Cannot call write after a stream was destroyed']]) {
      const pieces = piecesOf(['a', ASCII], BYTES)
      const lost = new Promise(resolve => pieces.addCallback(resolve))
      assert.equal(pieces.writeTo({ writable: false, errored }), false)
      assert.equal(pieces.isEmpty, true)
      assert.equal((await lost).message, message)
    }
  })

  it('should be empty again after it was written or cleared', () => {
    const pieces = new Pieces()
    for (const empty of [() => writes(pieces), () => pieces.clear()]) {
      pieces.addText('子', UTF8)
      pieces.addBytes(BYTES)
      pieces.addCallback(() => {})
      empty()
      assert.equal(pieces.isEmpty, true)
      assert.equal(pieces.callbacks, null)
      pieces.addText('\xff', LATIN1)
      assert.deepEqual(arrives(pieces), Buffer.from([0xff]))
    }
  })

  it('should keep callbacks in their order', () => {
    const [one, two] = [() => {}, () => {}]
    const pieces = new Pieces()
    pieces.addCallback(one)
    assert.equal(pieces.isEmpty, false)
    pieces.addCallback(two)
    assert.deepEqual(pieces.takeCallbacks(), [one, two])
    assert.equal(pieces.isEmpty, true)
  })

  const ENCODINGS = [undefined, null, 'utf8', 'utf-8', 'latin1', 'binary', 'ascii', 'hex', 'base64', 'ucs2', 'utf16le']

  for (const encoding of ENCODINGS) {
    it(`should have what node writes as ${encoding}`, () => {
      for (const text of ['abcd', 'é\xff', '子é', '\ud800', '']) {
        for (const [before, behind] of [['', ''], ['é', ''], ['子', ''], ['', 'z']]) {
          const pieces = new Pieces()
          if (before !== '') pieces.add(before)
          pieces.add(text, encoding)
          if (behind !== '') pieces.add(behind)
          const expected = [Buffer.from(before), Buffer.from(text, encoding), Buffer.from(behind)]
          assert.deepEqual(arrives(pieces), Buffer.concat(expected), `${before}${text}`)
        }
      }
    })
  }

  it('should add a line end of node as text', () => {
    const pieces = new Pieces()
    pieces.add('子')
    pieces.add(Buffer.from('\r\n'))
    assert.equal(pieces.items, null)
    pieces.add('é')
    assert.deepEqual(arrives(pieces), Buffer.from('子\r\né'))
    for (const other of ['\r\n\r', '\r', '\n\r', '\r\r', '\n\n', 'a\n', '\ra']) {
      pieces.add('子')
      pieces.add(Buffer.from(other))
      assert.notEqual(pieces.items, null, JSON.stringify(other))
      assert.deepEqual(arrives(pieces), Buffer.from(`子${other}`))
    }
  })
})
