'use strict'

const fs = require('node:fs')
const { once } = require('node:events')
const http = require('node:http')
const { finished, pipeline, PassThrough, Readable } = require('node:stream')
const zlib = require('node:zlib')

const { sideBySide } = require('./side-by-side')

/*
 * Published packages that hold node's req and res, and what node itself offers with them. Each row is a package, used as
 * its readme says; every row runs all the exchanges of side-by-side.js, and its own. heavy.once.long.test.js has those that bring
 * many packages.
 */

const gzip = { 'accept-encoding': 'gzip' }
const json = { 'content-type': 'application/json' }
const form = { 'content-type': 'application/x-www-form-urlencoded' }

// ---- express

for (const [name, express] of [['express 4', require('express4')], ['express 5', require('express')]]) {
  sideBySide(name, {
    set (app, { connect, log }) {
      const site = express()
      site.disable('etag')
      site.use('/express', express.json())
      site.get('/express', (req, res) => res.send('sent'))
      site.post('/express', (req, res) => res.status(201).json({ got: req.body }))
      site.get('/express/file', (req, res) => res.sendFile(__filename, { lastModified: false }))
      site.get('/express/moved', (req, res) => res.redirect('/'))
      site.get('/express/cookie', (req, res) => res.cookie('a', 'b').type('txt').end('cookie'))
      site.get('/express/pieces', (req, res) => {
        res.write('one ')
        setImmediate(() => res.end('two'))
      })
      site.get('/express/fails', () => { throw new Error('in express') })
      site.use('/express/fails', (err, req, res, next) => {
        log('express failed', err.message, res.headersSent)
        res.status(502).send('failed')
      })
      app.use(connect(site))
    },
    exchanges: {
      'res.send, res.json, res.redirect, res.cookie': [
        ['GET /express'], ['POST /express', json, '{"a":[1]}'], ['HEAD /express'], ['GET /express/moved'], ['GET /express/cookie']
      ],
      'res.sendFile': [['GET /express/file'], ['GET /express/file', { range: 'bytes=0-9' }], ['HEAD /express/file']],
      'res.write': [['GET /express/pieces'], ['GET /express']],
      'errors of express': [['GET /express/fails'], ['POST /express', json, '{'], ['GET /express']]
    },
    mask: text => text.replace(/(?:at |&nbsp;)[^\n]+/g, '')
  })
}

// ---- middleware of connect's kind

sideBySide('on-headers', {
  set (app, { log }) {
    const onHeaders = require('on-headers')
    app.use((ctx, next) => {
      onHeaders(ctx.res, function () {
        log('headers', this.statusCode, this.getHeaderNames())
        this.setHeader('X-Late', String(this.statusCode))
      })
      return next()
    })
  }
})

sideBySide('on-finished', {
  set (app, { log }) {
    const onFinished = require('on-finished')
    app.use((ctx, next) => {
      onFinished(ctx.res, () => {}) // as koa does
      onFinished(ctx.req, err => log('req finished', err?.code))
      onFinished(ctx.res, (err, res) => log('res finished', err?.code, res.statusCode, onFinished.isFinished(res)))
      log(onFinished.isFinished(ctx.req), onFinished.isFinished(ctx.res))
      return next()
    })
  }
})

sideBySide('ee-first', {
  set (app, { log }) {
    const first = require('ee-first')
    app.use((ctx, next) => {
      first([[ctx.res, 'finish', 'close', 'error'], [ctx.req, 'aborted']], (err, emitter, event) => {
        log(event, emitter === ctx.res, err?.code)
      })
      return next()
    })
  }
})

sideBySide('compression', {
  set (app, { connect }) { app.use(connect(require('compression')({ threshold: 500 }))) },
  exchanges: {
    gzip: [['GET /text', gzip], ['GET /', gzip], ['HEAD /text', gzip], ['GET /error', gzip]],
    'gzip of streams': [['GET /stream', gzip], ['GET /large', gzip, undefined, { isSlow: true }], ['GET /']]
  }
})

