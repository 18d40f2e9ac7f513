'use strict'

const fs = require('node:fs')
const net = require('node:net')
const path = require('node:path')
const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const Program = require('../../benchmarks/lib/servers/program')
const Server = require('../../benchmarks/lib/servers/server')
const { need } = require('../helpers/programs')

const SERVER = `
  require('node:net').createServer(s => s.end()).listen(Number(process.env.PORT), '127.0.0.1')
`
const linux = process.platform === 'linux'

describe('a program that is no Node contender', { skip: !linux && 'its processes are known on Linux only' }, () => {
  it('should listen, tell its CPU time, and leave nothing when it is stopped', async () => {
    const server = await Program.start(contender(`exec "${process.execPath}" -e "${SERVER.trim()}"`), {})
    const { run } = await server.usage()
    assert.ok(run > 1e6, `${run} ns`)
    assert.ok(await server.resident() > 1e6)
    const { folder, pid } = server
    await server.stop()
    assert.equal(fs.existsSync(folder), false)
    assert.throws(() => process.kill(-pid, 0), { code: 'ESRCH' })
    await refused(server.port)
  })

  it('should be another process on another port when it is restarted', async () => {
    const server = await Program.start(contender(`exec "${process.execPath}" -e "${SERVER.trim()}"`), {})
    try {
      const { folder, pid, port } = server
      await server.restart()
      assert.notEqual(server.pid, pid)
      assert.equal(fs.existsSync(folder), false)
      if (server.port !== port) await refused(port)
      assert.ok((await server.usage()).run > 1e6)
    } finally {
      await server.stop()
    }
  })

  it('should be so of a Node contender, too', async () => {
    const server = await Server.start({ name: 'impatient', file: require.resolve('./fixtures/contenders'), key: 'impatient' }, { node: process.execPath })
    try {
      const { pid, port } = server
      await server.restart()
      assert.notEqual(server.pid, pid)
      if (server.port !== port) await refused(port)
      assert.ok((await server.usage()).run > 1e6)
    } finally {
      await server.stop()
    }
  })

  it('should say what the program said when it does not start', async () => {
    await assert.rejects(Program.start(contender('echo "Error: no such option" >&2; exit 1'), {}), /no such option/)
  })

  it('should take another port when the first one is taken meanwhile', async t => {
    const other = net.createServer().listen(0, '127.0.0.1')
    t.after(() => other.close())
    await new Promise(resolve => other.once('listening', resolve))
    const taken = other.address().port
    const ports = [taken, taken, await freePort()]
    const one = contender(`exec "${process.execPath}" -e "${SERVER.trim()}"`)
    const server = await Program.start({ ...one, program: { ...one.program, port: () => ports.shift() } }, {})
    await server.stop()
    assert.notEqual(server.port, taken)
    assert.deepEqual(ports, [])

    const stubborn = { ...one, program: { ...one.program, port: () => taken } }
    await assert.rejects(Program.start(stubborn, {}), new RegExp(`port ${taken} is taken`))
  })

  it('should start nginx', { skip: need('nginx') ? false : 'nginx is missing: apt-get install nginx' }, async () => {
    const { nginx } = require('../../benchmarks/labs/static/contenders')
    const server = await Program.start({ name: 'nginx', program: nginx }, {})
    try {
      const answer = await fetch(`http://127.0.0.1:${server.port}/`)
      assert.equal(await answer.text(), 'Hello World')
    } finally {
      await server.stop()
    }
  })
})

describe('EXTRA', () => {
  it('should name servers and their commands, one a line', () => {
    const [hphs, other] = Program.extra('hphs=./hphs $PORT 1 $ROOT\n  b2 = run --a=b')
    assert.equal(hphs.name, 'hphs')
    assert.match(hphs.program.command().at(-1), /exec \.\/hphs \$PORT 1 \$ROOT$/)
    assert.deepEqual(pick(hphs.program.env({ port: 80, root: '/r' })), { PORT: '80', ROOT: '/r' })
    assert.equal(other.name, 'b2')
    assert.match(other.program.command().at(-1), /run --a=b$/)
  })

  it('should refuse what has no name or no command', () => {
    assert.throws(() => Program.extra('./hphs 8080'), /must be name=command/)
    assert.throws(() => Program.extra('hphs='), /must be name=command/)
    assert.deepEqual(Program.extra(), [])
  })
})

describe('a program that is not installed', { skip: !linux && 'Linux only' }, () => {
  it('should be missing with the way to get it', () => {
    assert.equal(Program.missing('no-such-program', 'ask somebody'), 'ask somebody')
    assert.equal(Program.missing('sh', 'ask somebody'), null)
    assert.equal(path.basename(Program.find('sh')), 'sh')
  })
})

function contender (command) {
  return Program.extra(`some=${command.replace(/^exec /, '')}`)[0]
}

const pick = ({ PORT, ROOT }) => ({ PORT, ROOT })

async function freePort () {
  const server = net.createServer().listen(0, '127.0.0.1')
  await new Promise(resolve => server.once('listening', resolve))
  const { port } = server.address()
  await new Promise(resolve => server.close(resolve))
  return port
}

async function refused (port) {
  const socket = net.connect(port, '127.0.0.1')
  const code = await new Promise(resolve => {
    socket.once('error', err => resolve(err.code)).once('connect', () => resolve('connected'))
  })
  assert.equal(code, 'ECONNREFUSED')
}
