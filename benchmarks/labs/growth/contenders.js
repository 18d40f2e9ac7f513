'use strict'

const path = require('node:path')
const kone = require('../../lib/servers/kone')
const { read } = require('../../lib/servers/send')

/*
 * The apps of each subject. What differs between kone and Koa is how each gets its router, its session, its views and a
 * body.
 */

const VIEWS = path.join(__dirname, 'views')
const LIMIT = 200e6 // bytes of a body

const buffer = memoized(size => Buffer.alloc(size, 'x'))
const text = memoized(size => 'x'.repeat(size))
const items = memoized(n => Array.from({ length: n }, (_, i) => `item <${i}>`))

// At 1 the example that fastify's guide begins with: an object { hello: 'world' } and its schema.
const greeting = memoized(n => Object.fromEntries(Array.from({ length: n }, (_, i) => [`hello${i || ''}`, 'world'])))
const schemaOf = object => ({
  type: 'object',
  properties: Object.fromEntries(Object.keys(object).map(name => [name, { type: 'string' }]))
})

const standard = schema => ({ '~standard': { version: 1, vendor: 'bench', validate: value => ({ value }), jsonSchema: { input: () => schema } } })

function memoized (make) {
  const made = new Map()
  return n => {
    if (!made.has(n)) made.set(n, make(n))
    return made.get(n)
  }
}

function mount (app, { Router, serialize, session, template, read }, [subject, n]) {
  const hello = () => app.use(ctx => { ctx.body = 'Hello World' })

  const subjects = {
    middleware () {
      for (let i = 0; i < n; i++) app.use(async (ctx, next) => { await next() })
      hello()
    },

    routes () {
      const router = new (Router())()
      for (let i = 1; i <= n; i++) router.get(`/kind-${i}/:id`, ctx => { ctx.body = ctx.params.id })
      app.use(router.routes())
    },

    schema () {
      const object = greeting(n)
      app.use(new (Router())().get('/', ...serialize(schemaOf(object)), ctx => { ctx.body = object }).routes())
    },

    headers: hello,

    connections: hello,

    body: () => app.use(async ctx => { ctx.body = String((await read(ctx)).length) }),

    response: () => app.use(ctx => { ctx.body = buffer(Number(ctx.query.n)) }),

    session () {
      app.use(session())
      app.use(ctx => {
        if (ctx.path === '/login') ctx.session.data = text(Number(n))
        ctx.session.count = (ctx.session.count || 0) + 1
        ctx.body = String(ctx.session.data.length)
      })
    },

    template () {
      app.use(template()(VIEWS, { map: { html: 'nunjucks' } }))
      app.use(ctx => ctx.render('list.html', { items: items(Number(ctx.query.n)) }))
    }
  }

  subjects[subject]()
  return app
}

function fastify ([subject, n]) {
  const app = require('fastify')({ bodyLimit: LIMIT })
  const hello = () => app.get('/', async () => 'Hello World')

  const subjects = {
    middleware () {
      for (let i = 0; i < n; i++) app.addHook('onRequest', async () => {})
      hello()
    },

    routes () {
      for (let i = 1; i <= n; i++) app.get(`/kind-${i}/:id`, async request => request.params.id)
    },

    schema () {
      const object = greeting(n)
      app.get('/', { schema: { response: { 200: schemaOf(object) } } }, (request, reply) => { reply.send(object) })
    },

    headers: hello,

    connections: hello,

    body () {
      app.addContentTypeParser('application/octet-stream', { parseAs: 'buffer' }, async (request, body) => body)
      app.post('/', async request => String(request.body.length))
    },

    response: () => app.get('/', async request => buffer(Number(request.query.n))),

    session () {
      app.register(require('@fastify/cookie'))
      app.register(require('@fastify/session'), { secret: 'a secret of more than thirty-two characters', cookie: { secure: false } })
      const visit = async ({ session }) => {
        session.count = (session.count || 0) + 1
        return String(session.data.length)
      }
      app.get('/', visit)
      app.get('/login', async request => {
        request.session.data = text(Number(n))
        return visit(request)
      })
    },

    template () {
      app.register(require('@fastify/view'), { engine: { nunjucks: require('nunjucks') }, root: VIEWS })
      app.get('/', (request, reply) => reply.view('list.html', { items: items(Number(request.query.n)) }))
    }
  }

  subjects[subject]()
  return (port, host, backlog) => app.listen({ port, host, backlog }).then(() => app.server)
}

module.exports = {
  kone: {
    package: 'kone',
    start: args => mount(new (kone('.'))(), {
      Router: () => kone('middleware/router'),
      serialize: schema => [kone('middleware/validate')({ response: standard(schema), serialize: true })],
      session: () => kone('middleware/session')(),
      template: () => kone('middleware/template'),
      read: ctx => ctx.request.readBody({ limit: LIMIT })
    }, args)
  },

  koa: {
    package: 'koa',
    about: 'with koa-router, koa-session-minimal, koa-views',
    start: args => mount(new (require('koa'))(), {
      Router: () => require('koa-router'),
      serialize: () => [], // JSON.stringify
      session: () => require('koa-session-minimal')(),
      template: () => require('koa-views'),
      read: ctx => read(ctx.req)
    }, args)
  },

  fastify: { package: 'fastify', about: 'onRequest hooks for middleware', start: fastify }
}
