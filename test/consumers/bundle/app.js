'use strict'

const path = require('node:path')
const Kone = require('kone')
const set = require('kone/middleware')

// The whole set in one app. Templates, catalogues and static files are beside the bundle, not in it.
const beside = name => path.join(process.env.ASSETS, name)

const app = new Kone()
app.use(set.isolate())
app.use(set.overload())
app.use(set.logger(() => {}))
app.use(set.requestId()).use(set.timeout(5000)).use(set.rateLimit())
app.use(set.helmet()).use(set.cors())
app.use(set.compress()).use(set.conditionalGet()).use(set.etag())
app.use(set.favicon()).use(set.jsonp())
app.use(set.session()).use(set.bodyParser()).use(set.upload()).use(set.csrf())
app.use(set.i18n(app, { directory: beside('locales'), locales: ['en'] }))
app.use(set.static(beside('public')))
app.use(set.template(beside('views'))).use(set.views(beside('views')))
app.use(set.sse())
app.use(set.rpc({ add: (a, b) => a + b }))

const router = set.router()
router.get('/page/:name', ctx => ctx.render('page', { name: ctx.params.name, greeting: ctx.t('Hello') }))
router.get('/count', ctx => {
  ctx.session.count = (ctx.session.count ?? 0) + 1
  ctx.body = ctx.session
})
app.use(router.routes()).use(router.allowedMethods())

const server = app.listen(0, '127.0.0.1', () => console.log(server.address().port))
