'use strict'

const assert = require('node:assert/strict')
const { execFile } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const http = require('node:http')
const https = require('node:https')
const os = require('node:os')
const path = require('node:path')
const { after, before, describe, it } = require('node:test')
const { promisify } = require('node:util')
const { generate } = require('selfsigned')
const Kone = require('kone')
const Router = require('kone/middleware/router')
const session = require('kone/middleware/session')
const websocket = require('kone/middleware/websocket')
const { make } = require('../deploy/site')
const { launch } = require('../e2e/demo')
const { freePort, onFreePort } = require('../helpers/ports')
const { missing, which } = require('../helpers/programs')
const python = require('../helpers/python')

/*
 * Clients that others have written: a guard by the session, a foreign Origin, text, bytes, a ping and a close.
 */

const CLIENTS = path.join(__dirname, 'websocket-clients')
const run = promisify(execFile)

describe('websocket and clients of others', () => {
  const closing = []
  const ports = {}
  let app, folder
  after(async () => {
    for (const close of closing.reverse()) await close()
  })

  before(async () => {
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'kone-clients-'))
    closing.push(() => fs.rmSync(folder, { recursive: true }))
    const { private: key, cert } = await generate([{ name: 'commonName', value: 'localhost' }])
    app = new Kone({ keys: ['0123456789abcdef0123456789abcdef'], proxy: 1, env: 'production' })
    app.refused = []
    const login = (ctx, next) => ctx.session.user ? next() : ctx.throw(401, 'who?')
    app.use((ctx, next) => {
      ctx.onFinished(() => { if (ctx.status === 403) app.refused.push(ctx.get('Origin')) })
      return next()
    })
    app.use(session())
    app.use(new Router()
      .get('/', ctx => {
        ctx.session.user = 'ann'
        ctx.type = 'html'
        ctx.body = '<!doctype html><title>chat</title><link rel="icon" href="data:,">'
      })
      .get('/healthz', ctx => { ctx.body = 'ok' })
      .get('/chat', login, websocket(async (socket, ctx) => {
        for await (const message of socket) {
          if (message === 'bye') socket.close(4000, `bye, ${ctx.session.user}`)
          else await socket.send(message)
        }
      }, { protocols: ['chat'] })).routes())
    const servers = { plain: app.listen(0), TLS: app.attach(https.createServer({ key, cert })).listen(0) }
    for (const [name, server] of Object.entries(servers)) {
      if (!server.listening) await once(server, 'listening')
      ports[name] = server.address().port
    }
    closing.push(() => app.close({ grace: 0 }))
    if (which('nginx') === null) return
    const site = await onFreePort(async port => {
      const made = await make({ hosts: [`127.0.0.1:${ports.plain}`, `127.0.0.1:${ports.plain}`], port, plain: await freePort() })
      await made.start().catch(async err => {
        await made.stop()
        throw err
      })
      ports.nginx = port
      return made
    })
    closing.push(() => site.stop())
  })

  const cookieOf = async () => {
    const { headers } = await app.inject('/')
    return headers['set-cookie'].map(line => line.split(';')[0]).join('; ')
  }
  const OPEN = { text: 'hi', size: 256_000, protocol: 'chat', code: 4000, reason: 'bye, ann' }

  /** @param {Function} client `(url, cookie, origin)` → what it prints */
  async function tell (client) {
    const cookie = await cookieOf()
    const urls = [`ws://127.0.0.1:${ports.plain}`, `wss://127.0.0.1:${ports.TLS}`]
    if (ports.nginx !== undefined) urls.push(`wss://127.0.0.1:${ports.nginx}`)
    for (const url of urls) {
      const see = async (...args) => JSON.parse((await client(`${url}/chat`, ...args)).stdout)
      assert.deepEqual(await see(cookie, ''), OPEN, url)
      assert.deepEqual(await see(cookie, url.replace('ws', 'http')), OPEN, url)
      assert.deepEqual(await see('', ''), { status: 401, body: 'who?' }, url)
      assert.deepEqual(await see(cookie, 'https://evil.example'), { status: 403, body: 'Forbidden' }, url)
    }
  }

  it('should be open for Python, on a port, over TLS and behind nginx', { skip: missing('python3') || missing('nginx') }, async t => {
    const bin = python('websockets', ['websockets==15.*'], t)
    if (bin !== null) await tell((...args) => run(path.join(bin, 'python'), [path.join(CLIENTS, 'client.py'), ...args]))
  })

  it('should be open for Go, on a port, over TLS and behind nginx', { skip: missing('go') || missing('nginx') }, async () => {
    const program = path.join(folder, 'client')
    await run(which('go'), ['build', '-o', program, '.'], { cwd: CLIENTS })
    await tell((...args) => run(program, args))
  })

  it('should be open for the page of a browser, with its session, and not for that of another host', { skip: missing('chromium') }, async () => {
    const other = http.createServer((req, res) => {
      res.setHeader('Content-Type', 'text/html')
      res.end('<!doctype html><link rel="icon" href="data:,">')
    }).listen(0)
    closing.push(() => other.close())
    const browser = await launch()
    closing.push(() => browser.close())
    const page = await browser.newPage({ ignoreHTTPSErrors: true })
    const see = url => page.evaluate(async url => {
      const socket = new WebSocket(url, ['chat'])
      const seen = {}
      socket.onopen = () => socket.send('hi')
      socket.onmessage = ({ data }) => {
        seen.text = data
        socket.send('bye')
      }
      return new Promise(resolve => {
        socket.onclose = ({ code, reason }) => resolve({ ...seen, protocol: socket.protocol, code, reason })
      })
    }, url)
    const { size, ...open } = OPEN
    for (const name of ['plain', 'TLS', ...ports.nginx === undefined ? [] : ['nginx']]) {
      const host = `localhost:${ports[name]}`
      await page.goto(`http${name === 'plain' ? '' : 's'}://${host}/`)
      assert.deepEqual(await see('/chat'), open, name) // a relative URL, as in the guide
    }
    app.refused.length = 0
    const origin = `http://localhost:${other.address().port}`
    await page.goto(origin) // of the same site: its requests have the cookie
    assert.deepEqual(await see(`ws://localhost:${ports.plain}/chat`), { protocol: '', code: 1006, reason: '' })
    assert.deepEqual(app.refused, [origin])
  })
})
