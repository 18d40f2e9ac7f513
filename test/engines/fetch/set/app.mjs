// Run on Node, Bun and Deno by runtimes.set.once.long.test.js: every middleware of the set, each below a path of its name.
import { fileURLToPath } from 'node:url'
import Kone, { compose } from 'kone'
import set from 'kone/middleware'
import Router from 'kone/middleware/router'

const app = new Kone({ keys: ['a secret of at least thirty-two bytes!'] })
const files = fileURLToPath(new URL('files', import.meta.url))
const say = text => ctx => { ctx.body = text }
const sealed = () => set.session({ store: set.session.sealedCookie({ keys: app.keys }) })
const only = (prefix, fn) => (ctx, next) => ctx.path === prefix ? fn(ctx, next) : next()
const schema = validate => ({ '~standard': { version: 1, vendor: 'test', validate } })

const errors = []
app.on('error', err => { if (!(err.status < 500)) errors.push(err.message) })

const lines = []
let release // of the handler that /timeout has waited for

const uses = {
  bodyParser: () => [set.bodyParser(), ctx => { ctx.body = ctx.request.body }],
  compress: () => [set.compress({ threshold: 0 }), ctx => {
    ctx.type = 'text'
    ctx.body = ctx.path === '/stream' ? streamOf('many words '.repeat(1000)) : 'many words '.repeat(1000)
  }],
  conditionalGet: () => [set.conditionalGet(), set.etag(), say('hi')],
  cors: () => [set.cors(), say('hi')],
  csrf: () => [sealed(), set.bodyParser(), set.csrf(), ctx => { ctx.body = ctx.state._csrf }],
  etag: () => [set.etag(), say('hi')],
  favicon: () => [ctx => {
    ctx.path = '/favicon.ico'
    return set.favicon(`${files}/hello.html`)(ctx, () => {})
  }],
  health: () => [set.health({ checks: { up: () => true, down: () => Promise.reject(new Error('down on purpose')) } }), say('next')],
  helmet: () => [
    only('/nonce', set.helmet({ contentSecurityPolicy: { directives: { scriptSrc: [() => "'nonce-x'"] } } })),
    set.helmet(), say('hi')
  ],
  i18n: () => [set.i18n(app, { locales: { en: { hi: 'hello' }, de: { hi: 'hallo' } }, modes: ['header'] }), ctx => {
    ctx.body = ctx.t('hi')
  }],
  isolate: () => [set.isolate(), () => new Promise(() => setTimeout(() => { throw new Error('in a timer') }, 1))],
  jsonp: () => [set.jsonp(), ctx => { ctx.body = { a: 1 } }],
  logger: () => [
    only('/lines', ctx => { ctx.body = lines }),
    set.logger(line => lines.push(line), { format: ':method :url :status :remote-addr :http-version' }), say('hi')
  ],
  metrics: () => [set.metrics(), say('hi')],
  openapi: () => {
    const described = new Kone().use(new Router().get('/items/:id', () => {}).routes())
    return [set.openapi(described, { info: { title: 'items', version: '1.0.0' } })]
  },
  overload: () => [
    only('/full', set.overload({ maxRssBytes: 1 })),
    only('/utilization', (ctx, next) => set.overload({ maxEventLoopUtilization: 1 })(ctx, next)),
    set.overload({ maxEventLoopDelay: 60_000 }), say('hi')
  ],
  rateLimit: () => [set.rateLimit({ max: 2 }), say('hi')],
  requestId: () => [set.requestId(), ctx => { ctx.body = ctx.state.id }],
  router: () => [new Router().get('/items/:id', ctx => { ctx.body = ctx.params }).routes()],
  rpc: () => [set.rpc({ add: (a, b) => a + b })],
  session: () => [sealed(), ctx => {
    ctx.session.visits = (ctx.session.visits || 0) + 1
    ctx.body = String(ctx.session.visits)
  }],
  sse: () => [set.sse({ heartbeat: 5 }), async ctx => {
    const stream = ctx.sse()
    stream.send('one')
    if (ctx.path === '/held' && ctx.method !== 'HEAD') await new Promise(resolve => stream.once('resume', resolve))
    if (ctx.path === '/held' && ctx.method === 'HEAD') await new Promise(() => {})
    stream.send('two')
    stream.end()
  }],
  static: () => [only('/hello.txt', set.static(files, { setHeaders: () => {} })), set.static(files)],
  template: () => [set.template(files), ctx => ctx.render('hello', { name: 'Ada' })],
  timeout: () => [
    (ctx, next) => {
      if (ctx.path !== '/late') return next()
      release()
      ctx.body = 'late'
    },
    set.timeout(5), async ctx => {
      await new Promise(resolve => { release = resolve })
      ctx.body = 'late'
      ctx.set('X-Late', 'yes')
    }
  ],
  upload: () => [set.upload(), ctx => { ctx.body = ctx.request.files.map(({ originalname, size }) => ({ originalname, size })) }],
  validate: () => [set.validate({ query: schema(value => value.n === '1' ? { value: 1 } : { issues: [{ message: 'wrong' }] }) }),
    ctx => { ctx.body = ctx.valid }],
  views: () => [set.views(files), ctx => ctx.render('hello', { name: 'Bob' })],
  websocket: () => [set.websocket(() => {})]
}

const runs = new Map()
for (const [name, use] of Object.entries(uses)) {
  try {
    runs.set(name, compose(use()))
  } catch (err) {
    runs.set(name, ctx => ctx.throw(501, err.message, { expose: true }))
  }
}

app.use((ctx, next) => {
  if (ctx.path === '/errors') ctx.body = errors.splice(0)
  const [, name, path] = /^\/(\w+)(\/.*)?$/.exec(ctx.path)
  if (!runs.has(name)) return next()
  ctx.path = path ?? '/'
  return runs.get(name)(ctx, next)
})

function streamOf (text) {
  return new Blob([text]).stream()
}

export default app
