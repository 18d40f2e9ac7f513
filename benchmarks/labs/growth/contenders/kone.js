'use strict'

const path = require('node:path')
const kone = require('../../../lib/servers/kone')
const { LIMIT, buffer, items, text } = require('./_work')

const VIEWS = path.join(__dirname, 'views')

exports.package = 'kone'

exports.start = function ([subject, n]) {
  const app = new (kone('.'))()

  const subjects = {
    middleware () {
      for (let i = 0; i < n; i++) app.use(async (ctx, next) => { await next() })
      app.use(hello)
    },

    routes () {
      const router = new (kone('middleware/router'))()
      for (let i = 1; i <= n; i++) router.get(`/kind-${i}/:id`, ctx => { ctx.body = ctx.params.id })
      app.use(router.routes())
    },

    headers: () => app.use(hello),

    connections: () => app.use(hello),

    body () {
      app.use(async ctx => { ctx.body = String((await ctx.request.readBody({ limit: LIMIT })).length) })
    },

    response () {
      app.use(ctx => { ctx.body = buffer(Number(ctx.query.n)) })
    },

    session () {
      app.use(kone('middleware/session')())
      app.use(ctx => {
        if (ctx.path === '/login') ctx.session.data = text(Number(n))
        ctx.session.count = (ctx.session.count || 0) + 1
        ctx.body = String(ctx.session.data.length)
      })
    },

    template () {
      app.use(kone('middleware/template')(VIEWS, { map: { html: 'nunjucks' } }))
      app.use(ctx => ctx.render('list.html', { items: items(Number(ctx.query.n)) }))
    }
  }

  subjects[subject]()
  return app
}

function hello (ctx) {
  ctx.body = 'Hello World'
}
