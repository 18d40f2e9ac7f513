'use strict'

const { after, before } = require('node:test')
const assert = require('node:assert/strict')
const { once } = require('node:events')
const fs = require('node:fs')
const net = require('node:net')
const path = require('node:path')
const multer = require('multer')
const isolate = require('kone/middleware/isolate')
const timeout = require('kone/middleware/timeout')
const upload = require('kone/middleware/upload')
const folder = require('../helpers/folder')
const frameworks = require('../helpers/frameworks')
const until = require('../helpers/until')

// However the response ends while a slow client still sends its form: no file, no descriptor and no
// listener is left, and what arrives later is not written.

const scratch = folder()

// ms in which a disk opens every second file: the form ends before
const SLOW = 40

const { open } = fs
let opened = 0
let opening = 0
before(() => {
  fs.open = function (file, ...args) {
    if (!String(file).startsWith(scratch)) return open(file, ...args)
    const done = args.pop()
    opening++
    setTimeout(open, opened++ % 2 === 0 ? 0 : SLOW, file, ...args, (...result) => {
      opening--
      done(...result)
    })
  }
})
after(() => { fs.open = open })

const file = (name, data) =>
  `--b\r\nContent-Disposition: form-data; name="${name}"; filename="${name}.txt"\r\n\r\n${data}\r\n`
const FIRST = file('one', 'x'.repeat(5000)) + file('two', 'y'.repeat(100000)).slice(0, 50000)
const REST = 'y'.repeat(50000) + `\r\n${file('three', 'z'.repeat(100000))}--b--\r\n`
const HEAD = `POST / HTTP/1.1\r\nHost: a\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: ${FIRST.length + REST.length}\r\n\r\n`

/**
 * A way to end: `use(app, seen, uploads)` registers the middleware, `seen` resolves when the first part is on disk;
 * `act({ socket, server, seen })` is what the client or the operator does then. `parts` false: no part is sent before.
 */
const WAYS = {
  'the time is over': { use: (app, seen, uploads) => app.use(timeout(50)).use(uploads) },
  'the time is over before the first part': {
    parts: false,
    use: (app, seen, uploads) => app.use(timeout(20)).use(uploads)
  },
  'an error is isolated': {
    use: (app, seen, uploads) => app.use(isolate()).use((ctx, next) => {
      seen.then(() => setImmediate(() => { throw new Error('stray') }))
      return next()
    }).use(uploads)
  },
  'a middleware in front refuses it': {
    use: (app, seen, uploads) => app.use((ctx, next) => {
      const refused = seen.then(() => ctx.throw(403))
      return Promise.race([refused, next()])
    }).use(uploads)
  },
  'a middleware in front refuses it before the first part': {
    parts: false,
    use: (app, seen, uploads) => app.use((ctx, next) => {
      next().catch(() => {})
      ctx.throw(401)
    }).use(uploads)
  },
  'a middleware in front responds': {
    use: (app, seen, uploads) => app.use(async (ctx, next) => {
      await Promise.race([seen, next()])
      ctx.body = 'thank you'
    }).use(uploads)
  },
  'the app writes to ctx.res itself': {
    use: (app, seen, uploads) => app.use((ctx, next) => {
      ctx.respond = false
      seen.then(() => ctx.res.end('early'))
      return next()
    }).use(uploads)
  },
  'the app destroys ctx.res': {
    use: (app, seen, uploads) => app.use((ctx, next) => {
      seen.then(() => ctx.res.destroy())
      return next()
    }).use(uploads)
  },
  'the client aborts': { act: ({ socket }) => socket.resetAndDestroy() },
  'the client ends too early': { act: ({ socket }) => socket.end() },
  'the server is closed': { act: ({ server }) => server.closeAllConnections() },
  'the body is no form': {
    act: ({ socket }) => socket.write(`${'y'.repeat(50000)}\r\n--b\r\nno header\r\n\r\n${REST}`)
  },
  'a file is over the limit': { options: { limits: { fileSize: 40000 } } },
  'there are too many files': { options: { limits: { files: 1 } } },
  'a field takes no more': { options: { fields: [{ name: 'one', maxCount: 1 }, { name: 'three' }] } },
  'the filter throws': {
    options: { filter: (ctx, { fieldname }) => { if (fieldname === 'two') throw new Error('no') } }
  },
  'the filter decides after the end': {
    use (app, seen, uploads) {
      app.use(async (ctx, next) => {
        await Promise.race([seen, next()])
        ctx.body = 'thank you'
      }).use(uploads)
    },
    options: { filter: (ctx, { fieldname }) => fieldname === 'one' || once(ctx.res, 'close').then(() => true) }
  }
}

const STORAGES = {
  'a folder': dest => ({ dest }),
  "multer's folder": destination => ({ storage: multer.diskStorage({ destination }) })
}

frameworks('upload, when the response ends early', ({ it, Koa, listen }) => {
  for (const [title, way] of Object.entries(WAYS)) {
    for (const [where, options] of Object.entries(STORAGES)) {
      it(`should leave nothing in ${where} when ${title}`, () => check(way, options))
    }
  }

  async function check (way, storage) {
    const { use = (app, seen, uploads) => app.use(uploads), act = () => {}, parts = true, options } = way
    const dest = fs.mkdtempSync(path.join(scratch, 'dest-'))
    let reached = false
    let before, req, release
    const seen = new Promise(resolve => { release = resolve })
    const app = new Koa().use((ctx, next) => {
      if (ctx.method === 'GET') {
        ctx.body = 'next'
        return
      }
      req ??= ctx.req
      before ??= listeners(req)
      return next()
    })
    use(app, seen, upload({ ...storage(dest), ...options }))
    app.use(() => { reached = true })

    const { port, server } = await listen(app)
    const socket = net.connect(port, '127.0.0.1')
    socket.on('error', () => {})
    let answer = ''
    socket.on('data', chunk => { answer += chunk })
    const closed = new Promise(resolve => socket.on('close', resolve))
    socket.write(HEAD)
    if (parts) {
      socket.write(FIRST)
      // some ways end as soon as the parts are there
      await until(() => fs.readdirSync(dest).length > 0 || answer !== '')
    }
    release()
    act({ socket, server })

    // what comes later, and another request, if the connection is kept
    if (socket.writable) await until(() => answer !== '' || socket.destroyed)
    if (!/^connection: close/im.test(answer) && socket.writable) {
      socket.write((parts ? '' : FIRST) + REST)
      socket.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
    }
    await closed

    assert.equal(reached, false)
    await until(() => opening === 0)
    await until(() => descriptors(dest).length === 0)
    await until(() => fs.readdirSync(dest).length === 0)
    await until(() => isSubset(listeners(req), before))
  }
})

/** How many of each event, without node's own, which waits for the end of what it has not read. */
function listeners (emitter) {
  return Object.fromEntries(emitter.eventNames().map(name => [
    name, emitter.listeners(name).filter(fn => fn.name !== 'clearIncoming').length
  ]))
}

function isSubset (some, of) {
  return Object.entries(some).every(([name, count]) => count <= (of[name] ?? 0))
}

/** The open files of this process below a folder. */
function descriptors (folder) {
  if (process.platform !== 'linux') return []
  return fs.readdirSync('/proc/self/fd').filter(fd => {
    try {
      return fs.readlinkSync(`/proc/self/fd/${fd}`).startsWith(folder)
    } catch {
      return false // closed by now
    }
  })
}
