'use strict'

const { spawn } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs/promises')
const os = require('node:os')
const path = require('node:path')
const pause = require('./pause')
const { onFreePort } = require('./ports')
const { need } = require('./programs')

/**
 * Start a real redis-server on a free port; what it stored survives kill and restart.
 *
 *    const server = await startRedis(need('redis-server'))
 *    const client = new Redis(server.port)
 *    await server.kill()      // SIGKILL
 *    await server.restart()   // on the same port
 *    await server.stop()      // and remove its files
 */
module.exports = async function startRedis (program) {
  const dir = await fs.mkdtemp(path.join(os.tmpdir(), 'kone-redis-'))
  let { port, child } = await onFreePort(async port => ({ port, child: await start(program, port, dir) }))

  const kill = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  }

  return {
    port,
    kill,
    async restart () { child = await start(program, port, dir) },
    /** Connections stay open, nothing gets a response from when this resolves. */
    pause: () => pause(child),
    resume () { child.kill('SIGCONT') },
    async stop () {
      await kill()
      await fs.rm(dir, { recursive: true, force: true })
    }
  }
}

async function start (program, port, dir) {
  // Redis hands a write to the kernel before it replies, and the kernel keeps it when the process is killed. Only a
  // host that loses power needs fsync, which takes seconds on a disk that others keep busy: longer than stores wait.
  const child = spawn(program, [
    '--port', String(port), '--bind', '127.0.0.1', '--dir', dir,
    '--save', '', '--appendonly', 'yes', '--appendfsync', 'no'
  ], { stdio: ['ignore', 'pipe', 'ignore'] })
  // a test that dies leaves no server behind
  const end = () => child.kill('SIGKILL')
  process.once('exit', end)
  child.once('exit', () => process.off('exit', end))

  // not a PING, to which somebody else's server on this port would respond
  let printed = ''
  await new Promise((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', text => {
      printed += text
      if (/Ready to accept connections/.test(printed)) resolve()
    })
    child.once('error', reject)
    child.once('close', code => reject(new Error(`redis-server ended with ${code}:\n${printed}`)))
  })
  return child
}

/**
 * The two clients of Redis, connected: `{ client, stop }`. They reconnect every 50 ms.
 *
 *    const { client, stop } = await startRedis.CLIENTS.ioredis(server.port)
 */
module.exports.CLIENTS = {
  async ioredis (port) {
    const Redis = require('ioredis')
    const client = new Redis(port, '127.0.0.1', { maxRetriesPerRequest: null, retryStrategy: () => 50 })
    await client.ping() // the 5 s of a store are for its operations, not for the connection
    return { client, stop: () => client.disconnect() }
  },

  async redis (port) {
    const client = require('redis').createClient({ socket: { host: '127.0.0.1', port, reconnectStrategy: () => 50 } })
    client.on('error', () => {})
    await client.connect()
    return { client, stop: () => client.destroy() }
  }
}

/**
 * A server and a client of it until the test is over.
 *
 *    const { server, client } = await startRedis.connected(t, startRedis.CLIENTS.ioredis)
 *    await server.kill()
 */
module.exports.connected = async function (t, connect) {
  const server = await module.exports(need('redis-server'))
  const { client, stop } = await connect(server.port)
  t.after(async () => {
    await stop()
    await server.stop()
  })
  return { server, client, ttlOf: async key => Number(await (client.pTTL ? client.pTTL(key) : client.pttl(key))) }
}
