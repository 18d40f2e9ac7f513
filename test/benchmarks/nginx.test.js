'use strict'

const http = require('node:http')
const { once } = require('node:events')
const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { LOADS } = require('../../benchmarks/labs/battle/deployed')
const nginx = require('../../benchmarks/lib/load/nginx')
const { missing } = require('../helpers/programs')

/*
 * The load of battle's rows behind nginx, as its server sees it: the version of HTTP, whether connections are kept, and how
 * many requests come for a rate.
 */

const REQUESTS = 100
const CONNECTIONS = 4

describe('the load behind nginx', { skip: missing('nginx') }, () => {
  it('should be HTTP/1.0 on connections of its own with nginx\'s defaults', async t => {
    assert.deepEqual(await seen(t, 'nginx with its defaults'), { versions: ['1.0'], isKept: false })
  })

  it('should be HTTP/1.1 on kept connections where it says so', async t => {
    assert.deepEqual(await seen(t, 'nginx kept, 1.1'), { versions: ['1.1'], isKept: true })
  })
})

async function seen (t, name) {
  const versions = new Set()
  let connections = 0
  const server = http.createServer((req, res) => {
    if (req.headers.host === 'app') versions.add(req.httpVersion) // the others are to see whether nginx is ready
    res.end('hello')
  }).on('connection', () => { connections++ }).listen(0, '127.0.0.1')
  const generator = nginx({})
  t.after(() => {
    generator.stop()
    server.closeAllConnections()
    server.close()
  })
  await once(server, 'listening')
  const { rate } = LOADS[name]
  const load = { ...LOADS[name], connections: CONNECTIONS, seconds: REQUESTS / rate, port: server.address().port }
  const { requests, errors } = await generator.run(load)
  assert.deepEqual({ requests, errors }, { requests: REQUESTS, errors: 0 })
  return { versions: [...versions], isKept: connections < REQUESTS }
}
