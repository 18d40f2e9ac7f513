'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const { SHAPES, make, until } = require('./instance')

const APP = path.join(__dirname, 'fixtures/app.js')
const ENV = { KONE_REUSE_PORT: '1' }
const [major, minor] = process.versions.node.split('.').map(Number)
const isThere = process.platform === 'linux' && (major > 23 || (major === 23 && minor >= 1) || (major === 22 && minor >= 12))

/** Beside the four things that a file can be: how an app that listens itself may do it. */
const LISTENING = {
  ...SHAPES,
  'listen(port, callback)': `require('${APP}').listen(process.env.PORT, () => {})`,
  'listen(port, host, backlog)': `require('${APP}').listen(process.env.PORT, '127.0.0.1', 100)`,
  'listen(options)': `require('${APP}').listen({ port: process.env.PORT })`,
  'what listens on another port and on a Unix socket, too': `require('${APP}').listen(process.env.PORT)
    for (const place of [0, require('node:path').join(__dirname, 'second.sock')]) require('node:http').createServer().listen(place)`
}

describe('KONE_REUSE_PORT', { skip: isThere && 'this Node has the option' }, () => {
  it('should be refused where Node or the system has no such option', async t => {
    const instance = await make(t, 'node', ENV)
    instance.write(SHAPES.app)
    const { code, lines } = await instance.run(instance.app)
    assert.equal(code, 1)
    assert.match(lines[0], /^kone: KONE_REUSE_PORT needs Linux and Node 22\.12, 23\.1 or later, not \w+ and \d/)
  })
})

describe('each worker with its own listening socket', { skip: !isThere && 'Linux and Node 22.12, 23.1 or later' }, () => {
  for (const [what, source] of Object.entries(LISTENING)) {
    it(`should serve ${what}`, async t => {
      const instance = await make(t, 'node', ENV)
      instance.write(source)
      await instance.start()
      assert.equal(listening(instance.port), 2)

      const workers = new Set()
      await until(async () => {
        const res = await fetch(`${instance.url}/echo?id=1`, { headers: { connection: 'close' } })
        assert.equal(await res.text(), '1')
        workers.add(res.headers.get('x-worker'))
        return workers.size === 2
      })
      assert.deepEqual(await instance.run('stop'), { code: 0, lines: [] })
      const { code, lines } = await instance.master.ended
      assert.equal(code, 0)
      const isMigrating = fs.readFileSync('/proc/sys/net/ipv4/tcp_migrate_req', 'latin1').startsWith('1')
      assert.equal(lines.some(line => line.includes('tcp_migrate_req=1')), !isMigrating)
    })
  }

  const network = ['--net', 'sh', '-c', 'ip link set lo up && sysctl -qw net.ipv4.tcp_migrate_req=1 && exec "$0" "$@"']
  const isOwn = isThere && spawnSync('unshare', [...network, 'true'], { stdio: 'ignore' }).status === 0
  if (isThere && !isOwn && process.env.CI === 'true') throw new Error('no network of its own: run it as root')

  it('should lose no request in a reload where the kernel migrates connections', { skip: !isOwn && 'needs root and iproute2' }, () => {
    const script = path.join(__dirname, 'fixtures/reloads.js')
    const { stdout, stderr } = spawnSync('unshare', [...network, process.execPath, script], { encoding: 'utf8', env: { ...process.env, ...ENV } })
    const { reloads, answered, failures, versions } = JSON.parse(stdout || JSON.stringify({ failures: [stderr] }))
    assert.deepEqual(failures, [])
    assert.equal(versions, reloads + 1)
    assert.ok(answered > 100 * reloads, answered)
  })
})

/** How many sockets listen on a port. */
function listening (port) {
  const local = `:${port.toString(16).toUpperCase().padStart(4, '0')} `
  return ['tcp', 'tcp6'].flatMap(name => fs.readFileSync(`/proc/net/${name}`, 'latin1').split('\n'))
    .filter(line => line.includes(local) && / 0A /.test(line)).length
}
