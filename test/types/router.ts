// A router whose types know the path.
import Kone, { type Context, type Middleware, type Next } from 'kone'
import Router from 'kone/middleware/router'

declare function is<T> (value: T): void
/** Compiles only if the two types are one. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false
declare function exactly<T> (): <V>(value: V, same: Same<V, T>) => void
declare function path<P extends string, T> (same: Same<Router.Params<P>, T>): void

// the syntax of path-to-regexp 6.3

path<'/', {}>(true)
path<'/users/all', {}>(true)
path<'/:id', { id: string }>(true)
path<'/users/:id/posts/:post', { id: string, post: string }>(true)
path<'/users/:id/posts/:post?', { id: string, post?: string }>(true)
path<'/:from-:to', { from: string, to: string }>(true)
path<'/:file.:ext?', { file: string, ext?: string }>(true)
path<'/:path+', { path: string }>(true)
path<'/:path*', { path?: string }>(true)
path<'/:id(\\d+)', { id: string }>(true)
path<'/:id(\\d+)?/x', { id?: string }>(true)
path<'/(.*)', { 0?: string }>(true)
path<'/(a|b)/([a-z]+)', { 0: string, 1: string }>(true)
path<'/:a/(\\d+)/:b/(.*)', { a: string, 0: string, b: string, 1?: string }>(true)
path<'/:year(\\d{4}){-:month}?', { year: string, month?: string }>(true)
path<'/x{/:id-suffix}*/y', { id?: string }>(true)
path<'/x{/:id}', { id: string }>(true)
path<'/x{-text}?/:y', { y: string }>(true)
path<'/x{(\\d+)}?', { 0?: string }>(true)
path<'/\\:id/:x', { x: string }>(true)
path<'/x{\\:(\\d+)\\}:}?/:y', { 0?: string, y: string }>(true)
path<'/:lang((?:en|de))', { lang: string }>(true)
path<'/:x((?:a|b)?)', { x?: string }>(true)
path<'/:x(a|)', { x?: string }>(true)
path<'/:x(\\))/:y', { x: string, y: string }>(true)
path<'/a/:x' | '/b/:x/:y', { x: string, y?: string }>(true)
// @ts-expect-error: optional
path<'/:id?', { id: string }>(true)
// @ts-expect-error: there is no such parameter
path<'/:id', { id: string, post: string }>(true)

// the syntax of path-to-regexp 8

declare function eight<P extends string, T> (same: Same<Router.Params<P, 8>, T>): void
eight<'/', {}>(true)
eight<'/users/:id', { id: string }>(true)
eight<'/users{/:id}', { id?: string }>(true)
eight<'/:from-:to', { from: string, to: string }>(true)
eight<'/*path', { path: string }>(true)
eight<'/:a{/b{/*rest}/:c}/:d', { a: string, rest?: string, c?: string, d: string }>(true)
eight<'/\\:x/:"to be"/:$y', { 'to be': string, $y: string }>(true)
const modern = new Router<{}, {}, '/:tenant', 8>({ prefix: '/:tenant', syntax: 8 })
modern.get('/files{/:id}/*rest', ctx => { exactly<{ tenant: string, rest: string, id?: string }>()(ctx.params, true) })
new Router({ syntax: 8 }).get('/*rest', ctx => { is<string>(ctx.params.rest) })
// @ts-expect-error: 6 or 8
is<unknown>(new Router({ syntax: 7 }))

// state, context, params

interface User { name: string }
interface State { visits: number }
interface Extra { db: { find (id: string): User } }

const router = new Router<State, Extra>()

router.get('/users/:id/posts/:post?', (ctx, next) => {
  exactly<{ id: string, post?: string }>()(ctx.params, true)
  is<number>(ctx.state.visits)
  is<User>(ctx.db.find(ctx.params.id))
  // @ts-expect-error: there is no such parameter
  is<string>(ctx.params.idd)
  // @ts-expect-error: it may be missing
  is<string>(ctx.params.post)
  // @ts-expect-error: not in State
  is<any>(ctx.state.vists)
  // @ts-expect-error: not in Extra
  is<any>(ctx.bd)
  // @ts-expect-error: unknown until it is validated
  is<string>(ctx.request.body)
  is<string[]>(ctx.captures)
  is<string | symbol | null>(ctx.routerName)
  is<Promise<any>>(next())
  ctx.body = 'fine'
})

