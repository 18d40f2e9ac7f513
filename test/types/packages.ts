// Published middleware and its types, unmodified, in app.use().
import Kone from 'kone'
import Router from 'koa-router'
import NewRouter from '@koa/router'
import bodyParser from 'koa-bodyparser'
import { bodyParser as newBodyParser } from '@koa/bodyparser'
import session from 'koa-session'
import cors from '@koa/cors'
import serve from 'koa-static'
import views from 'koa-views'
import koaCompose from 'koa-compose'

declare function is<T> (value: T): void

const app = new Kone()
const router = new Router({ prefix: '/api' })
router.get('/:id', ctx => {
  is<string>(ctx.params.id)
  // @ts-expect-error: a parameter is text
  is<number>(ctx.params.id)
  ctx.body = ctx.params.id
})
const newRouter = new NewRouter()
newRouter.get('/:id', ctx => {
  is<string | undefined>(ctx.params.id)
  ctx.body = ctx.params.id
})

app.use(cors({ origin: '*' }))
app.use(bodyParser({ jsonLimit: '1mb' }))
app.use(newBodyParser())
app.use(serve('public', { maxage: 1000 }))
app.use(views('views', { extension: 'html' }))
app.use(session({ key: 'sid' }, app))
app.use(session(app))
app.use(router.routes()).use(router.allowedMethods())
app.use(newRouter.routes()).use(newRouter.allowedMethods())
app.use(koaCompose([cors(), bodyParser()]))

// @ts-expect-error: the factory is not the middleware
app.use(router)
// @ts-expect-error: a root is text
app.use(serve(1))
