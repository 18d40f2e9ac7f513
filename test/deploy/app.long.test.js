'use strict'

const assert = require('node:assert/strict')
const { execFile, spawn } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const net = require('node:net')
const path = require('node:path')
const { after, before, describe, it } = require('node:test')
const { make } = require('../cluster/instance')
const drain = require('../helpers/drain')
const { closedPort, isTaken, onFreePort } = require('../helpers/ports')
const { missing, which } = require('../helpers/programs')
const startRedis = require('../helpers/redis')
const visitor = require('../helpers/visitor')
const { until } = require('./site')

const ROOT = path.join(__dirname, '../..')
const APP = path.join(ROOT, 'examples/deploy/app.js')

describe('examples/deploy/app.js', { skip: missing('redis-server') }, () => {
  let redis, url
  before(async () => {
    redis = await startRedis(which('redis-server'))
    url = `redis://127.0.0.1:${redis.port}`
  })
  after(() => redis?.stop())

  describe('should say in one line, and end with 1,', () => {
    const run = (args, env) => new Promise(resolve => {
      execFile(process.execPath, args, { cwd: ROOT, env: { ...process.env, ...env }, timeout: 120000 },
        (err, stdout, stderr) => resolve([err?.code, stdout + stderr]))
    })

    const inCluster = REDIS_URL => onFreePort(async PORT => {
      const [code, printed] = await run(['pm2.js', APP], { PORT, KONE_CLUSTER: 'node', INSTANCES: 2, REDIS_URL })
      if (isTaken({ message: printed })) throw new Error(printed)
      return [code, printed]
    })

    it('that Redis cannot be reached', async t => {
      const port = await closedPort(t)
      assert.deepEqual(await run([APP], { PORT: 0, REDIS_URL: `redis://127.0.0.1:${port}` }),
        [1, `cannot reach Redis: connect ECONNREFUSED 127.0.0.1:${port}\n`])
    })

    it('that Redis cannot be reached, in a cluster too', async t => {
      const port = await closedPort(t)
      assert.deepEqual(await inCluster(`redis://127.0.0.1:${port}`),
        [1, `kone: cannot reach Redis: connect ECONNREFUSED 127.0.0.1:${port}\n`])
    })

    for (const [REDIS_URL, why] of [
      ['redis://127.0.0.1:port', 'Invalid URL'],
      ['redis://a:%@127.0.0.1', 'URI malformed'],
      ['http://127.0.0.1:6379', 'not of this form'],
      ['redis://127.0.0.1/first', 'not of this form'],
      ['redis:', 'not of this form']
    ]) {
      it(`that REDIS_URL is not a URL of Redis: ${REDIS_URL}`, async () => {
        assert.deepEqual(await run([APP], { PORT: 0, REDIS_URL }),
          [1, `REDIS_URL must be redis://user:password@host:port/db: ${why}\n`])
      })
    }

    it('that REDIS_URL is not a URL of Redis, also in a cluster', async () => {
      assert.deepEqual(await inCluster('redis://127.0.0.1:port'),
        [1, 'kone: REDIS_URL must be redis://user:password@host:port/db: Invalid URL\n'])
    })

    it('that Redis has no such database', async () => {
      assert.deepEqual(await run([APP], { PORT: 0, REDIS_URL: `${url}/99` }),
        [1, 'cannot reach Redis: ERR DB index is out of range\n'])
    })

    it('that something else hangs up on it', async t => {
      const other = net.createServer(socket => socket.destroy()).listen(0, '127.0.0.1')
      t.after(() => other.close())
      await once(other, 'listening')
      const [code, printed] = await run([APP], { PORT: 0, REDIS_URL: `redis://127.0.0.1:${other.address().port}` })
      assert.equal(code, 1)
      assert.match(printed, /^cannot reach Redis: (?!undefined)[^\n]+\n$/)
    })

    it('that Redis does not respond', async t => {
      const silent = net.createServer(socket => t.after(() => socket.destroy())).listen(0, '127.0.0.1')
      t.after(() => silent.close())
      await once(silent, 'listening')
      const [code, printed] = await run([APP], { PORT: 0, REDIS_URL: `redis://127.0.0.1:${silent.address().port}` })
      assert.equal(code, 1)
      assert.match(printed, /^cannot reach Redis: Socket timeout[^\n]*\n$/)
    })

    it('that its port is taken', async t => {
      const other = net.createServer().listen(0)
      t.after(() => other.close())
      await once(other, 'listening')
      const { port } = other.address()
      const [code, printed] = await run([APP], { PORT: port, REDIS_URL: url })
      assert.equal(code, 1)
      assert.match(printed, new RegExp(`^cannot listen on port ${port}: [^\n]*EADDRINUSE[^\n]*\n$`))
    })
  })

  /** The app by itself, and what a probe of it says. */
  function start (t, url) {
    return onFreePort(async port => {
      const child = spawn(process.execPath, [APP], {
        env: { ...process.env, PORT: port, REDIS_URL: url }, stdio: ['ignore', 'ignore', 'pipe']
      })
      let printed = ''
      child.stderr.setEncoding('utf8').on('data', text => { printed += text })
      const ended = once(child, 'close')
      t.after(() => { child.kill('SIGKILL'); return ended })
      const origin = `http://127.0.0.1:${port}`
      const probe = path => fetch(origin + path).then(async res => `${res.status} ${await res.text()}`, err => err.message)
      await Promise.race([
        until('it is ready', async () => await probe('/readyz') === '200 up'),
        ended.then(() => { throw new Error(printed) })
      ])
      return { child, origin, probe }
    })
  }

  it('should respond to the probes of kubernetes.yaml and the Dockerfile', async t => {
    const { probe } = await start(t, url)
    const read = name => fs.readFileSync(path.join(path.dirname(APP), name), 'utf8')
    const paths = [
      ...read('kubernetes.yaml').matchAll(/httpGet: \{ path: (\S+),/g),
      ...read('Dockerfile').matchAll(/fetch\('http:\/\/127\.0\.0\.1:4000(\S+)'\)/g)
    ].map(([, path]) => path)
    assert.deepEqual([...new Set(paths)].sort(), ['/healthz', '/readyz'])
    for (const path of paths) assert.match(await probe(path), /^200 /)
  })

  it('should be alive but not ready without Redis, and ready when it is back', async t => {
    const { child, probe } = await start(t, url)
    await redis.kill()
    try {
      await until('it is not ready', async () => await probe('/readyz') === '503 down')
      assert.equal(await probe('/healthz'), '200 up')
    } finally {
      await redis.restart()
    }
    await until('it is ready again', async () => await probe('/readyz') === '200 up')
    assert.equal(child.exitCode, null)
  })

  it('should write a note once at most when Redis is lost before it has responded', async t => {
    let writes = 0
    let cutting = false
    const between = net.createServer(socket => {
      const server = net.connect(redis.port, '127.0.0.1')
      let writing = false
      socket.on('data', chunk => {
        if (chunk.includes('rpush')) {
          writes++
          writing = cutting
          cutting = false
        }
        server.write(chunk)
      })
      server.on('data', chunk => writing ? socket.destroy() : socket.write(chunk))
      for (const [one, other] of [[socket, server], [server, socket]]) {
        one.on('error', () => {})
        one.on('close', () => other.destroy())
      }
    }).listen(0, '127.0.0.1')
    t.after(() => between.close())
    await once(between, 'listening')
    const { origin, probe } = await start(t, `redis://127.0.0.1:${between.address().port}`)
    const bob = visitor(async (origin, line, { headers, body } = {}) => {
      const [method, path] = line.split(' ')
      const res = await fetch(origin + path, {
        method, headers: { ...headers, origin, 'content-type': 'application/json' }, body: body && JSON.stringify(body)
      })
      return { status: res.status, headers: { 'set-cookie': res.headers.getSetCookie() }, text: await res.text() }
    }, origin)
    assert.equal((await bob('POST /sign-in', { body: { name: 'bob' } })).status, 200)
    assert.equal((await bob('POST /notes', { body: { text: 'whole' } })).status, 201)
    cutting = true
    assert.equal((await bob('POST /notes', { body: { text: 'cut' } })).status, 500)
    await until('it is ready again', async () => await probe('/readyz') === '200 up')
    assert.equal((await bob('GET /notes')).text, '["whole","cut"]')
    assert.equal(writes, 2)
  })

  it('should not be ready while it drains', async t => {
    const instance = await make(t, 'node', { INSTANCES: '1', REDIS_URL: url })
    instance.write(`require('${APP}')`)
    await instance.start()
    const res = await drain(instance.url, () => instance.master.kill('SIGTERM'), {
      path: '/sign-in', type: 'application/json', body: '{"name":"ann"}'
    })
    assert.equal(res.statusCode, 200)
    assert.equal((await instance.master.ended).code, 0)
  })
})