sideBySide('morgan', {
  set (app, { connect, log }) {
    const format = ':method :url :status :res[content-length] :http-version :req[host]'
    app.use(connect(require('morgan')(format, { stream: { write: line => log(line) } })))
  }
})

sideBySide('koa-morgan', {
  set (app, { log }) { app.use(require('koa-morgan')('combined', { stream: { write: line => log(line) } })) },
  mask: text => text.replace(/\[\d\d\/\w+\/\d{4}:[^\]]+\]/g, '[TIME]')
})

sideBySide('cookie-session', {
  set (app, { connect }) { app.use(connect(require('cookie-session')({ keys: ['a'], maxAge: null }))) },
  routes: {
    '/count': ctx => {
      ctx.req.session.views = (ctx.req.session.views || 0) + 1
      ctx.body = { views: ctx.req.session.views }
    },
    '/leave': ctx => { ctx.req.session = null; ctx.body = 'left' }
  },
  exchanges: { 'a session': [['GET /count'], ['GET /count'], ['GET /leave'], ['GET /count']] }
})

sideBySide('helmet', { set (app, { connect }) { app.use(connect(require('helmet')())) } })

sideBySide('koa-helmet', { set (app) { app.use(require('koa-helmet')()) } })

// ---- loggers

/** A line of pino without what differs each time. */
const maskPino = text => text.replace(/\\?"(time|pid|responseTime|remotePort)\\?":[\d.]+/g, '$1')
  .replace(/\\?"hostname\\?":\\?"[^"\\]*\\?"/g, 'hostname')
  .replace(/\\?"stack\\?":\\?"(?:[^"\\]|\\\\n|\\\\\\\\)*\\?"/g, 'stack')

sideBySide('pino-http', {
  set (app, { connect, log }) {
    const pino = require('pino-http')({ genReqId: () => 'id' }, { write: line => log(line) })
    app.use((ctx, next) => {
      pino(ctx.req, ctx.res)
      ctx.req.log.info('seen')
      return next()
    })
  },
  mask: maskPino
})

sideBySide('koa-pino-logger', {
  set (app, { log }) { app.use(require('koa-pino-logger')({ genReqId: () => 'id' }, { write: line => log(line) })) },
  mask: maskPino
})

// ---- proxies

/** What is behind a proxy: it reports what it received, streams, or fails. */
async function upstream () {
  const server = http.createServer((req, res) => {
    if (req.url === '/behind/fails') return res.destroy()
    if (req.url === '/behind/stream') {
      res.write('one ')
      return setImmediate(() => res.end('two'))
    }
    if (req.url === '/behind/large') return pipeline(Readable.from(Array.from({ length: 24 }, () => Buffer.alloc(32768))), res, () => {})
    let length = 0
    req.on('data', chunk => { length += chunk.length })
    req.on('end', () => {
      const status = req.method === 'POST' ? 201 : 200
      res.writeHead(status, 'Behind', { 'Content-Type': 'application/json', 'Set-Cookie': ['a=1', 'b=2'], 'X-Behind': 'yes' })
      res.end(JSON.stringify({ method: req.method, url: req.url, length, type: req.headers['content-type'] }))
    })
  })
  server.keepAliveTimeout = 60000 // as that of the site
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    close () {
      server.closeAllConnections()
      return new Promise(resolve => server.close(resolve))
    }
  }
}

const PROXIED = {
  'what is behind': [['GET /behind/x?a=1'], ['HEAD /behind/x'], ['POST /behind/x', json, '{"a":1}'], ['GET /']],
  'a stream from behind': [['GET /behind/stream'], ['GET /behind/large', {}, undefined, { isSlow: true }], ['GET /']],
  'a large body to what is behind': [['PUT /behind/x', {}, 'x'.repeat(400000)], ['GET /']],
  'a failure behind': [['GET /behind/fails'], ['GET /']]
}
const maskUpstream = text => text.replace(/127\.0\.0\.1:\d+/g, 'UPSTREAM')
const isBehind = ctx => ctx.path.startsWith('/behind')

