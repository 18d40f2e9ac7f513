// In koa's place, what published packages declare for 'koa' is on ctx as well.
/// <reference types="koa-session" />
import Koa from 'koa'
import 'koa-bodyparser'
import 'koa-compress'
import 'koa-views'

declare function is<T> (value: T): void

const app = new Koa<{}, {}>()
app.use(async ctx => {
  is<{} | null | undefined>(ctx.request.body)
  is<number | undefined>(ctx.session?.length)
  is<Promise<void>>(ctx.render('index', { title: 'kone' }))
  // @ts-expect-error: nobody declared it
  is<any>(ctx.flash)
  // @ts-expect-error: a view has a name
  ctx.render()
})
