'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')

const { random } = require('../../helpers/random')
const { run } = require('./generator')
const { ENDS, HANGS, generate } = require('./siege/plan')
const { Responses } = require('./siege/responses')
const { Lane, siege } = require('./siege/run')
const share = require('../../helpers/share')

// `make siege` runs for minutes and from any seed; these conversations are the same in every run.
const QUICK = { seed: 1, seconds: share(3, 4, 6), least: share(2, 4, 8), failures: 5, shrinks: false }

describe('the plan of a siege', () => {
  it('should let a client leave that will get no response', () => {
    for (let seed = 0; seed < 200; seed++) {
      for (const { requests, end } of generate(seed).clients) {
        const hangs = requests.some(({ handler }) => HANGS.includes(handler.kind))
        if (hangs) assert([ENDS.ABORT, ENDS.RESET, ENDS.HALF].includes(end.how))
      }
    }
  })
})

describe('the responses that a siege reads', () => {
  const bytes = Buffer.from('HTTP/1.1 100 Continue\r\n\r\n' +
    'HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\naaa' +
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nbb\r\n1\r\nb\r\n0\r\n\r\n' +
    'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n' +
    'HTTP/1.1 204 No Content\r\n\r\n' +
    'HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\ncdc')
  const methods = ['GET', 'GET', 'HEAD', 'GET', 'GET', 'GET']
  const whole = [[200, 3, 'aaa', 97], [200, 3, 'bbb', 98], [200, 0, '', -1], [204, 0, '', -1], [200, 3, 'cdc', -1]]
  const shown = ({ whole }) => whole.map(({ status, length, text, letter }) => [status, length, text, letter])

  it('should be the same however they are cut', () => {
    const rnd = random(1)
    for (let i = 0; i < 200; i++) {
      const responses = new Responses(methods)
      for (let at = 0, next; at < bytes.length; at = next) {
        next = Math.min(bytes.length, at + 1 + rnd.int(i))
        responses.push(bytes.subarray(at, next))
      }
      assert.equal(responses.error, null)
      assert.deepEqual(shown(responses), whole)
      assert.equal(responses.partial, null)
    }
  })

  it('should not be whole before their last byte', () => {
    const responses = new Responses(methods)
    responses.push(bytes.subarray(0, -1))
    assert.equal(responses.whole.length, whole.length - 1)
    assert.notEqual(responses.partial, null)
  })

  for (const [title, text] of Object.entries({
    'bytes behind a chunk': 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\naa\r\n0\r\n\r\n',
    'bytes behind a body': 'HTTP/1.1 204 No Content\r\n\r\nrest\r\n\r\n',
    'a repeated header': 'HTTP/1.1 200 OK\r\nDate: a\r\nDate: b\r\n\r\n'
  })) {
    it(`should not have ${title}`, () => {
      const responses = new Responses(methods)
      responses.push(Buffer.from(text))
      assert.equal(typeof responses.error, 'string')
    })
  }
})

describe('what a siege confirms', () => {
  const lost = { side: 'front', what: 'a request is lost' }
  const grown = { side: 'front', what: 'more memory', measured: true }
  const confirm = (findings, tries) => {
    const lane = Object.assign(Object.create(Lane.prototype), { engines: [], run: async () => tries.shift() })
    return lane.confirm({}, findings)
  }

  it('should be what returns once, or each time when it was measured', async () => {
    assert.deepEqual(await confirm([lost], [[], [lost]]), [lost])
    assert.deepEqual(await confirm([grown], [[grown], [grown], [grown]]), [grown])
    assert.deepEqual(await confirm([lost, grown], [[grown], [], [lost]]), [lost])
  })

  it('should not be what does not return, nor something else', async () => {
    assert.deepEqual(await confirm([lost], [[], [], []]), [])
    assert.deepEqual(await confirm([lost], [[grown], [grown], [grown]]), [])
    assert.deepEqual(await confirm([grown], [[grown], [], [grown]]), [])
  })
})

describe('a siege', () => {
  it('should find nothing on the front nor on node:http', async t => {
    const { failures, ...counts } = await run(siege({ lanes: 3 }), QUICK)
    t.diagnostic(JSON.stringify(counts))
    assert.deepEqual(failures, [])
  })
})
