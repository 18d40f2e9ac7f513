'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { fork } = require('node:child_process')
const { once } = require('node:events')
const net = require('node:net')
const { Readable } = require('node:stream')

/** Streams that give their chunks in microtasks alone, without an end. */
const BODIES = {
  'a web stream': () => web(),
  'Readable.fromWeb()': () => Readable.fromWeb(web()),
  'an async generator': () => Readable.from((async function * () { for (;;) yield Buffer.alloc(20_000) })()),
  'a Response': () => new Response(web())
}

function web () {
  return new ReadableStream({ pull: controller => controller.enqueue(new Uint8Array(20_000)) })
}

if (process.send && process.argv[2] === 'serve') serve()
else test()

function serve () {
  const Kone = require('kone')
  const app = new Kone({ http1: process.argv[3] === 'front' })
  app.silent = true
  app.use(ctx => {
    const name = decodeURIComponent(ctx.path.slice(1))
    ctx.body = name === 'ok' ? 'ok' : BODIES[name]()
  })
  const server = app.listen(0, '127.0.0.1', () => process.send(server.address().port))
  process.on('disconnect', () => process.exit())
}

function test () {
  describe('a stream that never waits', () => {
    for (const engine of ['front', 'node:http']) {
      for (const name of Object.keys(BODIES)) {
        it(`should not keep the process from noticing a client that leaves: ${name}, ${engine}`, async () => {
          const child = fork(__filename, ['serve', engine], { execArgv: [] })
          const timer = setTimeout(() => child.kill('SIGKILL'), 20_000) // one that is starved does not end by itself
          try {
            const [port] = await once(child, 'message')
            for (let i = 0; i < 3; i++) {
              const socket = net.connect(port, '127.0.0.1')
              socket.write(`GET /${encodeURIComponent(name)} HTTP/1.1\r\nHost: a\r\n\r\n`)
              let size = 0
              socket.on('data', chunk => { if ((size += chunk.length) > 1e6) socket.destroy() })
              await once(socket, 'close')
            }
            const res = await fetch(`http://127.0.0.1:${port}/ok`)
            assert.equal(await res.text(), 'ok')
          } finally {
            clearTimeout(timer)
            child.kill('SIGKILL')
          }
        })
      }
    }
  })
}
