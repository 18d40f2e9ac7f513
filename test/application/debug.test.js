'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')

const kone = JSON.stringify(require.resolve('kone'))

function run (NODE_DEBUG) {
  const script = `
    const Kone = require(${kone})
    const app = new Kone()
    app.use(function logger (ctx, next) { return next() })
    app.use(async ctx => { ctx.body = 'x' })
    app.final(function stamp () {})
    const server = app.listen(0, async () => {
      await (await fetch('http://127.0.0.1:' + server.address().port + '/asked')).text()
      server.closeAllConnections()
      server.close()
    })
  `
  const { stderr, status } = spawnSync(process.execPath, ['-e', script], {
    env: { ...process.env, NODE_DEBUG },
    encoding: 'utf8'
  })
  assert.equal(status, 0, stderr)
  return stderr
}

describe('NODE_DEBUG=kone:*', () => {
  it('should show the way of a request', () => {
    const output = run('kone:*')
    assert.match(output, /KONE:APPLICATION \d+: use logger/)
    assert.match(output, /KONE:APPLICATION \d+: use -/)
    assert.match(output, /KONE:APPLICATION \d+: final stamp/)
    assert.match(output, /KONE:APPLICATION \d+: listen/)
    assert.match(output, /KONE:\w+ \d+: .*GET \/asked/)
  })

  it('should say nothing otherwise', () => {
    assert.doesNotMatch(run(''), /KONE:/)
  })
})
