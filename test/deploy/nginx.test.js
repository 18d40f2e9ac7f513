'use strict'

const assert = require('node:assert/strict')
const { spawn } = require('node:child_process')
const { once } = require('node:events')
const http = require('node:http')
const https = require('node:https')
const path = require('node:path')
const tls = require('node:tls')
const { after, before, describe, it } = require('node:test')
const { freePort, onFreePort } = require('../helpers/ports')
const { missing, which } = require('../helpers/programs')
const startRedis = require('../helpers/redis')
const { ask, hasEnded, make, until } = require('./site')

const ROOT = path.join(__dirname, '../..')

describe('kone behind examples/deploy/nginx.conf', { skip: missing('nginx') || missing('redis-server') }, () => {
  let redis, app, site, second, plain
  const seen = [] // what came to the second host, which serves only what the test says

  before(async () => {
    redis = await startRedis(which('redis-server'))
    second = http.createServer((req, res) => {
      seen.push(req.method)
      req.socket.destroy()
    }).listen(0, '127.0.0.1')
    await once(second, 'listening')
    const appPort = await onFreePort(async port => {
      app = spawn(process.execPath, ['examples/deploy/app.js'], {
        cwd: ROOT,
        env: { ...process.env, PORT: port, HOST_NAME: 'a', REDIS_URL: `redis://127.0.0.1:${redis.port}` },
        stdio: ['ignore', 'ignore', 'inherit']
      })
      await until('the app listens', () => {
        if (hasEnded(app)) throw new Error(`the app ended: port ${port} is in use`)
        return fetch(`http://127.0.0.1:${port}/readyz`).then(res => res.ok, () => false)
      })
      return port
    })
    const hosts = [`127.0.0.1:${appPort}`, `127.0.0.1:${second.address().port}`]
    site = await onFreePort(async port => {
      plain = await freePort()
      const made = await make({ hosts, port, plain })
      await made.start().catch(async err => {
        await made.stop()
        throw err
      })
      return made
    })
  })

  after(async () => {
    await site?.stop()
    second?.close()
    if (app) {
      app.kill('SIGKILL')
      if (app.exitCode === null && app.signalCode === null) await once(app, 'exit')
    }
    await redis?.stop()
  })

  it('should ask the other host again when a GET failed', async () => {
    seen.length = 0
    for (let i = 0; i < 10; i++) assert.equal((await ask(`${site.origin}/me`)).status, 200)
    assert.ok(seen.includes('GET'), 'the broken host got a request, too')
  })

  it('should tell the address, protocol and host of the client, whatever it claims', async () => {
    const res = await ask(`${site.origin}/me`, {
      localAddress: '127.0.0.9',
      headers: { 'x-forwarded-for': '6.6.6.6', 'x-forwarded-proto': 'http', 'x-forwarded-host': 'evil' }
    })
    assert.equal(res.json().ip, '127.0.0.9')
    assert.equal(res.json().origin, site.origin)
  })

  it('should keep its connections to kone', async () => {
    const peers = new Set()
    for (let i = 0; i < 10; i++) peers.add((await ask(`${site.origin}/me`)).json().peer)
    assert.ok(peers.size <= 2, `${peers.size} connections for 10 requests`)
  })

  it('should speak HTTP/2 to clients, and send plain HTTP to TLS', async () => {
    const { hostname, port } = new URL(site.origin)
    const socket = tls.connect({ host: hostname, port, ALPNProtocols: ['h2'], rejectUnauthorized: false })
    await once(socket, 'secureConnect')
    assert.equal(socket.alpnProtocol, 'h2')
    socket.destroy()
    const res = await fetch(`http://127.0.0.1:${plain}/me`, { redirect: 'manual' })
    assert.equal(res.status, 308)
    assert.equal(res.headers.get('location'), 'https://127.0.0.1/me')
  })

  it('should keep probes for the machines that ask the hosts directly', async () => {
    assert.equal((await ask(`${site.origin}/readyz`)).status, 404)
  })

  it('should never send a POST twice', async () => {
    seen.length = 0
    const statuses = []
    for (let i = 0; i < 12; i++) {
      statuses.push((await ask(`${site.origin}/sign-in`, {
        method: 'POST', body: { name: 'ann' }, headers: { origin: site.origin }
      })).status)
    }
    const lost = statuses.filter(status => status === 502).length
    assert.equal(seen.length, lost, 'each that the broken host took is a 502')
    assert.ok(statuses.every(status => status === 200 || status === 502), statuses.join())
  })

  it('should pass server-sent events on as they come', async () => {
    const agent = new https.Agent()
    const req = https.get(`${site.origin}/events`, {
      agent, rejectUnauthorized: false, headers: { accept: 'text/event-stream', 'accept-encoding': 'gzip' }
    })
    const [res] = await once(req, 'response')
    assert.equal(res.statusCode, 200)
    assert.match(res.headers['content-type'], /^text\/event-stream/)
    assert.equal(res.headers['content-encoding'], undefined)
    let text = ''
    res.setEncoding('utf8').on('data', chunk => { text += chunk })
    res.on('error', () => {})
    // of a response that goes on for hours
    await until('two events', () => text.split('event: tick').length > 2, 10000)
    assert.equal(res.complete, false)
    req.destroy()
  })
})