sideBySide('http-proxy', {
  async set (app, { log }) {
    const { createProxyServer } = require('http-proxy')
    const behind = await upstream()
    const proxy = createProxyServer({ target: behind.url })
    app.use((ctx, next) => {
      if (!isBehind(ctx)) return next()
      ctx.respond = false
      proxy.web(ctx.req, ctx.res, {}, (err, req, res) => {
        log('proxy failed', err.code, req === ctx.req, res === ctx.res)
        res.writeHead(502, { 'Content-Type': 'text/plain' })
        res.end('no gateway')
      })
    })
    return behind
  },
  exchanges: PROXIED,
  mask: maskUpstream
})

sideBySide('koa-proxies', {
  async set (app) {
    const behind = await upstream()
    app.use(require('koa-proxies')('/behind', { target: behind.url, changeOrigin: true }))
    return behind
  },
  exchanges: PROXIED,
  mask: maskUpstream
})

sideBySide('koa-better-http-proxy', {
  async set (app) {
    const behind = await upstream()
    app.use(require('koa-better-http-proxy')(behind.url, { filter: isBehind, parseReqBody: false }))
    return behind
  },
  exchanges: PROXIED,
  mask: maskUpstream
})

// ---- bodies

const BOUNDARY = 'b0undary'
const multipart = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` }
const parts = (...list) => list.map(([name, value, file]) => `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"` +
  `${file ? `; filename="${file}"\r\nContent-Type: text/plain` : ''}\r\n\r\n${value}\r\n`).join('') + `--${BOUNDARY}--\r\n`
const UPLOAD = parts(['title', 'hello'], ['file', 'text', 'a.txt'])
const LARGE_UPLOAD = parts(['title', 'hello'], ['file', 'x'.repeat(300000), 'b.txt'])
const UPLOADS = {
  uploads: [['POST /upload', multipart, UPLOAD], ['POST /upload', multipart, LARGE_UPLOAD], ['GET /']],
  'an upload that is cut off': [['POST /upload', multipart, UPLOAD.slice(0, -20)], ['GET /']]
}

sideBySide('busboy', {
  set () {},
  routes: {
    '/upload': ctx => new Promise((resolve, reject) => {
      const seen = []
      const parser = require('busboy')({ headers: ctx.req.headers })
      parser.on('field', (name, value) => seen.push([name, value]))
      parser.on('file', (name, file, { filename }) => {
        let length = 0
        file.on('error', reject)
        file.on('data', chunk => { length += chunk.length }).on('end', () => seen.push([name, filename, length]))
      })
      parser.on('close', () => { ctx.body = seen; resolve() })
      parser.on('error', reject)
      ctx.req.pipe(parser)
    })
  },
  exchanges: UPLOADS
})

sideBySide('formidable', {
  set () {},
  routes: {
    '/upload': async ctx => {
      const { formidable } = await import('formidable')
      const [fields, files] = await formidable({ maxFileSize: 200000 }).parse(ctx.req)
      const show = ({ originalFilename, mimetype, size, filepath }) => {
        fs.unlinkSync(filepath)
        return { originalFilename, mimetype, size }
      }
      ctx.body = { fields, files: Object.values(files).flat().map(show) }
    }
  },
  exchanges: {
    uploads: [['POST /upload', multipart, UPLOAD], ['GET /']],
    'an upload that is too large': [['POST /upload', multipart, LARGE_UPLOAD]]
  },
  // how much has come by then depends on the reads
  mask: text => text.replace(/received \d+ bytes/, 'received MORE')
})

sideBySide('@koa/multer', {
  set (app) {
    const upload = require('@koa/multer')({ limits: { fileSize: 500000 } }).single('file')
    app.use((ctx, next) => ctx.path === '/upload' ? upload(ctx, next) : next())
  },
  routes: {
    '/upload': ctx => {
      const { fieldname, originalname, size } = ctx.file
      ctx.body = { fieldname, originalname, size, fields: ctx.request.body }
    }
  },
  exchanges: UPLOADS
})

