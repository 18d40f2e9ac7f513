'use strict'

const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const http = require('node:http')
const os = require('node:os')
const path = require('node:path')
const { after, before, describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { contenders } = require('../../benchmarks/labs/dropin')
const { missing: missingAgents } = require('../../benchmarks/labs/dropin/agents')
const { prepare, workloads } = require('../../benchmarks/labs/dropin/workloads')
const { compared } = require('../../benchmarks/lib/run/verify')
const { missing: missingPm2, underPm2 } = require('../../benchmarks/lib/servers/pm2')
const Program = require('../../benchmarks/lib/servers/program')
const Server = require('../../benchmarks/lib/servers/server')

const node = process.execPath

describe('the apps of dropin', () => {
  let folder
  before(async () => {
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'kone-dropin-test-'))
    await prepare(folder)
  })
  after(() => fs.rmSync(folder, { recursive: true, force: true }))

  for (const { workload, request, expected, contenders: names, agent } of workloads.filter(({ workload, app }) => workload !== 'pm2' && !app)) {
    const skip = Boolean(agent) && (missingAgents() ?? false)
    it(`should respond alike on every contender: ${workload}`, { skip }, async () => {
      const taking = contenders.filter(({ name }) => names.includes(name)).map(one => ({ ...one, args: [workload, folder] }))
      const servers = await Promise.all(taking.map(one => Server.start(one, { node })))
      try {
        const check = compared(request)
        for (const server of servers) assert.equal((await check(server, expected)).status, expected.status)
      } finally {
        await Promise.all(servers.map(server => server.stop()))
      }
    })
  }

  it('should leave pm2 out elsewhere than on Linux', t => {
    const { platform } = process
    t.after(() => Object.defineProperty(process, 'platform', { value: platform }))
    Object.defineProperty(process, 'platform', { value: 'darwin' })
    assert.match(missingPm2(), /on Linux only/)
  })

  it('should respond alike under pm2', { skip: missingPm2() ?? false }, async () => {
    const { request, expected } = workloads.find(({ workload }) => workload === 'pm2')
    const check = compared(request)
    for (const one of contenders.filter(({ name }) => ['koa', 'kone'].includes(name))) {
      const server = await Program.start(underPm2(one, { node }), {})
      try {
        assert.equal((await check(server, expected)).body, 'Hello World')
      } finally {
        await server.stop()
      }
    }
  })

  it('should be watched by the agent that their workload names', () => {
    const tracing = require.resolve('../../benchmarks/labs/dropin/tracing')
    const script = `require(${JSON.stringify(tracing)}); console.log(require('node:http').Server.prototype.emit.__wrapped)`
    assert.equal(execFileSync(node, ['-e', script], { encoding: 'utf8' }).trim(), 'true')
  })
})

describe('the comparison of dropin', () => {
  const expected = { status: 200, type: 'text/plain', body: 'hi' }
  const servers = []
  after(() => servers.forEach(server => server.close()))

  async function serving (name, headers) {
    const server = http.createServer((req, res) => res.writeHead(200, { 'Content-Type': 'text/plain', ...headers }).end('hi'))
    await new Promise(resolve => server.listen(0, '127.0.0.1', resolve))
    servers.push(server)
    return { name, port: server.address().port }
  }

  it('should refuse kone where a header is missing, more or another than Koa\'s', async () => {
    const check = compared({})
    await check(await serving('koa', { 'X-A': '1', 'X-Frame': 'deny' }), expected)
    await check(await serving('kone', { 'X-A': '1', 'X-Frame': 'deny' }), expected)
    await assert.rejects(check(await serving('kone', { 'X-A': '2', 'X-Frame': 'deny' }), expected), /not koa's: ~x-a: 2$/)
    await assert.rejects(check(await serving('kone', { 'X-A': '1' }), expected), /not koa's: -x-frame$/)
    const more = { 'X-A': '1', 'X-Frame': 'deny', 'X-B': '1' }
    await assert.rejects(check(await serving('kone-node', more), expected), /not koa's: \+x-b: 1$/)
  })

  it('should let node have fewer headers, but the same body', async () => {
    const check = compared({})
    await check(await serving('koa', { 'X-A': '1' }), expected)
    assert.equal((await check(await serving('node', {}), expected)).body, 'hi')
    await assert.rejects(check(await serving('node', {}), { ...expected, body: 'ho' }), /its body is "hi"/)
  })
})
