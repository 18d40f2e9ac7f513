'use strict'

const fs = require('node:fs')
const http = require('node:http')
const path = require('node:path')
const { Writable } = require('node:stream')
const ours = require('../labs/mw/sets/kone')
const kone = require('../lib/servers/kone')
const { child, measure } = require('./micro')
const { table } = require('../lib/report/text')

/*
 * What each middleware of the set costs by itself: a whole request through app.callback() with it and
 * without it, on node's own objects over a socket that swallows. `node micro/middleware.js --page` also
 * writes the figures into the table of the manual; names after it measure these alone.
 */

const PAGE = path.join(kone.root, 'middleware/README.md')
const set = name => kone(`middleware/${name}`)

const hello = ctx => { ctx.body = 'Hello World' }
const json = JSON.stringify({ name: 'Ada', note: 'two hundred bytes of JSON'.padEnd(170, '.') })
const posted = { method: 'POST', headers: { 'content-type': 'application/json', 'content-length': String(json.length) }, body: json }
const accepting = { '~standard': { version: 1, vendor: 'bench', validate: value => ({ value }) } }

// note: what the request is; mount: with it, if not by `app.use(set(name)())`; without: what the comparison has; request
// and handler: of both
const CASES = {
  bodyParser: { note: '200 bytes of JSON', request: posted },
  compress: { note: 'below the threshold' },
  conditionalGet: { note: 'nothing to compare' },
  cors: { note: 'with an Origin', request: { headers: { origin: 'http://example.com' } } },
  csrf: {
    note: 'the token of a session read',
    mount: app => app.use(set('session')()).use(set('csrf')()),
    without: app => app.use(set('session')()).use((ctx, next) => {
      ctx.session.secret = 'a secret'
      return next()
    }),
    handler: ctx => { ctx.body = ctx.state._csrf ?? 'no token' }
  },
  etag: { note: '11 bytes' },
  favicon: { note: 'another path', mount: ours.favicon },
  health: { note: 'another path' },
  helmet: { note: 'all headers' },
  i18n: {
    note: 'by Accept-Language',
    mount: ours.i18n,
    request: { headers: { 'accept-language': 'en-GB,en;q=0.9' } },
    handler: ctx => { ctx.body = ctx.t?.('hello') ?? 'Hello' }
  },
  isolate: { note: 'no error' },
  jsonp: { note: 'no callback' },
  logger: { note: 'into a function', mount: app => app.use(set('logger')(() => {})) },
  metrics: { note: 'no route', mount: app => app.use(set('metrics')({ defaults: false })) },
  overload: { note: 'accepted', mount: app => app.use(set('overload')({ maxEventLoopDelay: 60_000 })) },
  rateLimit: { note: 'in memory', mount: ours.rateLimit },
  requestId: { note: 'a new id' },
  router: {
    note: 'one route with a parameter',
    mount: app => app.use(set('router')().get('/users/:id', hello).routes()),
    request: { url: '/users/1' }
  },
  rpc: { note: 'not a call', mount: app => app.use(set('rpc')({ add: (a, b) => a + b })) },
  session: {
    note: 'read, unchanged, from memory',
    mount: app => app.use(set('session')({ store: { lazy: true, get: () => ({ user: 'ada' }), set () {}, destroy () {} } })),
    request: { headers: { cookie: `koa:sess=${'a'.repeat(32)}` } },
    handler: ctx => { ctx.body = ctx.session?.user ?? 'ada' }
  },
  sse: { note: 'not called' },
  static: { note: 'a file of 100 bytes', mount: ours.static, request: { url: '/hello.txt' } },
  template: {
    note: 'a page with a list',
    mount: ours.template,
    without: app => app.use((ctx, next) => {
      ctx.render = () => { ctx.body = '<h2>Hello</h2>' }
      return next()
    }),
    handler: ctx => ctx.render('page', { greeting: 'Hello', user: 'ada', items: ['a', 'b', '<c>'] })
  },
  timeout: { note: 'in time', mount: ours.timeout },
  upload: { note: 'not a form' },
  validate: { note: 'a query, by a schema that accepts', mount: app => app.use(set('validate')({ query: accepting })) }
}

const named = process.argv.slice(2).filter(arg => !arg.startsWith('--'))

if (process.send) child(groups())
else report()

function groups () {
  return Object.fromEntries(Object.entries(CASES).map(([name, how]) => {
    const { mount = app => app.use(set(name)()), without = () => {}, handler = hello, request } = how
    return [name, {
      without: () => responding(app => { without(app); app.use(handler) }, request),
      with: () => responding(app => { mount(app); app.use(handler) }, request)
    }]
  }))
}

function responding (prepare, { method = 'GET', url = '/', headers = {}, body } = {}) {
  const app = new (kone('.'))({ env: 'production' })
  prepare(app)
  const callback = app.callback()
  const socket = new Writable({ write: (chunk, encoding, done) => done() })
  Object.assign(socket, { setTimeout () {}, remoteAddress: '127.0.0.1' })

  return () => {
    const req = new http.IncomingMessage(socket)
    Object.assign(req, { method, url, httpVersionMajor: 1, httpVersionMinor: 1, httpVersion: '1.1', complete: true })
    req.headers = { host: 'localhost', ...headers }
    if (body !== undefined) req.push(body)
    req.push(null)
    const res = new http.ServerResponse(req)
    res.assignSocket(socket)
    callback(req, res)
    return new Promise(resolve => res.on('finish', resolve)).then(() => {
      res.detachSocket(socket)
      if (res.statusCode !== 200) throw new Error(`${url}: ${res.statusCode}`)
    })
  }
}

async function report () {
  const costs = new Map()
  const rows = [['', 'of a request', 'without, µs', 'with, µs', 'it costs, µs']]
  for (const name of Object.keys(CASES)) {
    if (named.length > 0 && !named.includes(name)) continue
    const figures = await measure(__filename, name, ['without', 'with'])
    const [without, having] = [Math.min(...figures.without) / 1000, Math.min(...figures.with) / 1000]
    costs.set(name, Math.max(0, having - without).toFixed(1))
    rows.push([name, CASES[name].note, without.toFixed(1), having.toFixed(1), costs.get(name)])
  }
  console.log(`Node ${process.version}, CPU time, the fastest of eight rounds\n\n${table(rows)}`)
  if (process.argv.includes('--page')) write(costs)
}

// The last column of the manual's table.
function write (costs) {
  const text = fs.readFileSync(PAGE, 'utf8').replace(/^(\| \[(\w+)\].*\|)[^|]*\|$/gm, (row, start, name) => {
    return costs.has(name) ? `${start} ${costs.get(name)} |` : row
  })
  fs.writeFileSync(PAGE, text)
}