sideBySide('raw-body', {
  set () {},
  routes: {
    '/raw': async ctx => {
      const { length } = ctx.req.headers['content-length'] ? ctx.request : {}
      ctx.body = await require('raw-body')(ctx.req, { length, limit: '1kb', encoding: true })
    }
  },
  exchanges: {
    'the whole body': [['POST /raw', {}, 'héllo'], ['GET /']],
    'a body beyond the limit': [['POST /raw', {}, 'x'.repeat(2000)]],
    'a chunked body': [['POST /raw', { 'transfer-encoding': 'chunked' }, 'in chunks'], ['GET /']]
  }
})

sideBySide('co-body', {
  set () {},
  routes: {
    '/body': async ctx => { ctx.body = await require('co-body')(ctx.req, { returnRawBody: true, jsonLimit: '1kb' }) }
  },
  exchanges: {
    bodies: [['POST /body', json, '{"a":[1]}'], ['POST /body', form, 'a=b&c[d]=e'], ['POST /body', { 'content-type': 'text/plain' }, 'x']],
    'inflated ones': [['POST /body', { ...json, 'content-encoding': 'gzip' }, zlib.gzipSync('{"a":1}')], ['GET /']],
    'broken ones': [['POST /body', json, '{"a'], ['GET /']],
    'large ones': [['POST /body', json, JSON.stringify('x'.repeat(3000))]]
  }
})

sideBySide('koa-body', {
  set (app) {
    const { koaBody } = require('koa-body')
    const parse = koaBody({ multipart: true, jsonLimit: '1kb' })
    app.use((ctx, next) => ctx.path === '/echo' ? next() : parse(ctx, next))
  },
  routes: {
    '/body': ctx => { ctx.body = ctx.request.body ?? 'none' },
    '/upload': ctx => {
      const { originalFilename, size, filepath } = ctx.request.files.file
      fs.unlinkSync(filepath)
      ctx.body = { fields: ctx.request.body, originalFilename, size }
    }
  },
  exchanges: {
    bodies: [['POST /body', json, '{"a":[1]}'], ['POST /body', form, 'a=b'], ['GET /body']],
    'refused ones': [['POST /body', json, '{"a'], ['POST /body', json, JSON.stringify('x'.repeat(3000))]],
    uploads: [['POST /upload', multipart, UPLOAD], ['POST /upload', multipart, LARGE_UPLOAD], ['GET /']]
  }
})

// ---- signing in

function passportOf () {
  const { KoaPassport } = require('koa-passport')
  const { Strategy } = require('passport-local')
  const passport = new KoaPassport()
  passport.use(new Strategy((name, password, done) => done(null, password === 'right' && { name })))
  passport.serializeUser((user, done) => done(null, user.name))
  passport.deserializeUser((name, done) => done(null, { name }))
  return passport
}

sideBySide('koa-passport', {
  set (app) {
    const passport = passportOf()
    app.use(require('koa-session').createSession({ signed: false, maxAge: 'session' }, app))
    app.use((ctx, next) => ctx.path === '/login' ? require('koa-bodyparser')()(ctx, next) : next())
    app.use(passport.initialize())
    app.use(passport.session())
    const login = passport.authenticate('local', { successRedirect: '/me', failureRedirect: '/' })
    app.use((ctx, next) => ctx.path === '/login' ? login(ctx, next) : next())
  },
  routes: {
    '/me': ctx => { ctx.body = { user: ctx.state.user ?? null, in: ctx.isAuthenticated() } },
    '/logout': async ctx => {
      await ctx.logout()
      ctx.redirect('/')
    }
  },
  exchanges: {
    'signing in': [
      ['GET /me'], ['POST /login', form, 'username=a&password=wrong'], ['POST /login', form, 'username=a&password=right'],
      ['GET /me'], ['GET /logout'], ['GET /me']
    ]
  },
  // a sealed session contains when it ends
  mask: text => text.replace(/koa\.sess=[\w=-]{9,}/g, 'koa.sess=SESSION').replace(/expires=\w{3}, \d\d \w{3} 2\d{3} [^;]*/g, 'expires=TIME')
})

