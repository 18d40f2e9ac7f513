'use strict'

const path = require('node:path')
const { ask } = require('../../lib/run/verify')

const VIEWS = path.join(__dirname, 'views')

const buffer = memoized(size => Buffer.alloc(size, 'x'))
const content = memoized(size => 'x'.repeat(size))
const items = memoized(n => Array.from({ length: n }, (_, i) => `item <${i}>`))

// At 1 the example that fastify's guide begins with: an object { hello: 'world' } and its schema.
const greeting = memoized(n => Object.fromEntries(Array.from({ length: n }, (_, i) => [`hello${i || ''}`, 'world'])))
const schemaOf = object => ({
  type: 'object',
  properties: Object.fromEntries(Object.keys(object).map(name => [name, { type: 'string' }]))
})

function memoized (make) {
  const made = new Map()
  return n => {
    if (!made.has(n)) made.set(n, make(n))
    return made.get(n)
  }
}

const text = body => ({ status: 200, type: 'text/plain; charset=utf-8', body })
const hello = {
  expected: () => text('Hello World'),
  mount: app => app.use(ctx => { ctx.body = 'Hello World' }),
  fastify: app => app.get('/', async () => 'Hello World')
}

/**
 * What grows. `at`: how much work, in few steps, because each takes a minute; --quick takes the least, the middle and
 * the most of it, or of `few`. `takes`: how long it takes beside the others. `request`, `expected`, `connections` are
 * functions of n. `mount` makes the app on kone and Koa, which differ in `by`: how each gets its router, its session, its
 * views and a body.
 */
module.exports = {
  middleware: {
    unit: 'middleware',
    at: [0, 5, 20, 100],
    expected: hello.expected,
    mount (app, by, n) {
      for (let i = 0; i < n; i++) app.use(async (ctx, next) => { await next() })
      hello.mount(app)
    },
    fastify (app, n) {
      for (let i = 0; i < n; i++) app.addHook('onRequest', async () => {})
      hello.fastify(app)
    }
  },

  routes: {
    unit: 'routes, the last one asked for',
    at: [1, 100, 1000, 10_000],
    log: true,
    logY: true,
    request: n => ({ path: `/kind-${n}/4711` }),
    expected: () => text('4711'),
    mount (app, by, n) {
      const router = new (by.Router())()
      for (let i = 1; i <= n; i++) router.get(`/kind-${i}/:id`, ctx => { ctx.body = ctx.params.id })
      app.use(router.routes())
    },
    fastify (app, n) {
      for (let i = 1; i <= n; i++) app.get(`/kind-${i}/:id`, async request => request.params.id)
    }
  },

  schema: {
    unit: 'fields of a response with a schema',
    at: [1, 10, 100],
    log: true,
    expected: n => ({
      status: 200,
      type: 'application/json; charset=utf-8',
      body: body => body.startsWith('{"hello":"world"') && Object.keys(JSON.parse(body)).length === n
    }),
    mount (app, by, n) {
      const object = greeting(n)
      app.use(new (by.Router())().get('/', ...by.serialize(schemaOf(object)), ctx => { ctx.body = object }).routes())
    },
    fastify (app, n) {
      const object = greeting(n)
      app.get('/', { schema: { response: { 200: schemaOf(object) } } }, (request, reply) => { reply.send(object) })
    }
  },

  headers: {
    ...hello,
    unit: 'request headers',
    at: [2, 20, 100],
    request: n => ({ headers: Object.fromEntries(Array.from({ length: n - 1 }, (_, i) => [`x-header-${i}`, `value ${i}`])) })
  },

  body: {
    unit: 'bytes of request body',
    takes: 2,
    at: [100, 1e4, 1e6, 1e8],
    log: true,
    logY: true,
    request: n => ({ method: 'POST', size: n }),
    expected: n => text(String(n)),
    connections: n => Math.max(1, Math.min(50, Math.floor(1e7 / n))),
    mount: (app, by) => app.use(async ctx => { ctx.body = String((await by.read(ctx)).length) }),
    fastify (app) {
      app.addContentTypeParser('application/octet-stream', { parseAs: 'buffer' }, async (request, body) => body)
      app.post('/', async request => String(request.body.length))
    }
  },

  connections: {
    ...hello,
    unit: 'connections',
    at: [1, 100, 1000, 10_000],
    few: [1, 100, 1000],
    log: true,
    connections: n => n
  },

  response: {
    unit: 'bytes of response',
    at: [100, 1e4, 1e6, 1e7],
    log: true,
    logY: true,
    request: n => ({ path: `/?n=${n}` }),
    expected: n => ({ status: 200, type: 'application/octet-stream', body: body => body === 'x'.repeat(n) }),
    connections: n => Math.max(4, Math.min(50, Math.floor(1e7 / n))),
    mount: app => app.use(ctx => { ctx.body = buffer(Number(ctx.query.n)) }),
    fastify: app => app.get('/', async request => buffer(Number(request.query.n)))
  },

  session: {
    unit: 'bytes in the session, in memory',
    at: [10, 1e3, 1e5],
    log: true,
    request: () => async ({ port }) => {
      const { headers } = await ask(port, { path: '/login' })
      return { headers: { cookie: headers['set-cookie'].map(line => line.split(';')[0]).join('; ') } }
    },
    expected: n => text(String(n)),
    mount (app, by, n) {
      app.use(by.session())
      app.use(ctx => {
        if (ctx.path === '/login') ctx.session.data = content(Number(n))
        ctx.session.count = (ctx.session.count || 0) + 1
        ctx.body = String(ctx.session.data.length)
      })
    },
    fastify (app, n) {
      app.register(require('@fastify/cookie'))
      app.register(require('@fastify/session'), { secret: 'a secret of more than thirty-two characters', cookie: { secure: false } })
      const visit = async ({ session }) => {
        session.count = (session.count || 0) + 1
        return String(session.data.length)
      }
      app.get('/', visit)
      app.get('/login', async request => {
        request.session.data = content(Number(n))
        return visit(request)
      })
    }
  },

  template: {
    unit: 'list items in a nunjucks template',
    at: [1, 100, 1000],
    log: true,
    logY: true,
    request: n => ({ path: `/?n=${n}` }),
    expected: n => ({
      status: 200,
      type: 'text/html; charset=utf-8',
      body: body => body.split('<li>').length === n + 1 && body.includes('<li>item &lt;0&gt;</li>')
    }),
    mount (app, by) {
      app.use(by.template()(VIEWS, { map: { html: 'nunjucks' } }))
      app.use(ctx => ctx.render('list.html', { items: items(Number(ctx.query.n)) }))
    },
    fastify (app) {
      app.register(require('@fastify/view'), { engine: { nunjucks: require('nunjucks') }, root: VIEWS })
      app.get('/', (request, reply) => reply.view('list.html', { items: items(Number(request.query.n)) }))
    }
  }
}
