'use strict'

const assert = require('node:assert/strict')
const { subscribe } = require('node:diagnostics_channel')
const { once } = require('node:events')
const https = require('node:https')
const { before, describe, it } = require('node:test')
const { setImmediate: immediate } = require('node:timers/promises')
const { setFlagsFromString } = require('node:v8')
const { runInNewContext } = require('node:vm')
const { generate } = require('selfsigned')
const Kone = require('kone')
const session = require('kone/middleware/session')
const websocket = require('kone/middleware/websocket')
const { close } = require('../../lib/core/closing')
const { track } = require('../../lib/engines/drain')
const { connect, frame, handshake, requestOf, responseOf } = require('../helpers/handshake')
const share = require('../helpers/share')
const until = require('../helpers/until')

/** Guards in front of the route: `status` of the response, if the client gets one. */
const GUARDS = {
  passes: { fn: (ctx, next) => next(), status: 101 },
  waits: { fn: async (ctx, next) => { await immediate(); await immediate(); return next() }, status: 101 },
  refuses: { fn: ctx => ctx.throw(401), status: 401 },
  throws: { fn: () => { throw new Error('of the guard') }, status: 500 },
  'waits, and the client leaves': { fn: async (ctx, next) => { ctx.app.emit('waiting'); for (let i = 0; i < 50; i++) await immediate(); return next() }, leave: true },
  'waits, and the drain begins': { fn: async (ctx, next) => { ctx.app.emit('waiting'); await immediate(); return next() }, drain: true, status: 503 }
}

const HANDLERS = {
  loop: async socket => { for await (const message of socket) await socket.send(message) },
  events: socket => { socket.on('message', data => { socket.send(data) }) },
  sends: async socket => { while (socket.readyState === 1) await socket.send('x'.repeat(1000)).catch(() => {}) },
  'never reads': socket => socket.closed,
  throws: async () => { await immediate(); throw new Error('of the handler') },
  ends: () => {}
}

/** What ends a connection: for the client, or `app`. */
const ENDS = {
  close: client => client.write(frame('', 8)),
  RST: client => client.encrypted ? client.destroy() : client.resetAndDestroy(),
  'half-close': client => client.end(),
  'a close that has no response': () => {}, // of the handler, or of app.close()
  'app.close()': null,
  reload: null
}

/** As a worker that is replaced (cluster/worker.js) ends its app. test/cluster/on-close.test.js has real ones. */
const LIMITS = { grace: 0, timeout: 5000 }
const closings = new Set()
subscribe('kone:closing', closing => closings.add(closing))
const endWorker = (app, server) =>
  close([...closings].filter(one => one.app === app), [server], { ...LIMITS, before: false })