sideBySide('passport', {
  set (app, { connect }) {
    const passport = new (require('passport').Passport)()
    const { Strategy } = require('passport-local')
    passport.use(new Strategy((name, password, done) => done(null, password === 'right' && { name })))
    const login = connect(passport.authenticate('local', { session: false }))
    app.use(connect(passport.initialize()))
    app.use(async (ctx, next) => {
      if (ctx.path !== '/login') return next()
      ctx.req.query = { ...ctx.query }
      await login(ctx, () => { ctx.body = ctx.req.user })
    })
  },
  exchanges: { 'signing in': [['GET /login?username=a&password=right'], ['GET /']] }
})

// ---- an onerror of the app's own

/* eslint-disable no-throw-literal */
const THROWN = {
  object: () => { throw { status: 400, message: 'wrong', name: 'WrongError', headers: { 'X-A': '1' } } },
  rejected: async () => { throw { status: 409, code: 'E_CONFLICT', message: 'conflict' } },
  error: ctx => ctx.throw(422, 'not valid', { headers: { 'X-A': '1' } }),
  text: () => { throw 'text' },
  number: () => { throw 0 },
  false: () => { throw false },
  list: () => { throw [1, 2] }
}
/* eslint-enable no-throw-literal */
const ROUTES_THROWING = Object.fromEntries(Object.entries(THROWN).map(([name, fn]) => [`/throw/${name}`, fn]))
const THROWING = Object.keys(THROWN).flatMap(name => [[`GET /throw/${name}`], [`GET /throw/${name}`, { accept: 'application/json' }]])

const onerrorOf = onerror => ({
  set (app) {
    onerror(app, { accepts () { return this.get('Accept') ? this.accepts('json', 'text') : 'text' } }) // html has a stack
  },
  routes: ROUTES_THROWING,
  exchanges: { 'what was thrown': THROWING }
})

sideBySide('koa-onerror', onerrorOf(require('koa-onerror').onerror))
sideBySide("egg's koa-onerror", onerrorOf(require('koa-onerror4')))

sideBySide("an onerror of ctx's own", {
  set (app, { log }) {
    app.use((ctx, next) => {
      ctx.onerror = function (err) {
        // As koa calls it when a response has ended, and koa 3 when the client leaves during a stream.
        if (err === null || err?.code === 'ERR_STREAM_PREMATURE_CLOSE') return
        log(typeof err, err instanceof Error || err)
        this.status = 409
        this.res.end('own')
      }
      return next()
    })
  },
  routes: ROUTES_THROWING,
  exchanges: { 'what was thrown': THROWING }
})

// ---- what takes an app, or makes one

sideBySide('koa-websocket', {
  set (app) { require('koa-websocket')(app) }
})

// ---- an app of the packages that most Koa apps have

sideBySide("twenty of Koa's packages in one app", {
  lines: [2], // koa 3 ends the process if a client leaves while koa-logger counts a stream
  isSorted: true,
  set (app, { log }) {
    const Router = require('@koa/router')
    const mount = require('koa-mount')
    const router = new Router()
    router.get('/files/:name', ctx => require('koa-send')(ctx, ctx.params.name, { root: __dirname }))
    router.get('/private', require('koa-jwt')({ secret: 'secret' }), ctx => { ctx.body = 'private' })
    router.post('/form', ctx => { ctx.body = ctx.request.body })
    router.get('/views', ctx => {
      ctx.session.views = (ctx.session.views || 0) + 1
      ctx.body = { views: ctx.session.views }
    })
    router.post('/upload', require('@koa/multer')().single('file'), ctx => { ctx.body = { size: ctx.file.size } })

    app.use(require('koa-logger')({ transporter: (text, [format, method, url, status]) => log(method, url, status) }))
    app.use(require('koa-morgan')('tiny', { stream: { write: line => log(line.replace(/[\d.]+ ms/, 'ms')) } }))
    app.use(require('koa-ratelimit')({ driver: 'memory', db: new Map(), max: 10000, id: () => 'all', disableHeader: true }))
    app.use(require('koa-helmet')())
    app.use(require('@koa/cors')({ credentials: true }))
    app.use(require('koa-compress')({ threshold: 500 }))
    app.use(require('koa-conditional-get')())
    app.use(require('koa-etag').default())
    app.use(require('koa-favicon')())
    app.use(require('koa-session').createSession({ signed: false, maxAge: 'session' }, app))
    app.use(async (ctx, next) => ctx.path === '/form' ? require('koa-bodyparser')()(ctx, next) : next())
    app.use(require('koa-passport').initialize?.() ?? ((ctx, next) => next()))
    app.use(require('koa-json')({ pretty: false, param: 'pretty' }))
    app.use(mount('/public', require('koa-static')(__dirname)))
    app.use(require('koa-compose')([router.routes(), router.allowedMethods()]))
  },
  exchanges: {
    pages: [
      ['GET /files/others.test.js'], ['HEAD /files/others.test.js'], ['GET /public/others.test.js', gzip], ['GET /files/none'], ['GET /private'],
      ['POST /form', form, 'a=b'], ['POST /form', json, '{'], ['GET /views'], ['GET /views'], ['GET /?pretty'], ['OPTIONS /form'],
      ['DELETE /form'], ['GET /', { origin: 'http://a.example' }], ['GET /text', gzip], ['POST /upload', multipart, UPLOAD]
    ]
  },
  mask: text => text.replace(/koa\.sess=[\w=-]{9,}/g, 'koa.sess=SESSION')
})

