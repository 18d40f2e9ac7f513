'use strict'

const fs = require('node:fs')
const http = require('node:http')
const https = require('node:https')
const net = require('node:net')
const os = require('node:os')
const path = require('node:path')
const { Readable } = require('node:stream')
const { once } = require('node:events')
const { after, before, describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { ask } = require('../../benchmarks/lib/run/verify')
const { makeCertificate, certificate } = require('../../benchmarks/lib/servers/certificate')
const { floorOf } = require('../../benchmarks/lib/servers/floor')
const Server = require('../../benchmarks/lib/servers/server')
const until = require('../helpers/until')

describe('the floor of a workload', () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'kone-floor-'))
  const file = path.join(folder, 'file')
  const running = []
  before(() => fs.writeFileSync(file, 'a file'))
  after(async () => {
    for (const stop of running) await stop()
    fs.rmSync(folder, { recursive: true })
  })

  async function started (origin, request, how) {
    origin.listen(0, '127.0.0.1')
    await once(origin, 'listening')
    const contender = floorOf({ port: origin.address().port, request }, how)
    const server = await Server.start(contender, { node: process.execPath })
    running.push(() => server.stop(), () => origin.close())
    return server
  }

  it('should write the bytes of the response for each request, also pipelined and in parts', async () => {
    const origin = http.createServer((req, res) => res.setHeader('X-Kind', 'recorded').end('hello'))
    const { port } = await started(origin, { method: 'POST', headers: { 'X-A': '1' }, body: 'abc' })
    const { status, headers, body } = await ask(port, { method: 'POST', headers: { 'Content-Length': 3 }, body: 'xyz' })
    assert.deepEqual([status, headers['x-kind'], body], [200, 'recorded', 'hello'])

    const request = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc'
    const socket = net.connect(port, '127.0.0.1')
    let received = ''
    socket.on('data', chunk => { received += chunk })
    socket.write(request + request + request.slice(0, -2))
    await until(() => received.split('hello').length === 3)
    socket.write('bc')
    await until(() => received.split('hello').length === 4)
    socket.destroy()
  })

  it('should write the recorded bytes once for a stream, however many chunks it has', async () => {
    const chunks = ['a', 'b', 'c', 'd'].map(letter => letter.repeat(4096))
    const { port } = await started(http.createServer((req, res) => Readable.from(chunks).pipe(res)), {})
    let reads = 0
    const socket = net.connect(port, '127.0.0.1')
    socket.on('data', () => { reads++ })
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
    await until(() => socket.bytesRead > 16_384)
    socket.destroy()
    assert.equal(reads, 1)
    assert.equal((await ask(port, {})).body, chunks.join(''))
  })

  it('should read the file for every request', async () => {
    const { port } = await started(http.createServer((req, res) => res.end(fs.readFileSync(file))), {}, { file })
    assert.equal((await ask(port, {})).body, 'a file')
    fs.writeFileSync(file, 'a life')
    assert.equal((await ask(port, {})).body, 'a life')
  })

  it('should speak TLS', async () => {
    await makeCertificate(folder)
    const origin = https.createServer(certificate(folder), (req, res) => res.end('secret'))
    const request = { protocol: 'https' }
    const { port } = await started(origin, request, { folder })
    assert.equal((await ask(port, request)).body, 'secret')
  })
})
