'use strict'

const { before, describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { fork } = require('node:child_process')
const { once } = require('node:events')
const http = require('node:http')
const https = require('node:https')
const net = require('node:net')
const path = require('node:path')
const zlib = require('node:zlib')
const { generate } = require('selfsigned')

const { install } = require('../helpers/area')
const request = require('../helpers/request')
const share = require('../helpers/share')
const { rows } = require('../engines/http1/readme')
const AGENTS = require('./agents')
const READ = require('./read')

/** What servers.test.js has. */
const LISTENERS = ['socket.io', 'ws', '@godaddy/terminus', 'stoppable', 'http-terminator', 'pm2']

/** They patch methods of node's prototypes. */
const NODES = ['dd-trace', 'newrelic', 'elastic-apm-node']

/** What an agent sends to its backend: the body of each request, read by `READ[agent]`. */
async function collect (agent) {
  const received = []
  const { respond = () => '{}' } = READ[agent]
  const listener = async (req, res) => {
    const chunks = []
    for await (const chunk of req) chunks.push(chunk)
    const bytes = Buffer.concat(chunks)
    const encoding = req.headers['content-encoding']
    const body = encoding === 'gzip' ? zlib.gunzipSync(bytes) : encoding === 'deflate' ? zlib.inflateSync(bytes) : bytes
    received.push({ method: req.method, url: req.url, type: req.headers['content-type'], body })
    res.setHeader('Content-Type', 'application/json')
    res.end(respond(req))
  }
  const certificate = AGENTS[agent].isSecure ? await generate([{ name: 'commonName', value: 'localhost' }]) : undefined
  const server = certificate
    ? https.createServer({ key: certificate.private, cert: certificate.cert }, listener)
    : http.createServer(listener)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `${certificate ? 'https' : 'http'}://127.0.0.1:${server.address().port}`,
    received,
    close () {
      server.closeAllConnections()
      server.close()
    }
  }
}

/** One app with one agent: what its clients received, what the agent sent, and what the app says at the end. */
async function observe (agent, framework, comes) {
  const collector = await collect(agent)
  const { url } = collector
  const child = fork(path.join(__dirname, 'child.js'), [JSON.stringify({ agent, framework, comes, url })], {
    env: { ...process.env, NODE_ENV: 'production', NODE_TEST_CONTEXT: undefined, NODE_OPTIONS: '' },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc']
  })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => { printed += chunk })
  const message = async () => {
    const [value] = await Promise.race([once(child, 'message'), once(child, 'exit')])
    assert(value !== null && typeof value === 'object', `${agent} in ${framework} ended: ${value}\n${printed}`)
    return value
  }
  try {
    const { port } = await message()
    const responses = await visit(port)
    await leaves(port, message)
    await new Promise(resolve => setTimeout(resolve, 20))
    child.send('flush')
    const { log, isNodes, warnings } = await message()
    const sent = READ[agent].read(collector.received, String(port))
    return { responses, log, isNodes, warnings, sent }
  } finally {
    child.kill()
    collector.close()
  }
}

async function visit (port) {
  const keepAlive = new http.Agent({ keepAlive: true, maxSockets: 1 })
  const responses = []
  for (const [line, body] of [
    ['GET /users/7?a=b'], ['GET /error'], ['POST /echo', 'some body'], ['GET /stream'], ['HEAD /users/8'], ['GET /nowhere'],
    ['PUT /echo', 'x'], ['GET /users/9']
  ]) responses.push(await ask(port, keepAlive, line, body))
  keepAlive.destroy()
  responses.push(await pipelined(port))
  return responses
}

async function ask (port, agent, line, body) {
  const { status, rawHeaders, text } = await request(port, line, { agent, headers: { host: 'example.com', 'user-agent': 'test' }, body })
  return [line, status, rawHeaders.filter((value, i) => rawHeaders[i - (i % 2)].toLowerCase() !== 'date'), text]
}

async function pipelined (port) {
  const socket = net.connect({ port, host: '127.0.0.1' })
  const get = (path, more = '') => `GET ${path} HTTP/1.1\r\nHost: example.com\r\n${more}\r\n`
  socket.write(get('/users/10') + get('/users/11', 'Connection: close\r\n'))
  let text = ''
  for await (const chunk of socket) text += chunk
  return text.replace(/^Date: .*$/gm, 'Date')
}

/** A client that leaves while the app waits. */
async function leaves (port, message) {
  const socket = net.connect({ port, host: '127.0.0.1' })
  socket.write('GET /left HTTP/1.1\r\nHost: example.com\r\n\r\n')
  assert.deepEqual(await message(), { isWaiting: true })
  socket.destroy()
}

describe('agents', () => {
  before(() => { install('agents') })

  it('should be those of the table in lib/front/README.md', () => {
    const expected = [...Object.keys(AGENTS), ...LISTENERS].map(name => [name, NODES.includes(name) ? 'node:http' : 'stays'])
    assert.deepEqual(rows('Who watches every request', 'Watcher').map(([name, front]) => [name, front]), expected)
  })

  const after = new Set(share.third(Object.keys(AGENTS)))
  for (const name of Object.keys(AGENTS)) {
    // Loaded after the framework, an agent does not see its middleware, but still what it patches of node's.
    for (const comes of after.has(name) ? ['before', 'after'] : ['before']) {
      it(`should see in kone what they see in koa: ${name}, loaded ${comes} it`, { timeout: 300000 }, async () => {
        const [koa, kone] = await Promise.all(['koa', 'kone'].map(framework => observe(name, framework, comes)))
        assert.deepEqual(kone.responses, koa.responses)
        assert.deepEqual(kone.log, koa.log)
        assert.match(JSON.stringify(koa.sent), /\/users\/.*\/echo/, 'the agent has seen requests')
        assert.deepEqual(kone.sent, koa.sent)
        assert.deepEqual(kone.isNodes, koa.isNodes.map(() => NODES.includes(name)), 'does node:http serve them?')
        assert.deepEqual(kone.warnings, [])
      })
    }
  }
})
