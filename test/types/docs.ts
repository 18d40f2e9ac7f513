// What docs/api/typescript.md quotes.
import Kone, { type Middleware } from 'kone'
import Router from 'kone/middleware/router'

interface State { user?: { name: string } }
interface Extra { db: { find (id: string): Promise<object> } }

const app = new Kone<State, Extra>()

app.use(async (ctx, next) => {
  ctx.state.user = { name: 'tobi' }
  await next()
})

const requireUser: Middleware<{ user: { name: string } }> = (ctx, next) => {
  if (!ctx.state.user) return ctx.throw(401)
  return next()
}

const router = new Router<State, Extra>()

router.get('/users/:id/posts/:post?', requireUser, async ctx => {
  // ctx.params is { id: string, post?: string }
  ctx.body = await ctx.db.find(ctx.params.id)
  ctx.set('X-User', ctx.state.user.name)
})

app.use(router.routes())

async function test () {
  const response = await app.inject('/users/1/posts')
  const { name } = response.json<{ name: string }>()
  return name
}

const members = router.use(requireUser)
members.get('/me', ctx => { ctx.body = ctx.state.user.name })

const nested = new Router<State, Extra & { params: { tenant: string } }>()
nested.get('/:id', ctx => { ctx.body = ctx.params.tenant + ctx.params.id })
router.use('/:tenant', nested.routes())

export { test }

const visitors = new Kone<{ visits: number }>()
  .use(requireUser)
  .use(ctx => { ctx.body = `${ctx.state.user.name}: ${ctx.state.visits}` })
visitors.final(ctx => { ctx.set('X-User', ctx.state.user.name) })
