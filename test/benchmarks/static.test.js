'use strict'

const fs = require('node:fs')
const net = require('node:net')
const { once } = require('node:events')
const { tmpdir } = require('node:os')
const path = require('node:path')
const { describe, it } = require('node:test')
const { setTimeout: wait } = require('node:timers/promises')
const assert = require('node:assert/strict')
const lab = require('../../benchmarks/labs/static')
const { SIZES, bodyOf, plan, workersFor } = require('../../benchmarks/labs/static/plan')
const Server = require('../../benchmarks/lib/servers/server')
const share = require('../helpers/share')

describe('the workloads of static', () => {
  it('should be every file at 64 connections, two at 6,000, and a pipelined one', () => {
    const names = plan({ quick: false }).flat().map(({ workload }) => workload).sort()
    const many = ['13 B, 6,000 connections', '10 KB, 6,000 connections']
    assert.deepEqual(names, [...SIZES.map(({ name }) => `${name}, 64 connections`), ...many, '13 B, pipelined 16'].sort())
  })

  it('should be the report\'s file of all contenders, unless in a hurry', () => {
    const [first] = plan({ quick: false })
    assert.deepEqual(first.map(({ only }) => only), [undefined, undefined, undefined])
    assert.ok(plan({ quick: true })[0][1].only.includes('kone'))
  })

  it('should last two seconds and more', () => {
    for (const { workload, load } of plan({ quick: false }).flat()) assert.ok(load.seconds >= 2, workload)
  })

  it('should hold in a hurry the size of the report first, and every file', () => {
    const [first, ...others] = plan({ quick: true })
    assert.deepEqual(first.map(({ workload }) => workload), ['13 B, 64 connections', '13 B, 6,000 connections', '13 B, pipelined 16'])
    assert.deepEqual(new Set([first, ...others].flat().map(({ path }) => path)), new Set(SIZES.map(({ path }) => path)))
  })

  it('should ask for pages of exactly the size they are named after', () => {
    for (const { bytes } of SIZES) assert.equal(Buffer.byteLength(bodyOf(bytes)), bytes)
  })
})

describe('a contender of static', { skip: process.platform !== 'linux' && 'descriptors are counted on Linux only' }, () => {
  const CLIENTS = 60
  const LARGE = 5_000_000 // bytes, more than a socket takes at once

  // Who leaks would end in the middle of the lab, and take its other rows along.
  for (const one of lab.contenders) {
    const { name, program, leaks = false } = one
    if (program) continue
    const skip = ['sirv', '@fastify/static'].includes(one.package) && share('in make test-all: it needs packages of benchmarks/', false)
    it(`should ${leaks ? 'keep, as it says,' : 'close'} the files of clients that have gone: ${name}`, { skip }, async t => {
      const folder = fs.mkdtempSync(path.join(tmpdir(), 'kone-static-'))
      t.after(() => fs.rmSync(folder, { recursive: true, force: true }))
      const { contender } = lab.probe(one, { folder })
      fs.writeFileSync(path.join(folder, SIZES.at(-1).path), bodyOf(LARGE))
      const server = await Server.start(contender, { node: process.execPath })
      t.after(() => server.stop())
      const open = () => fs.readdirSync(`/proc/${server.pid}/fd`).length

      const before = open()
      const clients = Array.from({ length: CLIENTS }, () => net.connect(server.port, '127.0.0.1'))
      for (const client of clients) client.on('error', () => {}).write(`GET ${SIZES.at(-1).path} HTTP/1.1\r\nHost: a\r\n\r\n`)
      await Promise.all(clients.map(client => once(client, 'data').then(() => client.pause())))
      await wait(200)
      for (const client of clients) client.resetAndDestroy()
      for (let i = 0; i < 30 && open() > before + CLIENTS / 2; i++) await wait(100)
      assert.equal(open() > before + CLIENTS / 2, leaks, `${open()} descriptors, ${before} before`)
    })
  }

  it('should be as many processes as its descriptors ask for', () => {
    const lighttpd = lab.contenders.find(({ name }) => name === 'lighttpd')
    assert.equal(workersFor(lighttpd, 60_000, 20_000), 7)
    assert.equal(workersFor({}, 60_000, 20_000), 4)
  })
})
