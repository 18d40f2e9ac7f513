'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { execFile } = require('node:child_process')
const path = require('node:path')
const { promisify } = require('node:util')

const { fuzzer } = require('./fuzz')
const { Pairs } = require('./generator')
const { OPS, casesOf } = require('./grammar')

// `make fuzz` runs for minutes and from any seed; these cases are the same in every run.
const QUICK = ['--seed', '1', '--cases', '400', '--seconds', '8']

const message = (...head) => ({ head: [...head, 'Host: a'], body: '', mangle: [] })
const program = (...ops) => ({ level: 'fast', ops, later: [] })

/** What it has found, as the smallest case. */
const FOUND = {
  'bytes put back behind bytes that node gets later': {
    messages: [message('GET / HTTP/1.1'), { head: [], body: 'GET / HTTP/1.1\r\nX-A:', mangle: [] }],
    cut: ['messages', 0],
    programs: [program(['leave'])],
    touches: [[0.9, 'unshift']],
    ends: ['free']
  },
  'server.close() behind a response on a socket that other code has ended': {
    messages: [message('GET / HTTP/1.1')],
    programs: [program(['resEnd', 'four'])],
    touches: [[0, 'end']],
    closes: 0.6
  },
  'a queued response on a socket that other code has ended': {
    messages: [message('GET / HTTP/1.1'), message('GET / HTTP/1.1')],
    programs: [program(['leave']), { ...program(['vary', '*']), level: 'materialised' }],
    touches: [[0.8, 'end']],
    ends: ['free', 'end']
  },
  'a client that has ended its side in front of many bytes': {
    transport: 'records',
    messages: [message('OPTIONS /aaaaaa HTTP/1.1'), message('PATCH /a HTTP/1.1'), message('PUT /aaa HTTP/1.1', 'Connection: keep-alive')],
    programs: [program(['hold']), program(['body', ['bytes', 'ff'.repeat(17000)]])],
    ends: ['end', 'free']
  },
  'a request that is first read when node has the socket': {
    messages: [message('HEAD /a HTTP/1.1', 'Content-Length: 5'), { head: [], body: 'hello\0\r\n', mangle: [] }],
    cut: ['bytes', 0],
    programs: [program(['hold'], ['resEnd', 'text'], ['state'])],
    ends: ['free']
  },
  'a request that is first read when its connection is gone': {
    messages: [message('GET / HTTP/1.1', 'Content-Length: 5')],
    programs: [{ ...program(), later: [['state']] }],
    ends: ['end', 'free']
  },
  'junk behind what node itself responds to, behind an open response': {
    messages: [message('GET / HTTP/1.1'), message('GET / HTTP/1.1', 'Expect: x'), { head: [], body: 'x', mangle: [] }],
    cut: ['messages', 0],
    programs: [program(['leave'])],
    ends: ['free']
  },
  'junk behind responses that TLS has not sent yet': {
    transport: 'records',
    messages: [message('PUT / HTTP/1.1'), message('HEAD / HTTP/1.1'), { head: [], body: 'hello', mangle: [] }],
    cut: ['messages', 0],
    programs: [program(['leave'])],
    ends: ['free']
  },
  'a listener within a request whose last read has junk behind it': {
    messages: [{ ...message('GET / HTTP/1.1', 'Transfer-Encoding: chunked'), body: '3\r\nGET\r\n0;x="y;\\"z"\r\n\r\nx' }],
    cut: ['random', 948426460],
    touches: [[0.55, 'data']]
  },
  'a bad line that is longer than maxHeaderSize': {
    profile: 6,
    messages: [message('GET / HTTP/1.1', `X: ${'x'.repeat(40)}\0${'x'.repeat(360)}`)],
    cut: ['random', 638921190]
  },
  'a listener within a body whose last read begins the next message': {
    messages: [{ ...message('POST / HTTP/1.1', 'Content-Length: 100'), body: 'x'.repeat(100) }, message('DELETE / HTTP/1.1')],
    cut: ['random', 2],
    touches: [[0.5, 'data']]
  }
}

describe('the fuzzer', () => {
  it('should have a case for each two acts that did not meet', () => {
    const pairs = new Pairs(OPS)
    const { length } = pairs.names
    const [[, first]] = casesOf(pairs)
    pairs.add(first.programs[0].ops.map(([name]) => name))
    assert.equal(String(pairs), `1 of ${length * (length - 1) / 2} pairs`) // the body, which responds, is one of these acts
    for (const [, { programs: [{ ops }] }] of casesOf(pairs)) pairs.add(ops.map(([name]) => name))
    assert.deepEqual(pairs.left(), [])
  })

  for (const [name, one] of Object.entries(FOUND)) {
    it(`should find no difference any more: ${name}`, async () => {
      const bench = await fuzzer()
      const plan = { profile: 0, transport: 'socket', cut: ['whole', 0], programs: [], releases: [], touches: [], closes: null, ends: [], ...one }
      try {
        assert.deepEqual(await bench.lanes[0](plan), [])
      } finally {
        assert.deepEqual(await bench.close(), [])
      }
    })
  }

  // In a process of its own, because listeners throw in it.
  it('should find no difference between the front and node:http', async t => {
    const { NODE_TEST_CONTEXT, ...env } = process.env
    const run = promisify(execFile)(process.execPath, [path.join(__dirname, 'fuzz.js'), ...QUICK], { env })
    const { stdout } = await run.catch(err => assert.fail(`${err.stdout}${err.stderr}`))
    t.diagnostic(stdout)
  })
})
