// kone's objects where those of koa are asked for.
import Kone from 'kone'
import type Koa from 'koa'
import koaCompose from 'koa-compose'
import send from 'koa-send'

const app: Koa = new Kone()
const middleware: Kone.Middleware = (ctx, next) => next()
const theirs: Koa.Middleware = (ctx, next) => next()

app.use(theirs)
new Kone()
  .use(async ctx => { await send(ctx, 'file') })
  .use(koaCompose([theirs, theirs]))
  .use(koaCompose([middleware, middleware]))
  .use(Kone.compose([theirs, theirs]))

// @ts-expect-error: an app is not a context
send(app, 'file')
