'use strict'

const { spawn } = require('node:child_process')
const { once } = require('node:events')
const http = require('node:http')
const path = require('node:path')
const { text } = require('node:stream/consumers')
const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const zlib = require('node:zlib')
const Server = require('../../benchmarks/lib/servers/server')
const { doubt, isPrecise, measure, remarks } = require('../../command/measure/cost')
const { disturbance } = require('../../command/measure/quiet')
const { rounds } = require('../../command/measure/rounds')
const { headerDifferences, verify } = require('../../benchmarks/lib/run/verify')
const until = require('../helpers/until')

const lab = path.join(__dirname, '../../benchmarks')
const contender = { name: 'node', file: path.join(lab, 'labs/battle/contenders.js'), key: 'node' }

describe('rounds', () => {
  const good = { requests: 1000, seconds: 1, errors: 0, requestsPerSecond: 1000, latencyMeanMs: 1 }

  it('should visit every cell once a round, workload by workload, in changing order', async () => {
    const cells = ['hello', 'json'].flatMap(workload => ['a', 'b', 'c'].map(name => ({ workload, server: { name } })))
    const visited = []
    await rounds(cells, { count: 12, visit: ({ workload, server }) => visited.push([workload, server.name]) })

    const each = Array.from({ length: 12 }, (_, i) => visited.slice(i * 6, i * 6 + 6))
    for (const round of each) {
      const halves = [round.slice(0, 3), round.slice(3)]
      for (const half of halves) {
        assert.equal(new Set(half.map(([workload]) => workload)).size, 1)
        assert.deepEqual(half.map(([, name]) => name).sort(), ['a', 'b', 'c'])
      }
    }
    const first = each.map(([[workload, name]]) => `${workload} ${name}`)
    for (const name of ['a', 'b', 'c']) assert.equal(first.filter(text => text.endsWith(name)).length, 4, 'each is first equally often')
    assert.equal(first.filter(text => text.startsWith('hello')).length, 6)
  })

  it('should record the conditions of every round', async () => {
    const recorded = await rounds([{ workload: 'hello', server: { name: 'a' } }], { count: 3, visit: () => ({}) })
    assert.deepEqual(recorded.map(({ round }) => round), [1, 2, 3])
    const waiting = await rounds([cell('c')], { count: 2, visit: () => [{ wait: 0.1 }, { wait: 0.3 }, {}] })
    assert.deepEqual(waiting.map(({ wait }) => wait), [0.2, 0.2])
    for (const { load, steal, others } of recorded) {
      assert.ok(load >= 0)
      assert.ok(steal >= 0 && steal <= 1)
      assert.ok(others >= 0 && others <= 1)
    }
  })

  it('should measure again what cannot be believed', async () => {
    let visits = 0
    const cells = [cell('a')]
    await rounds(cells, { count: 3, doubt, visit: async () => ({ ...good, cpu: 1, errors: ++visits === 2 ? 2 : 0 }) })
    assert.equal(cells[0].samples.length, 3)
    assert.deepEqual(cells[0].discarded, [{ round: 2, reason: '2 errors in 1002 requests' }])
    assert.equal(cells[0].rejected, null)
  })

  it('should keep all samples of a visit that is several rounds, or none of them', async () => {
    let visits = 0
    const cells = [cell('a')]
    const visit = async () => [{ ...good, cpu: 1 }, { ...good, cpu: 2, errors: ++visits === 2 ? 2 : 0 }]
    await rounds(cells, { count: 2, doubt, visit })
    assert.deepEqual(cells[0].samples.map(({ cpu }) => cpu), [1, 2, 1, 2])
    assert.deepEqual(cells[0].discarded, [{ round: 2, reason: '2 errors in 1002 requests' }])
  })

  it('should measure a round again in which the machine was disturbed, twice at most', async () => {
    let visits = 0
    const quiet = cell('a')
    const recorded = await rounds([quiet], { count: 3, disturbance: () => visits === 2 ? 'noise' : null, visit: () => ({ cpu: ++visits }) })
    assert.deepEqual(quiet.samples.map(({ cpu }) => cpu), [1, 3, 4])
    assert.deepEqual(quiet.discarded, [{ round: 2, reason: 'noise' }])
    assert.deepEqual(recorded.map(({ round }) => round), [1, 2, 3])

    const loud = cell('b')
    await rounds([loud], { count: 3, disturbance: () => 'noise', visit: async () => [{ cpu: 1 }, { cpu: 2 }] })
    assert.equal(loud.samples.length, 6)
    assert.deepEqual(loud.discarded, [{ round: 1, reason: 'noise' }, { round: 1, reason: 'noise' }])
  })

  it('should end when they are enough: when kone ÷ Koa is precise', async () => {
    const costs = { kone: [10, 11, 10, 10, 11, 10], koa: [20, 22, 20, 20, 22, 20] }
    const of = (names, count = 6) => {
      const cells = names.map(cell)
      const visit = async ({ server, samples }) => ({ cpu: costs[server.name][samples.length] })
      return rounds(cells, { count, visit, isEnough: isPrecise }).then(({ length }) => length)
    }
    assert.equal(await of(['kone', 'koa']), 3)
    assert.equal(await of(['kone'], 3), 3, 'no more than there are')
    assert.equal(await of(['kone']), 4, 'it is above 3 % until then')
    assert.equal(await of(['koa']), 6, 'there is no kone')
  })

  it('should call a round disturbed by its conditions', () => {
    const machine = { cores: 2, kernel: 'Linux 6' }
    assert.equal(disturbance({ others: 0.05, steal: 0.02, load: 9 }, machine), undefined)
    assert.match(disturbance({ others: 0.06, steal: 0, load: 1 }, machine), /^other processes took 6\.0 %/)
    assert.match(disturbance({ others: 0, steal: 0.03, load: 1 }, machine), /^the hypervisor took 3\.0 %/)
    const waited = wait => disturbance({ others: 0, steal: 0, load: 1, wait }, machine)
    assert.deepEqual([waited(undefined), waited(0.25)], [undefined, undefined])
    assert.match(waited(0.26), /^servers waited 26\.0 % of their run time for their core/)
    assert.equal(disturbance({ others: 0, steal: 0, load: 1, wait: 2 }, machine, true), undefined, 'a cluster')
  })

  it('should reject who breaks Little\'s law three times', async () => {
    const cells = [cell('a')]
    await rounds(cells, { count: 3, doubt, visit: async () => ({ ...good, cpu: 1, requestsPerSecond: 1e6 }) })
    assert.match(cells[0].rejected, /Little's law/)
    assert.equal(cells[0].discarded.length, 3)
  })

  it('should reject who fails three times, and go on with the others', async () => {
    const cells = [cell('a'), cell('b')]
    await rounds(cells, {
      count: 3,
      doubt,
      visit: async ({ server }) => {
        if (server.name === 'a') throw new Error('connection refused')
        return { ...good, cpu: 1 }
      }
    })
    assert.equal(cells[0].rejected, 'connection refused')
    assert.equal(cells[1].samples.length, 3)
  })

  const cell = name => ({ workload: 'hello', server: { name }, load: { generator: 'fake', connections: 50 } })
})

describe('a measurement', () => {
  it('should divide the CPU time of the server by the requests', async () => {
    const used = [1e7, 2e7] // ns: 10 ms more at the second look
    const server = { name: 'a', port: 1, usage: async () => ({ run: used.shift(), wait: 0 }) }
    const load = { generator: 'fake', connections: 50 }
    const sample = await measure({ server, load }, { run: async () => ({ requests: 1000, seconds: 1, errors: 0 }) })
    assert.equal(sample.cpu, 10)
  })

  it('should say when the generator, not the server, was the limit', () => {
    const sample = { busy: 0.99, wait: 0.01, steal: 0 }
    assert.deepEqual(remarks([sample]), [])
    assert.match(remarks([{ ...sample, busy: 0.5 }])[0], /the load generator was the limit \(server busy 50 %\)/)
    assert.deepEqual(remarks([{ ...sample, busy: 0.5, requestsPerSecond: 1990 }], { rate: 2000 }), [])
    assert.match(remarks([{ ...sample, requestsPerSecond: 1500 }], { rate: 2000 })[0], /the rate was not reached \(1500 requests\/s\)/)
    assert.match(remarks([{ ...sample, wait: 0.6 }])[0], /contended/)
    assert.match(remarks([{ ...sample, steal: 0.1 }])[0], /hypervisor took 10 %/)
  })
})

describe('a contender', () => {
  it('should listen, respond, report its CPU time, and end', async () => {
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
    const broken = { name: 'broken', file: path.join(lab, 'labs/none.js') }
    await assert.rejects(Server.start(broken, { node: process.execPath }), /Cannot find module/)
  })

  it('should report what it wrote when it has ended before its CPU time was read', async () => {
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

  it('should be verified with a body of a size, and its response decompressed', async t => {
    const server = http.createServer(async (req, res) => {
      const { length } = await text(req)
      res.writeHead(200, { 'Content-Type': req.headers['content-type'], 'Content-Encoding': 'gzip', Vary: 'Accept-Encoding' })
      res.end(zlib.gzipSync(String(length)).subarray(0, req.url === '/cut' ? -9 : undefined))
    }).listen(0, '127.0.0.1')
    t.after(() => server.close())
    await once(server, 'listening')
    const { port } = server.address()
    const request = { method: 'POST', size: 100_000 }
    const expected = { status: 200, type: 'application/octet-stream', body: '100000', headers: { vary: /accept-encoding/i } }
    await verify(port, request, expected)
    await assert.rejects(verify(port, request, { ...expected, headers: { vary: /origin/ } }), /its vary is "Accept-Encoding", not \/origin\//)
    await assert.rejects(verify(port, { ...request, path: '/cut' }, expected), /unexpected end of file/)
  })

  it('should have its header differences listed', () => {
    const reference = { date: 'now', 'content-length': '11', etag: '"a"' }
    const headers = { date: 'later', 'content-length': '12', server: 'x' }
    assert.deepEqual(headerDifferences(headers, reference), ['~content-length: 12', '+server: x', '-etag'])
  })
})
