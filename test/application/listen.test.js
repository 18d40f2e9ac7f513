'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { once } = require('node:events')
const http = require('node:http')
const path = require('node:path')

const temporary = require('../helpers/folder')
const Kone = require('../helpers/kone')

const folder = temporary()
const hello = () => new Kone().use(ctx => { ctx.body = 'hello' })

function close (server) {
  server.closeAllConnections()
  return new Promise(resolve => server.close(resolve))
}

function get (options) {
  return new Promise((resolve, reject) => {
    http.get({ agent: false, ...options }, async res => {
      let text = ''
      for await (const chunk of res) text += chunk
      resolve(text)
    }).on('error', reject)
  })
}

describe('app.listen()', () => {
  for (const [what, ...args] of [
    ['a port', 0],
    ['port, host and backlog', 0, '127.0.0.1', 16],
    ['an object', { port: 0, host: '127.0.0.1' }]
  ]) {
    it(`should take ${what}, and give a genuine http.Server back`, async () => {
      const server = hello().listen(...args)
      assert(server instanceof http.Server)
      await once(server, 'listening')
      const { address, port } = server.address()
      if (what !== 'a port') assert.equal(address, '127.0.0.1')
      assert.equal(await get({ port }), 'hello')
      await close(server)
    })
  }

  it('should call back with the server as this', async () => {
    const server = await new Promise(resolve => hello().listen(0, '127.0.0.1', 16, function () { resolve(this) }))
    assert(server instanceof http.Server)
    assert(server.listening)
    await close(server)
  })

  it('should listen on a Unix socket, where ctx.ip is empty', {
    skip: process.platform === 'win32' ? 'Windows has pipes' : false
  }, async () => {
    const socketPath = path.join(folder, 's')
    const app = new Kone()
    app.use(ctx => { ctx.body = { ip: ctx.ip, ips: ctx.ips } })
    const server = app.listen(socketPath)
    await once(server, 'listening')
    assert.equal(await get({ socketPath }), '{"ip":"","ips":[]}')
    await close(server)
  })

  it('should emit the error of a port that is taken on the server', async () => {
    const first = hello().listen(0, '127.0.0.1')
    await once(first, 'listening')
    const second = hello().listen(first.address().port, '127.0.0.1')
    const [error] = await once(second, 'error')
    assert.equal(error.code, 'EADDRINUSE')
    await close(first)
  })

  it('should serve one app on several ports', async () => {
    const app = hello()
    const servers = [app.listen(0), app.listen(0)]
    for (const server of servers) {
      if (!server.listening) await once(server, 'listening')
      assert.equal(await get({ port: server.address().port }), 'hello')
    }
    await Promise.all(servers.map(close))
  })
})

describe('app.attach(server)', () => {
  it('should serve on a server made elsewhere', async () => {
    const server = http.createServer()
    assert.equal(hello().attach(server), server)
    server.listen(0)
    await once(server, 'listening')
    assert.equal(await get({ port: server.address().port }), 'hello')
    await close(server)
  })
})
