'use strict'

const { spawn } = require('node:child_process')
const path = require('node:path')
const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const Server = require('../../benchmarks/lib/servers/server')
const { measure, remarks, steps } = require('../../benchmarks/lib/run/measure')
const { headerDifferences, verify } = require('../../benchmarks/lib/run/verify')
const until = require('../helpers/until')

const lab = path.join(__dirname, '../../benchmarks')
const contender = { name: 'node', file: path.join(lab, 'labs/battle/contenders/node.js') }

describe('rounds', () => {
  const good = { requests: 1000, seconds: 1, errors: 0, requestsPerSecond: 1000, latencyMeanMs: 1 }

  it('should visit every cell once a round, in changing order', async () => {
    const { cells, order } = cellsOf(['a', 'b', 'c'], () => good)
    await measure(cells, { rounds: 20, warm: 1, generators: order.generators })

    assert.equal(order.seen.length, steps(cells, 20))
    const rounds = Array.from({ length: 20 }, (_, i) => order.seen.slice(3 + i * 3, 6 + i * 3))
    for (const round of rounds) assert.deepEqual([...round].sort(), ['a', 'b', 'c'])
    assert.ok(new Set(rounds.map(String)).size > 1)
  })

  it('should divide the CPU used by the requests answered', async () => {
    const { cells, order } = cellsOf(['a'], () => good)
    await measure(cells, { rounds: 3, warm: 1, generators: order.generators })
    // the server uses 10 ms a look: 10 ms ÷ 1000 requests
    assert.deepEqual(cells[0].samples.map(sample => sample.cpu), [10, 10, 10])
  })

  it('should measure a round with errors again', async () => {
    let asked = 0
    const { cells, order } = cellsOf(['a'], () => ++asked === 2 ? { ...good, errors: 2 } : good)
    await measure(cells, { rounds: 3, warm: 1, generators: order.generators })
    assert.equal(cells[0].samples.length, 3)
    assert.deepEqual(cells[0].discarded, [{ round: 1, reason: '2 errors in 1002 requests' }])
    assert.equal(cells[0].rejected, null)
  })

  it('should reject who breaks Little\'s law three times', async () => {
    const { cells, order } = cellsOf(['a'], () => ({ ...good, requestsPerSecond: 1e6 }))
    await measure(cells, { rounds: 3, warm: 1, generators: order.generators })
    assert.match(cells[0].rejected, /Little's law/)
    assert.equal(cells[0].discarded.length, 3)
  })

  it('should reject who cannot be reached, and go on with the others', async () => {
    const { cells, order } = cellsOf(['a', 'b'], port => {
      if (port === 'a') throw new Error('connection refused')
      return good
    })
    await measure(cells, { rounds: 3, warm: 1, generators: order.generators })
    assert.equal(cells[0].rejected, 'connection refused')
    assert.equal(cells[1].samples.length, 3)
  })

  it('should say when the generator, not the server, was the limit', () => {
    const sample = { busy: 0.99, wait: 0.01, steal: 0 }
    assert.deepEqual(remarks([sample]), [])
    assert.match(remarks([{ ...sample, busy: 0.5 }])[0], /the load generator was the limit \(server busy 50 %\)/)
    assert.match(remarks([{ ...sample, wait: 0.6 }])[0], /contended/)
    assert.match(remarks([{ ...sample, steal: 0.1 }])[0], /hypervisor took 10 %/)
  })

  function cellsOf (names, answer) {
    const seen = []
    const used = { run: 0, wait: 0 }
    const generators = { fake: { run: async ({ port }) => { seen.push(port); return answer(port) } } }
    const cells = names.map(name => ({
      workload: 'hello',
      server: { name, port: name, usage: async () => { used.run += 1e7; return { ...used } } },
      load: { generator: 'fake', connections: 50 }
    }))
    return { cells, order: { seen, generators } }
  }
})

describe('a contender', () => {
  it('should listen, answer, tell its CPU time, and end', async () => {
    const server = await Server.start(contender, { node: process.execPath })
    const expected = { status: 200, type: 'text/plain;charset=UTF-8', body: 'Hello World' }
    const { bytes } = await verify(server.port, {}, expected)
    assert.ok(bytes > 100)
    assert.ok((await server.usage()).run > 0)
    await assert.rejects(verify(server.port, {}, { ...expected, body: 'hi' }), /its body is "Hello World", not "hi"/)
    await assert.rejects(verify(server.port, {}, { ...expected, headers: { a: 'b' } }), /its a is undefined, not "b"/)

    await server.stop()
    assert.throws(() => process.kill(server.pid, 0), { code: 'ESRCH' })
  })

  it('should be named with its error when it does not start', async () => {
    const broken = { name: 'broken', file: path.join(lab, 'contenders/none.js') }
    await assert.rejects(Server.start(broken, { node: process.execPath }), /Cannot find module/)
  })

  it('should say what it said when it has ended before its CPU time was asked for', async () => {
    const server = await Server.start(contender, { node: process.execPath })
    server.said = 'node:events\nError: EMFILE: too many open files\n'
    server.kill()
    await server.ended
    await assert.rejects(server.usage(), { message: 'it ended: Error: EMFILE: too many open files' })
  })

  it('should end when the lab is killed', async () => {
    const script = `require(${JSON.stringify(path.join(lab, 'lib/servers/server'))})
      .start(${JSON.stringify(contender)}, { node: process.execPath })
      .then(server => console.log(server.pid))`
    const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] })
    const pid = Number(await new Promise(resolve => child.stdout.once('data', resolve)))
    child.kill('SIGKILL')
    await until(() => {
      try {
        return !process.kill(pid, 0)
      } catch {
        return true
      }
    })
  })

  it('should have its header differences listed', () => {
    const reference = { date: 'now', 'content-length': '11', etag: '"a"' }
    const headers = { date: 'later', 'content-length': '12', server: 'x' }
    assert.deepEqual(headerDifferences(headers, reference), ['~content-length: 12', '+server: x', '-etag'])
  })
})
