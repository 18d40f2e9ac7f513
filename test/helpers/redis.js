'use strict'

const { spawn } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs/promises')
const net = require('node:net')
const os = require('node:os')
const path = require('node:path')
const { setTimeout: sleep } = require('node:timers/promises')

/**
 * Start a real redis-server on a free port; what it was told survives kill and restart.
 *
 *    const server = await startRedis(need('redis-server'))
 *    const client = new Redis(server.port)
 *    await server.kill()      // SIGKILL
 *    await server.restart()   // on the same port
 *    await server.stop()      // and remove its files
 *
 * @param {String} program path of redis-server
 * @return {Promise<Object>} port, kill(), restart(), pause(), resume(), stop()
 */
module.exports = async function startRedis (program) {
  const dir = await fs.mkdtemp(path.join(os.tmpdir(), 'kone-redis-'))
  const port = await freePort()
  let child = await start(program, port, dir)

  const kill = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  }

  return {
    port,
    kill,
    async restart () { child = await start(program, port, dir) },
    /** Connections stay open, nothing is answered. */
    pause () { child.kill('SIGSTOP') },
    resume () { child.kill('SIGCONT') },
    async stop () {
      await kill()
      await fs.rm(dir, { recursive: true, force: true })
    }
  }
}

async function start (program, port, dir) {
  const child = spawn(program, [
    '--port', String(port), '--bind', '127.0.0.1', '--dir', dir,
    '--save', '', '--appendonly', 'yes', '--appendfsync', 'always'
  ], { stdio: 'ignore' })
  // a test that dies leaves no server behind
  const end = () => child.kill('SIGKILL')
  process.once('exit', end)
  child.once('exit', () => process.off('exit', end))

  while (!await answers(port)) {
    if (child.exitCode !== null) throw new Error(`redis-server ended with ${child.exitCode}`)
    await sleep(10)
  }
  return child
}

/** Whether a PING is answered: while it reads its file it answers, but not with PONG. */
function answers (port) {
  return new Promise(resolve => {
    const socket = net.connect(port, '127.0.0.1', () => socket.write('PING\r\n'))
    socket.once('data', data => {
      socket.destroy()
      resolve(data.toString().startsWith('+PONG'))
    })
    socket.once('error', () => resolve(false))
    socket.once('close', () => resolve(false))
  })
}

async function freePort () {
  const server = net.createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  await once(server, 'close')
  return port
}
