'use strict'

const path = require('node:path')
const { buffer, items, text } = require('./_work')

const VIEWS = path.join(__dirname, 'views')

/**
 * The apps of kone and of Koa: what differs is how each gets its router, its session, its views and a body.
 *
 *    mount(new Koa(), { Router, session: () => [], template, read: async ctx => buffer }, 'routes', '100')
 */
module.exports = function mount (app, { Router, session, template, read }, subject, n) {
  const hello = ctx => { ctx.body = 'Hello World' }

  const subjects = {
    middleware () {
      for (let i = 0; i < n; i++) app.use(async (ctx, next) => { await next() })
      app.use(hello)
    },

    routes () {
      const router = new (Router())()
      for (let i = 1; i <= n; i++) router.get(`/kind-${i}/:id`, ctx => { ctx.body = ctx.params.id })
      app.use(router.routes())
    },

    headers: () => app.use(hello),

    connections: () => app.use(hello),

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
