'use strict'

const { after, before, describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { execFile } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const http = require('node:http')
const net = require('node:net')
const os = require('node:os')
const path = require('node:path')
const { promisify } = require('node:util')
const { createTerminus } = require('@godaddy/terminus')
const { Server: SocketServer } = require('socket.io')
const { io } = require('socket.io-client')
const stoppable = require('stoppable')
const WebSocket = require('ws')

const Koa = require('koa')
const Kone = require('../helpers/kone')
const { install } = require('../helpers/area')
const request = require('../helpers/request')
const share = require('../helpers/share')
const until = require('../helpers/until')

const run = promisify(execFile)

/** Node's connection listener has this socket: koa's always, kone's when it fell back to node:http. */
const isNodes = socket => 'parser' in socket

/**
 * What `use(site)` gives in koa and in kone, whose front has to keep the plain connections, unless it `fallsBack`.
 *
 * `site.ask(path, agent)` requests; `site.release()` lets the requests of /slow end.
 */
async function both (use, fallsBack = false) {
  const results = []
  for (const Framework of [Koa, Kone]) {
    const app = new Framework()
    app.silent = true
    const waiting = []
    app.use(async ctx => {
      if (ctx.path === '/slow') await new Promise(resolve => waiting.push(resolve))
      ctx.body = 'hello'
    })
    const server = app.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address()
    const plain = new Set() // local ports of clients that are no sockets of websockets
    const sockets = []
    server.on('connection', socket => sockets.push(socket))
    const site = {
      server,
      port,
      waiting,
      release: () => { for (const resolve of waiting.splice(0)) resolve() },
      ask: (path, agent) => ask(port, path, plain, agent)
    }
    try {
      results.push(await use(site))
      const kept = sockets.filter(socket => plain.has(socket.remotePort ?? socket.clientPort))
      if (Framework === Kone) assert.equal(kept.some(isNodes), fallsBack, 'who has the plain connections?')
    } finally {
      server.closeAllConnections()
      server.close(() => {})
    }
  }
  return results
}

async function ask (port, path, plain, agent = http.globalAgent) {
  const { status, headers, text, port: own } = await request(port, `GET ${path}`, { agent })
  plain.add(own)
  return [status, headers.connection, text]
}

describe("listeners on koa's server and on kone's", () => {
  const skip = share('in make test-all', false) // what installs many packages
  let agents
  before(() => { if (!skip) agents = install('agents') }) // not in a test: npm needs longer than a test may

  it('should work alike: socket.io by polling and by websocket', { timeout: 120000 }, async () => {
    const [koa, kone] = await both(async ({ server, port, ask }) => {
      const seen = []
      const sockets = new SocketServer(server)
      sockets.on('connection', socket => socket.on('ask', (what, reply) => reply(`${what}!`)))
      for (const transports of [['polling'], ['websocket'], ['polling', 'websocket']]) {
        const client = io(`http://127.0.0.1:${port}`, { transports, forceNew: true, reconnection: false })
        seen.push(await client.timeout(5000).emitWithAck('ask', transports[0]))
        client.disconnect()
        seen.push(await ask('/'))
      }
      const [status, , text] = await ask('/socket.io/?EIO=4&transport=polling')
      seen.push(status, text.replace(/"sid":"[^"]+"/, 'sid'))
      seen.push(await ask('/socket.io/?EIO=4&transport=none'))
      sockets.engine.close()
      return seen
    })
    assert.equal(koa.length, 9)
    assert.deepEqual(kone, koa)
  })

  it('should work alike: ws', { timeout: 120000 }, async () => {
    const [koa, kone] = await both(async ({ server, port, ask }) => {
      const wss = new WebSocket.Server({ server, path: '/chat' })
      wss.on('connection', (socket, req) => socket.on('message', data => socket.send(`${req.url} ${data}!`)))
      const client = new WebSocket(`ws://127.0.0.1:${port}/chat`)
      await once(client, 'open')
      client.send('one')
      const [data] = await once(client, 'message')
      const [err] = await once(new WebSocket(`ws://127.0.0.1:${port}/other`), 'error')
      const seen = [String(data), err.message, await ask('/')]
      client.close()
      await once(client, 'close')
      wss.close()
      return seen
    })
    assert.deepEqual(koa.slice(0, 2), ['/chat one!', 'Unexpected server response: 400'])
    assert.deepEqual(kone, koa)
  })

  it('should work alike: @godaddy/terminus', { timeout: 120000 }, async () => {
    const [koa, kone] = await both(async ({ server, ask }) => {
      let isFine = true
      createTerminus(server, {
        healthChecks: {
          async '/health' () {
            if (!isFine) throw new Error('not fine')
            return { fine: true }
          }
        },
        signals: [],
        logger: () => {}
      })
      const seen = [await ask('/'), await ask('/health'), await ask('/')]
      isFine = false
      return [...seen, await ask('/health')]
    })
    assert.deepEqual(koa.map(([status]) => status), [200, 200, 200, 503])
    assert.deepEqual(kone, koa)
  })

  it('should work alike: stoppable', { timeout: 120000 }, () => stops({
    name: 'stoppable',
    begin: server => stoppable(server, 60000),
    stop: server => new Promise(resolve => server.stop((err, isGraceful) => resolve([err, isGraceful])))
  }))

  it('should work alike: http-terminator', { timeout: 120000, skip }, () => stops({
    begin (server) {
      const { createHttpTerminator } = agents.require('http-terminator')
      return createHttpTerminator({ server, gracefulTerminationTimeout: 60000 })
    },
    stop: (server, terminator) => terminator.terminate()
  }))

  /** One connection is idle, one waits for its response: what happens to each when the server is to stop. */
  async function stops ({ begin, stop }) {
    const [koa, kone] = await both(async ({ server, port, ask, waiting, release }) => {
      const stopper = begin(server)
      const seen = [await ask('/')]
      const connections = await Promise.all(['/', '/slow'].map(async path => {
        const socket = net.connect({ port, host: '127.0.0.1' })
        let text = ''
        socket.on('data', chunk => { text += chunk })
        socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`)
        await until(() => path === '/slow' ? waiting.length > 0 : text.endsWith('hello'))
        return { socket, text: () => text.replace(/^Date: .*$/m, 'Date') }
      }))
      const [idle, busy] = connections
      const stopped = stop(server, stopper)
      if (!idle.socket.closed) await once(idle.socket, 'close')
      seen.push(idle.text(), busy.socket.closed, server.listening)
      release()
      if (!busy.socket.closed) await once(busy.socket, 'close')
      return [...seen, busy.text(), await stopped]
    })
    assert.match(koa[4], /hello$/)
    assert.deepEqual(kone, koa)
  }
})

/*
 * What tests of applications patch while a server runs: `begin(require)` → `{ seen, end, forget }`. The client is in the same
 * process. A request under way does not see it: `forget()` drops what it calls in koa.
 */
const MOCKS = {
  sinon: {
    begin (require) {
      const sandbox = require('sinon').createSandbox()
      const spies = ['setHeader', 'writeHead', 'write', 'end', 'emit'].map(name => sandbox.spy(http.ServerResponse.prototype, name))
      return {
        forget: () => sandbox.resetHistory(),
        seen: () => spies.map(({ displayName, args }) => [displayName, args.flat().map(one => typeof one === 'object' ? typeof one : one)]),
        end: () => sandbox.restore()
      }
    }
  },
  nock: {
    begin (require) {
      const nock = require('nock')
      if (!nock.isActive()) nock.activate()
      nock('http://outside.test').get('/').reply(200, 'mocked')
      return {
        seen: () => nock.isDone(),
        end () {
          nock.cleanAll()
          nock.restore()
        }
      }
    }
  },
  msw: {
    begin (require) {
      const { HttpResponse, http } = require('msw')
      const server = require('msw/node').setupServer(http.get('http://outside.test/', () => HttpResponse.text('mocked')))
      server.listen({ onUnhandledRequest: 'bypass' })
      return { seen: () => 'listened', end: () => server.close() }
    }
  }
}

describe('what tests patch while a server of koa and of kone runs', () => {
  const skip = share('in make test-all', false)
  let agents
  before(() => { if (!skip) agents = install('agents') })

  for (const [name, { begin }] of Object.entries(MOCKS)) {
    it(`should see the same, and change nothing else: ${name}`, { timeout: 120000, skip }, async () => {
      const [koa, kone] = await both(async ({ ask, release, waiting }) => {
        const agent = new http.Agent({ keepAlive: true })
        const underway = async () => {
          const response = ask('/slow', agent)
          await until(() => waiting.length > 0)
          return { response }
        }
        const seen = [await ask('/', agent)]

        const first = await underway() // a request that begins before the patch
        const { seen: ofTool, end, forget = () => {} } = begin(agents.require)
        try {
          release()
          seen.push(await first.response)
          forget()
          seen.push(await ask('/', agent))
          if (name !== 'sinon') seen.push(await (await fetch('http://outside.test/')).text())
          seen.push(ofTool())
          const second = await underway() // one that ends after it
          end()
          release()
          seen.push(await second.response)
        } finally {
          end()
        }
        seen.push(ofTool(), await ask('/', agent))
        agent.destroy()
        return seen
      }, name === 'sinon')
      assert.match(JSON.stringify(koa), name === 'sinon' ? /"end"/ : /mocked/)
      assert.deepEqual(kone, koa)
    })
  }
})

describe('plain pm2 start app.js -i 1', () => {
  const home = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'kone-pm2-')))
  const env = { ...process.env, PM2_HOME: path.join(home, 'pm2'), NODE_ENV: 'production', NODE_TEST_CONTEXT: undefined }
  const pm2 = (more, ...args) => run(process.execPath, [require.resolve('pm2/bin/pm2'), ...args], {
    cwd: home,
    env: { ...env, ...more },
    maxBuffer: 64e6
  })
  const portFile = name => path.join(home, `${name}.port`)
  const FRAMEWORKS = { koa: require.resolve('koa'), kone: path.join(__dirname, '../..') }
  // pm2's one primary gives all workers the same port for 0 of one address; macOS has 127.0.0.1 alone
  const HOSTS = { koa: process.platform === 'linux' ? '127.0.0.2' : '::1', kone: '127.0.0.1' }

  before(() => {
    for (const [name, file] of Object.entries(FRAMEWORKS)) {
      fs.writeFileSync(path.join(home, `${name}.js`), `
        const Koa = require(${JSON.stringify(file)})
        const warnings = []
        process.on('warning', ({ code }) => warnings.push(code))
        const app = new Koa()
        app.use(ctx => { ctx.body = { isNodes: 'parser' in ctx.req.socket, isPatched: server.emit !== require('node:events').prototype.emit, warnings } })
        const server = app.listen(0, process.env.HOST, () => {
          require('node:fs').writeFileSync(${JSON.stringify(portFile(name))}, String(server.address().port))
        })`)
    }
  })
  after(async () => {
    await pm2({}, 'kill')
    fs.rmSync(home, { recursive: true, force: true })
  })

  it("should measure the app's requests as koa's, on the front", { timeout: 120000 }, async () => {
    const responses = {}
    for (const name of Object.keys(FRAMEWORKS)) {
      const HOST = HOSTS[name]
      await pm2({ HOST }, 'start', `${name}.js`, '-i', '1')
      const port = await until(() => fs.existsSync(portFile(name)) && fs.readFileSync(portFile(name), 'utf8'))
      const ask = async () => (await fetch(`http://${HOST.includes(':') ? `[${HOST}]` : HOST}:${port}/`)).json()
      await until(() => ask().catch(() => false))
      for (let i = 0; i < 20; i++) responses[name] = await ask()
    }
    assert.deepEqual(responses, {
      koa: { isNodes: true, isPatched: true, warnings: [] },
      kone: { isNodes: false, isPatched: true, warnings: [] }
    })
    // what it has of the event loop comes once a minute
    const metrics = await until(async () => {
      const list = JSON.parse((await pm2({}, 'jlist')).stdout)
      const of = ({ pm2_env: { axm_monitor: monitor } }) => Object.keys(monitor).filter(key => key.startsWith('HTTP')).sort()
      const names = Object.fromEntries(list.map(one => [one.name, of(one)]))
      return names.koa.length > 2 && names.kone.length > 2 && names
    }, 60000)
    assert.deepEqual(metrics.koa, ['HTTP', 'HTTP Mean Latency', 'HTTP P95 Latency'])
    assert.deepEqual(metrics.kone, metrics.koa)
  })
})
