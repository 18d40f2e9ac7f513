// kone's objects where those of koa are asked for.
import Kone from 'kone'
import Koa from 'koa'
import koaCompose from 'koa-compose'
import send from 'koa-send'
import Router from 'kone/middleware/router'

const app: Koa = new Kone()
const middleware: Kone.Middleware = (ctx, next) => next()
const theirs: Koa.Middleware = (ctx, next) => next()

const theirApp = new Koa()

app.use(theirs)
new Kone()
  .use(async ctx => { await send(ctx, 'file') })
  .use(koaCompose([theirs, theirs]))
  .use(koaCompose([middleware, middleware]))
  .use(Kone.compose([theirs, theirs]))

// kone's router in an app of koa
const router = new Router<{ user: string }>()
router.get('/:id', theirs, ctx => { ctx.body = ctx.params.id + ctx.state.user })
theirApp.use(router.routes()).use(router.allowedMethods())
new Koa<{ user: string }, { db: object }>().use(router.routes()).use(router.allowedMethods())
const asTheirs: Koa.Middleware = router.routes()
theirApp.use(asTheirs)

// @ts-expect-error: an app is not a context
send(app, 'file')