router.post(['/a/:x', '/b/:x/:y'], ctx => { exactly<{ x: string, y?: string }>()(ctx.params, true) })
router.put(/^\/(?<name>.*)$/, ctx => { is<string | undefined>(ctx.params.name) })
declare const text: string
router.patch(text, ctx => { is<string | undefined>(ctx.params.whatever) })
router.delete('named', '/users/:id', ctx => {
  exactly<{ id: string }>()(ctx.params, true)
  // @ts-expect-error: there is no such parameter
  is<string>(ctx.params.name)
})
router.all(Symbol('named'), '/:a', (ctx, next) => next(), ctx => { is<string>(ctx.params.a) })
// @ts-expect-error: not a function
router.get('/users', 'list')
// @ts-expect-error: a path is text or a RegExp
router.get(1, () => {})

// what a middleware of a route adds

declare function validate<T> (schema: T): Middleware<{}, { valid: T }>
declare const requireUser: Middleware<{ user: User }>
declare const untyped: Middleware
declare function asKoaHas (ctx: Context, next: Next): Promise<void>

router.get('/:id', validate({ price: 1 }), ctx => {
  is<number>(ctx.valid.price)
  is<string>(ctx.params.id)
  // @ts-expect-error: not in the schema
  is<number>(ctx.valid.prize)
})
router.post('item', '/:id', untyped, asKoaHas, requireUser, async ctx => {
  is<string>(ctx.state.user.name)
  is<number>(ctx.state.visits)
  is<string>(ctx.params.id)
  // @ts-expect-error: a middleware without types adds nothing
  is<any>(ctx.whatever)
})
router.get('/:id', requireUser, async (ctx, next) => {
  is<string>(ctx.state.user.name)
  is<string>(ctx.params.id)
  await next()
}, validate({ price: 1 }), (ctx, next) => next(), ctx => {
  is<string>(ctx.state.user.name)
  is<number>(ctx.valid.price)
  // @ts-expect-error: there is no such parameter
  is<string>(ctx.params.name)
})
router.get('/:id', untyped, untyped, untyped, untyped, untyped, untyped, ctx => {
  is<string>(ctx.params.id)
  // @ts-expect-error: there is no such parameter
  is<string>(ctx.params.name)
})
router.get('/', untyped)
router.get('/', asKoaHas)
// @ts-expect-error: nobody before it adds the user
router.get('/', requireUser)

// one of several methods

for (const method of ['get', 'post', 'all', 'del', 'connect'] as const) {
  router[method]('/:id', ctx => {
    is<string>(ctx.params.id)
    is<number>(ctx.state.visits)
    // @ts-expect-error: there is no such parameter
    is<string>(ctx.params.name)
  }).get('/', untyped)
  router[method]('item', ['/:id', '/x/:id'], untyped, asKoaHas, async (ctx, next) => { is<string>(ctx.params.id); await next() })
  router[method]('/:id', { summary: 'One' }, untyped, ctx => { is<string>(ctx.params.id) })
  router[method](Symbol('item'), '/:id', { summary: 'One' }, ctx => { is<string>(ctx.params.id) })
  router[method](/x/, ...[untyped, untyped])
  new Router({ prefix: '/:tenant' })[method]('/:id', ctx => { is<string>(ctx.params.tenant + ctx.params.id) })
  // @ts-expect-error: no function at all
  router[method]('/')
  // @ts-expect-error: nobody before it adds the user
  router[method]('/', requireUser)
  // @ts-expect-error: a path is text or a RegExp
  router[method](1, () => {})
}

const users = router.use(requireUser)
users.get('/me', ctx => {
  is<string>(ctx.state.user.name)
  is<number>(ctx.state.visits)
})
router.use(untyped, validate({ page: 1 })).get('/', ctx => {
  is<number>(ctx.valid.page)
  // @ts-expect-error: a middleware without types adds nothing
  is<any>(ctx.whatever)
})
router.use('/users/:id', async (ctx, next) => {
  is<string>(ctx.params.id)
  await next()
})
router.use(['/a', '/b'], untyped, requireUser)
router.param('id', (id, ctx, next) => {
  is<string>(id)
  is<string>(ctx.params.id)
  is<number>(ctx.state.visits)
  return next()
})

// a handler that is written elsewhere

const show: Router.Handler<'/users/:id', State, Extra> = ctx => { is<string>(ctx.params.id) }
router.get('/users/:id', show)
router.get('/users/:id/:more', show)
// @ts-expect-error: the path has no id
router.get('/users', show)

// without types of one's own: any state, as in Koa, but no unknown name on ctx