for (const isSecure of [false, true]) {
  for (const http1 of [true, false]) {
    describe(`every end of a WebSocket, ${http1 ? 'front' : 'node:http'}${isSecure ? ', TLS' : ''}`, { concurrency: 8 }, () => {
      let keys
      before(async () => {
        const { private: key, cert } = await generate([{ name: 'commonName', value: 'localhost' }])
        keys = { key, cert }
      })

      /** @param {boolean} isAlone messages come behind the 101: then the front keeps the handshake */
      async function run (guard, handler, end, isAlone) {
        const { fn, status, leave, drain } = GUARDS[guard]
        const app = new Kone({ http1 })
        const seen = { closed: [], finished: 0, handled: 0, ended: 0 }
        app.on('error', () => {})
        app.on('finish', () => { seen.finished++ })
        app.use(fn)
        app.use(websocket(async (socket, ctx) => {
          seen.handled++
          socket.on('close', code => seen.closed.push(code))
          try {
            await HANDLERS[handler](socket, ctx)
          } finally {
            seen.ended++
          }
        }, { maxPayload: 1000, heartbeat: 20 }))
        const server = isSecure ? app.attach(https.createServer(keys)).listen(0) : app.listen(0)
        track(server) // as a worker does
        await once(server, 'listening')
        const { port } = server.address()
        const client = await connect(port, { isSecure })
        const waiting = new Promise(resolve => app.once('waiting', resolve))
        const first = Buffer.concat([frame('one'), frame('two')])
        const closeAll = () => end === 'reload' ? endWorker(app, server) : app.close(LIMITS)
        client.write(Buffer.concat([Buffer.from(requestOf(port, '/')), ...isAlone ? [] : [first]]))
        let closing
        if (leave || drain) await waiting
        if (leave) (end === 'FIN' ? () => client.destroy() : ENDS[end])(client)
        if (drain) closing = closeAll()
        if (!leave) {
          const response = await responseOf(client)
          assert.equal(response.status, status)
        }
        if (status === 101) {
          client.resume() // reads on
          if (isAlone) client.write(first)
          for (let i = 0; i < 3; i++) client.write(frame('y'.repeat(500)))
          ENDS[end]?.(client)
        }
        await (closing ?? closeAll())
        const isRun = status === 101
        await until(() => seen.finished === 1 && (!isRun || seen.closed.length > 0)) // a tick behind its connection's end
        assert.deepEqual([seen.handled, seen.ended, seen.closed.length], isRun ? [1, 1, 1] : [0, 0, 0], JSON.stringify(seen))
        assert.equal(server[Symbol.for('kone.upgrade')].pending.size, 0)
        client.destroy()
      }

      const cases = Object.keys(GUARDS).flatMap(guard => GUARDS[guard].status !== 101
        ? (GUARDS[guard].leave ? ['FIN', 'RST', 'half-close'] : ['close', 'reload']).map(end => [guard, 'loop', end])
        : Object.keys(HANDLERS).flatMap(handler => Object.keys(ENDS).map(end => [guard, handler, end])))
      const every = share(9, 3, 1)

      cases.forEach(([guard, handler, end], i) => {
        if ((i + (http1 ? 0 : 4) + (isSecure ? 2 : 0)) % every !== 0) return
        const isAlone = (i + isSecure) % 2 === 0
        it(`should have one end: the guard ${guard}, the handler ${handler}, ${end}${isAlone ? '' : ', messages at once'}`, () => run(guard, handler, end, isAlone))
      })
    })
  }
}

describe('memory of a process whose WebSockets have ended', () => {
  it('should be as much after 12,000 as after 6,000', { skip: share.long('takes 10 s', false) }, async () => {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc')
    const app = new Kone({ keys: ['0123456789abcdef0123456789abcdef'] })
    app.use(session())
    app.use(websocket(async socket => { for await (const message of socket) await socket.send(message) }))
    const server = app.listen(0)
    await once(server, 'listening')
    const { port } = server.address()
    const leave = [...Object.values(ENDS).slice(0, 3), client => client.destroy()]
    async function wave () {
      const one = async (_, i) => {
        const client = await handshake(port, '/', { behind: frame('hi') })
        const closed = once(client.resume(), 'close')
        leave[i % leave.length](client)
        await closed
      }
      for (let i = 0; i < 3000; i += 40) await Promise.all(Array.from({ length: 40 }, one))
      for (let i = 0; i < 5; i++) {
        await immediate()
        collect()
      }
      const { heapUsed, rss } = process.memoryUsage()
      return { heap: heapUsed / 1e6, rss: rss / 1e6 }
    }
    const waves = [await wave(), await wave(), await wave(), await wave()]
    await app.close({ grace: 0 })
    const seen = JSON.stringify(waves)
    // one object more of each connection would be more in every wave; the process itself has grown behind the second
    assert(Math.min(...[1, 2, 3].map(i => waves[i].heap - waves[i - 1].heap)) < 0.15, seen)
    assert(waves[3].rss < waves[1].rss * 1.08, seen)
    assert.deepEqual(process.getActiveResourcesInfo().filter(name => /TCPSocket/.test(name)), [])
  })
})