// ---- node's own

sideBySide('stream.pipeline', {
  set () {},
  routes: {
    '/pipeline': (ctx, next, { log }) => {
      ctx.respond = false
      ctx.type = 'text'
      pipeline(Readable.from(['one ', 'two']), new PassThrough(), ctx.res, err => log('piped', err?.code))
    },
    '/upload': (ctx, next, { log }) => {
      let length = 0
      const sink = new PassThrough().on('data', chunk => { length += chunk.length })
      return new Promise((resolve, reject) => pipeline(ctx.req, sink, err => {
        log('received', err?.code, length)
        ctx.body = { length }
        err ? reject(err) : resolve()
      }))
    },
    '/back': (ctx, next, { log }) => {
      ctx.respond = false
      pipeline(ctx.req, zlib.createGzip(), zlib.createGunzip(), ctx.res, err => log('sent back', err?.code))
    }
  },
  exchanges: {
    'into the response': [['GET /pipeline'], ['GET /pipeline'], ['HEAD /pipeline'], ['GET /']],
    'out of the request': [['POST /upload', {}, 'x'.repeat(500000)], ['GET /']],
    'from the request to the response': [['POST /back', {}, 'back '.repeat(100000)], ['GET /']],
    'a chunked body': [['POST /upload', { 'transfer-encoding': 'chunked' }, 'abc'], ['GET /']]
  }
})

sideBySide('stream.finished', {
  set (app, { log }) {
    app.use((ctx, next) => {
      finished(ctx.req, err => log('req', err?.code))
      finished(ctx.res, err => log('res', err?.code))
      return next()
    })
  }
})

sideBySide('Readable.toWeb', {
  set () {},
  routes: {
    '/web': async ctx => {
      const decoder = new TextDecoder()
      let text = ''
      for await (const chunk of Readable.toWeb(ctx.req)) text += decoder.decode(chunk, { stream: true })
      ctx.body = { length: text.length, start: text.slice(0, 10) }
    }
  },
  exchanges: { 'as a web stream': [['POST /web', {}, 'some text'], ['POST /web', {}, 'x'.repeat(300000)], ['GET /web'], ['GET /']] }
})

sideBySide('res.writeEarlyHints', {
  set () {},
  routes: {
    '/hints': (ctx, next, { log }) => {
      ctx.res.writeEarlyHints({ link: ['</a.css>; rel=preload; as=style', '</b.js>; rel=preload; as=script'], 'x-early': 'yes' },
        () => log('hinted'))
      ctx.body = 'page'
    },
    '/processing': ctx => { ctx.res.writeProcessing(); ctx.body = 'processed' }
  },
  exchanges: { 'hints in front of the response': [['GET /hints'], ['GET /hints'], ['GET /processing'], ['GET /']] }
})