const bare = new Router()
bare.get('/:id', ctx => {
  is<string>(ctx.params.id)
  is<any>(ctx.state.whatever)
  // @ts-expect-error: nobody declared it
  is<any>(ctx.whatever)
})

bare.get<'/:id'>('/:id', ctx => { is<string>(ctx.params.id) }).get('/', ctx => { ctx.body = '' })

// the prefix

const tenants = new Router({ prefix: '/:tenant' })
tenants.get('/x/:y', ctx => { exactly<{ tenant: string, y: string }>()(ctx.params, true) })
tenants.use((ctx, next) => {
  is<string>(ctx.params.tenant)
  return next()
})
bare.prefix('/:late').get('/:id', ctx => { exactly<{ late: string, id: string }>()(ctx.params, true) })
const typed = new Router<State, Extra, '/:tenant'>({ prefix: '/:tenant' })
typed.get('/', ctx => { exactly<{ tenant: string }>()(ctx.params, true) })
// @ts-expect-error: another prefix than that of the type
is<unknown>(new Router<State, Extra, '/:tenant'>({ prefix: '/:tennant' }))
const api = new Router<State, Extra>({ prefix: '/api' })
api.get('/:id', ctx => { exactly<{ id: string }>()(ctx.params, true) })
const somewhere = new Router({ prefix: text })
somewhere.get('/:id', ctx => { is<string>(ctx.params.id) })

// nested, and in an app

tenants.use('/deep', bare.routes(), bare.allowedMethods())
tenants.use(bare.routes())
is<Router>(Router())
is<Router<any, any, any, any>>(router)
is<Router<any, any, any, any>>(modern)

const app = new Kone<State, Extra>()
app.use(router.routes()).use(router.allowedMethods({ throw: true }))
new Kone().use(router.routes()).use(router.middleware())
is<Kone.Middleware>(router.routes())
app.use(ctx => {
  is<unknown>(ctx.params)
  // @ts-expect-error: only the router's handlers know the path
  is<string>(ctx.params.id)
})
// in a context of any names it is any, as every name there, and as with the types of koa and koa-router
const controller = async (ctx: Kone.Context) => { ctx.body = ctx.params.id }
const parameterized = (ctx: Kone.ParameterizedContext, next: Kone.Next) => ctx.params.id ? next() : undefined
new Kone().use(ctx => { ctx.body = ctx.params.id }).use(controller).use(parameterized)
const loose = new Router()
loose.get('/:id', controller).get('/:id', parameterized, controller).get('/:id', ctx => {
  exactly<{ id: string }>()(ctx.params, true)
})
const koas = new Router<Kone.DefaultState, Kone.Context>()
koas.get('/:id', controller).get('/:id', ctx => { ctx.body = ctx.params.id })
// @ts-expect-error: the router is not its middleware
app.use(router)

// what a route says about itself

bare.get('/users/:id', { summary: 'One', tags: ['a'], responses: { 404: 'None' } }, ctx => {
  exactly<{ id: string }>()(ctx.params, true)
})
bare.get('name', '/users/:id', { deprecated: true }, ctx => { is<string>(ctx.params.id) })
// @ts-expect-error: no such name
bare.get('/', { sumary: 'One' }, ctx => { ctx.body = '' })

// an array of middleware
const many: Middleware[] = []
router.get('/many', ...many)
router.get('/many/:id', ...many, ctx => { exactly<{ id: string }>()(ctx.params, true) })
router.get('many', '/many', ...many)
router.get('/many', { summary: 'Many' }, ...many, ctx => { ctx.body = '' })
router.use(...many).use('/many', ...many)
// @ts-expect-error: no function at all
router.get('/users')

// also where the router is imported, which declares `params`
is<Kone>(new Kone<{ user?: string }>())

// names of any kind, as in koa-router's types
new Router<Kone.DefaultState, Kone.DefaultContext>().get('/:id', ctx => { ctx.user = ctx.params.id })
// @ts-expect-error: a name that nothing declares
new Router().get('/:id', ctx => { ctx.user = ctx.params.id })

// URLs
is<string | Error>(router.url('user', { id: 1 }, { query: { page: 2 } }))
router.url('user', 3, 'x', { encode: false })
router.use((ctx, next) => { router.url('user', ctx.params); return next() })
is<string>(Router.url('/users/:id', { id: 1 }, { query: 'page=2' }))
// @ts-expect-error: misspelt
router.url('user', { id: 1 }, { qurey: { page: 2 } })
// @ts-expect-error: misspelt
Router.url('/users/:id', { id: 1 }, { qurey: { page: 2 } })
