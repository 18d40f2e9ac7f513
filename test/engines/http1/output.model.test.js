'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { inspect } = require('node:util')

const { run } = require('./generator')
const { Handle, MARKS, SMALL, model, play } = require('./output.model')

const { KONE_MUTANTS } = process.env

// `make fuzz` runs 20,000 plans from any seed; these are the same in every run. `make mutants` runs them for each mutant.
const QUICK = { seed: 1, seconds: KONE_MUTANTS ? 1 : 2 }

const RESPONSE = { ...SMALL, pieces: [], now: 9 }
const respond = (type, kind, size, more) => ({ ...RESPONSE, pieces: [{ type, kind, size }], ...more })
const plan = (steps, more) => ({ isTLS: false, steps, backwards: false, many: 0, ...more })
const read = (...requests) => ({ do: 'read', requests })

const later = more => ({ ...RESPONSE, now: 0, ...more })
const act = { do: 'act', which: 0, times: 1 }
const fault = (fault, which = 0) => ({ do: 'fault', fault, which })
const block = { do: 'block' }
const turn = { do: 'turn' }

/** What the front once got wrong, each in its smallest form. */
const KNOWN = {
  'bytes in front of a text that is not latin1':
    [read(respond('Buffer', 'utf8', 3), respond('text', 'utf8', 1))],
  'as many bytes 0xff as a response behind them has':
    [read(respond('Buffer', 'high', 42), respond('text', 'lines', 42), respond('text', 'utf8', 1))],
  'bytes that node writes piece by piece behind such a text':
    [read(respond('text', 'utf8', 1), respond('Buffer', 'utf8', 1, { way: 'writeHead()' }))],
  'a text written as latin1 that is not, in front of another one':
    [read(respond('text', 'surrogates', 2, { way: 'writeHead()', pieces: [{ type: 'text', kind: 'surrogates', size: 2, encoding: 'binary' }] }),
      respond('text', 'surrogates', 2))]
}

const FAULTS = {
  'report a response as lost that was on its way when the client left':
    [read(RESPONSE, RESPONSE), turn, fault('the client resets')],
  'report a large response as lost when the handler destroys the socket':
    [block, read(respond('Buffer', 'ascii', 40_000)), turn, fault('socket.destroy()')],
  'send what was complete before socket.end() in the same tick':
    [read(later(), RESPONSE), act, fault('socket.end()')],
  'send what was complete before socket.destroy() in the same tick':
    [read(RESPONSE, later()), fault('socket.destroy()', 1)],
  'send what was complete before socket.destroy() although one behind it has begun in the same tick': [
    read(later({ way: 'writeHead()' }), later({ way: 'chunked', pieces: [{ type: 'Buffer', kind: 'ascii', size: 16384 }] })),
    { ...act, times: 2 },
    { ...act, times: 2 },
    fault('socket.destroy()', 1)
  ],
  'send a response although one behind it fails before':
    [read(later(), later()), fault('res.destroy()', 1)],
  'send a response although one behind it fails in the same tick':
    [read(RESPONSE, later()), fault('res.destroy()')],
  'send what was complete before the 400 of a client that ends its side in the middle of a body': [
    block,
    {
      ...read(
        respond('Buffer', 'ascii', 65536),
        { ...RESPONSE, method: 'HEAD', upload: { reader: 'nobody', kind: 'ascii', chunks: [0], extension: '', trailers: '' } }
      ),
      cut: 6325
    },
    turn,
    fault('the client ends')
  ],
  'call the callback of a write that fails at once': [
    fault('the next write fails'),
    read(respond('Buffer', 'ascii', 16384, { way: 'corked', calls: true, now: 0 }), later()),
    turn
  ],
  'call the callback of an empty write in the tick in which a response behind it fails': [
    read(RESPONSE, respond('text', 'ascii', 0, { way: 'writeHead()', calls: true, now: 2 }), RESPONSE),
    fault('res.destroy()')
  ],
  'send a response that is on its way when one behind it fails': [
    read({ ...RESPONSE, way: 'of a known length', pieces: [{ type: 'Buffer', kind: 'ascii', size: 16384 }, { type: 'text', kind: 'ascii', size: 1 }] },
      later()),
    fault('res.destroy()')
  ],
  'dispatch the requests of several TLS records in their order when the first ones fill the socket': [{
    do: 'records',
    reads: [
      [RESPONSE, { ...RESPONSE, method: 'HEAD' }],
      [{ ...RESPONSE, way: 'chunked, the last piece in end()', pieces: [{ type: 'text', kind: 'ascii', size: 1, encoding: 'ascii' }] }, RESPONSE],
      [{ ...RESPONSE, method: 'HEAD' }],
      [RESPONSE]
    ]
  }]
}

describe('the wire below a socket', () => {
  const everywhere = async steps => {
    for (const isTLS of [false, true]) for (const mark of MARKS) await play('front', plan(steps, { isTLS, mark }))
  }

  for (const [title, steps] of Object.entries(KNOWN)) it(`should have ${title} as they are`, () => everywhere(steps))
  for (const [title, steps] of Object.entries(FAULTS)) it(`should ${title}`, () => everywhere(steps))

  const BODIES = [
    ...['ascii', 'latin1', 'utf8', 'surrogates'].map(kind => ['text', kind, 5]), ['text', 'ascii', 0], ['text', 'latin1', 16384],
    ['Buffer', 'utf8', 3], ['view', 'high', 5], ['Buffer', 'high', 16384], ['Buffer', 'high', 16383]
  ]

  for (const way of ['fast', 'res', 'chunked', 'of a known length']) {
    for (const now of [9, 0]) {
      it(`should have bodies of every kind behind every other, ${way}${now === 0 ? ', late' : ''}`, async () => {
        for (const isTLS of [false, true]) {
          const pairs = BODIES.flatMap(a => BODIES.flatMap(b => [respond(...a), respond(...b, { way, now })]))
          await play('front', plan([read(...pairs)], { isTLS }))
        }
      })
    }
  }

  it('should have the responses of random plans to the byte', async t => {
    const { failures, ...counts } = await run(model(), QUICK)
    assert.equal(failures[0], undefined)
    t.diagnostic(inspect(counts))
  })
})

describe('the model of the wire', { skip: Boolean(KONE_MUTANTS) && 'it is not what is changed' }, () => {
  it('should hold for node:http', async t => {
    const { failures, ...counts } = await run(model({ engine: 'node:http' }), { ...QUICK, seconds: 1 })
    assert.equal(failures[0], undefined)
    t.diagnostic(inspect(counts))
  })

  it('should find bytes in a wrong encoding, and again from the seed that it prints', async () => {
    class Stub extends Handle {
      writeLatin1String (req, text) { return this.write(req, Buffer.from(text)) }
    }
    const { failures: [text] } = await run(model({ Stub }), { seed: 1, cases: 1000 })
    assert.match(text, /wrong byte|chunk/)
    const seed = Number(/^--seed (\d+)/.exec(text)[1])
    const { failures: [again] } = await run(model({ Stub }), { seed, cases: 1, shrinks: false })
    assert.match(again, /wrong byte|chunk/)
  })
})
