'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const front = require('../../benchmarks/labs/front')
const { ranking } = require('../../benchmarks/lib/report/tables')
const { row } = require('../../benchmarks/lib/run/result')
const Session = require('../../benchmarks/lib/run/session')

describe('the parts of a lab', () => {
  const labOf = left => Object.defineProperty(new Session('some', [], { quick: true, rounds: 3, node: process.execPath }, []), 'timeLeft', { value: left })
  const parts = (done, ...sizes) => sizes.map((size, i) => ({
    name: String(i),
    size,
    act: async () => {
      done.push(String(i))
      await new Promise(resolve => setTimeout(resolve, 5))
    }
  }))

  it('should all be done, in order, when there is time', async () => {
    const done = []
    await labOf(Infinity).inTime(parts(done, 1, undefined, 3))
    assert.deepEqual(done, ['0', '1', '2'])
  })

  it('should have their tables printed as soon as each is over, once, and those of all parts at the end', async t => {
    const printed = []
    t.mock.method(console, 'log', text => printed.push(text.split('\n')[1]))
    const view = {
      overview: () => ({ lines: [['all of them', 'one']] }),
      sections: figures => [...figures.workloads.map(workload => ranking(figures, workload)), { heading: 'report', isLast: true, table: [['']] }]
    }
    const lab = new Session('some', [], { quick: true, rounds: 3, node: process.execPath }, [], view)
    const seen = []
    const act = workload => async () => {
      seen.push([...printed])
      lab.result.rows.push(row({ workload, contender: 'kone', metric: 'cpu', unit: 'µs' }, [1, 2, 3]))
    }
    await lab.inTime(['one', 'two', 'three'].map(name => ({ name, act: act(name) })))
    assert.deepEqual(seen, [[], ['one'], ['one', 'two']])
    lab.print()
    assert.deepEqual(printed, ['one', 'two', 'Server CPU per request, µs', 'three', 'report'])
  })

  it('should be left out by name when they take longer than is left', async () => {
    for (const [left, sizes, expected, skipped] of [[60_000, [1, 1e9, 1], ['0', '2'], ['1']], [-1, [1, 1], [], ['0', '1']]]) {
      const [done, lab] = [[], labOf(left)]
      await lab.inTime(parts(done, ...sizes))
      assert.deepEqual([done, lab.result.skipped.map(({ part }) => part)], [expected, skipped])
    }
  })
})

describe('app.fetch() of front', () => {
  it('should be measured again after a round with errors, as all workloads are', async () => {
    const reasons = []
    await front.measure({
      options: { quick: true },
      contenders: [],
      generators: () => ({ wrk: true, split: true }),
      generator: () => 'wrk',
      start: async () => [{ name: 'kone' }],
      warm: async () => {},
      stop: async () => {},
      rounds: async (cells, { doubt = () => null }) => { reasons.push(doubt(cells[0], { errors: 3, requests: 7 })) },
      inTime: parts => parts.at(-1).act()
    })
    assert.deepEqual(reasons, ['3 errors in 10 requests'])
  })
})
