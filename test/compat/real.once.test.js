'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const http = require('node:http')
const path = require('node:path')

const { APPLICATIONS, verifying } = require('../../benchmarks/labs/dropin/applications')
const Server = require('../../benchmarks/lib/servers/server')
const { all, comparison, contender } = require('./real/applications')

describe('real applications', () => {
  for (const { name, ...app } of all()) {
    it(`should say what is installed and compared: ${name}`, () => {
      for (const key of ['title', 'packages', 'responses', ...app.suite ? ['suite'] : ['serve', 'ask']]) assert(app[key], key)
      for (const version of Object.values(app.packages)) assert.match(version, /^\d+\.\d+\.\d+$/)
      assert(app.responses > 0)
    })
  }

  it('should respond on kone as on Koa, in the lab, too', async () => {
    const { app, request, expected } = APPLICATIONS.rest
    const node = process.execPath
    const start = (name, flags) => Server.start({ name, ...contender(app, path.join(__dirname, 'real/apps')) }, { node, flags })
    const servers = await Promise.all([start('koa', []), start('kone', ['--require', require.resolve('kone/as-koa')])])
    try {
      const check = verifying(app, request)
      for (const server of servers) assert.equal((await check(server, expected)).status, 200)
      await assert.rejects(check(servers[0], { ...expected, status: 418 }), /^Error: its status is 200, not 418$/)
    } finally {
      await Promise.all(servers.map(server => server.stop()))
    }
  })

  it('should be refused where a response differs, or is missing', async () => {
    const app = { responses: 2, ask: async client => { for (const path of ['/', '/a']) await client.ask(`GET ${path}`) } }
    const servers = ['', 'no '].map(text => http.createServer((req, res) => res.end(req.url === '/a' ? `${text}difference` : 'hi')))
    const [koa, kone] = await Promise.all(servers.map(async (server, i) => {
      await new Promise(resolve => server.listen(0, '127.0.0.1', resolve))
      return { name: ['koa', 'kone'][i], port: server.address().port }
    }))
    try {
      const check = comparison(app)
      await check(koa)
      await assert.rejects(check(kone), /^Error: response 2, GET \/a: its (?:headers|body) is .*, not /)
      await assert.rejects(comparison({ ...app, responses: 3 })(koa), { message: '2 responses were compared, not 3' })
    } finally {
      for (const server of servers) server.close()
    }
  })
})

describe('make compat', () => {
  for (const [args, reason] of [
    ['rset', 'unknown argument rset: did you mean rest?'],
    ['--node=/nowhere/node', '--node must be a major version or a binary that runs here'],
    ['--laod', 'unknown flag --laod: expected --node']
  ]) {
    it(`should refuse ${args} with one line`, () => {
      const command = [path.join(__dirname, 'real/run.js'), ...args.split(' ')]
      const { status, stdout, stderr } = spawnSync(process.execPath, command, { encoding: 'utf8' })
      assert.equal(status, 2)
      assert.equal(stdout, '')
      assert(stderr.startsWith('compat: ') && stderr.includes(reason), stderr)
      assert.equal(stderr.trim().split('\n').length, 1)
      assert.match(stderr, /\((?:see docs\/api\/real-applications|benchmarks\/README)\.md\)\n$/)
    })
  }
})
