// validate: what the schemas of three libraries return is the type of ctx.valid.
import Kone from 'kone'
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { type } from 'arktype'
import Router from 'kone/middleware/router'
import validate from 'kone/middleware/validate'
import * as v from 'valibot'
import { z } from 'zod'

declare function is<T> (value: T): void
type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false

const app = new Kone()

app.use(validate({
  body: z.object({ price: z.number() }),
  query: v.object({ page: v.optional(v.pipe(v.string(), v.transform(Number)), '1') }),
  params: type({ id: 'string.numeric.parse' }),
  onError (err, ctx) {
    is<Array<{ in: string, path: Array<string | number>, message: string }>>(err.issues)
    ctx.status = err.status
  }
})).use(ctx => {
  is<Equal<typeof ctx.valid.body, { price: number }>>(true)
  is<Equal<typeof ctx.valid.query, { page: number }>>(true)
  is<Equal<typeof ctx.valid.params, { id: number }>>(true)
  // @ts-expect-error: no such field
  is<unknown>(ctx.valid.body.prize)
  // @ts-expect-error: no schema was given for it
  is<unknown>(ctx.valid.headers)
})

// one after the other
app.use(validate({ body: z.string() })).use(validate({ query: z.object({ a: z.string() }) })).use(ctx => {
  is<string>(ctx.valid.body)
  is<string>(ctx.valid.query.a)
})

declare const any: StandardSchemaV1<string, Date>
app.use(validate({ cookies: any })).use(ctx => is<Equal<typeof ctx.valid.cookies, Date>>(true))

// @ts-expect-error: not a schema
validate({ body: {} })
// @ts-expect-error: no such part
validate({ boddy: z.string() })

// on a route of kone's router, beside what the path gives

const router = new Router()
router.post('/items/:id', validate({ body: z.object({ price: z.number() }) }), ctx => {
  is<number>(ctx.valid.body.price)
  is<string>(ctx.params.id)
  // @ts-expect-error: not in the schema
  is<number>(ctx.valid.body.prize)
  // @ts-expect-error: nobody validated it
  is<unknown>(ctx.valid.query)
  // @ts-expect-error: nobody declared it
  is<any>(ctx.whatever)
})
router.get('/items', validate({ query: z.object({ page: z.number() }) }), validate({ headers: v.string() }), ctx => {
  is<number>(ctx.valid.query.page)
  is<string>(ctx.valid.headers)
})
router.get('/items', ctx => {
  // @ts-expect-error: nobody validated anything
  is<any>(ctx.valid)
})
app.use(router.routes())

// behind what a route says about itself
new Router().get('/:id', { summary: 'One' }, validate({ query: z.object({ page: z.string() }) }), ctx => {
  is<Equal<typeof ctx.valid.query, { page: string }>>(true)
  is<string>(ctx.params.id)
})

// what the handlers send
const sends = validate({ query: z.object({ a: z.string() }), response: { 200: z.string(), 404: v.string() }, serialize: true })
app.use(sends).use(ctx => {
  is<Equal<typeof ctx.valid, { query: { a: string } }>>(true)
})
// @ts-expect-error: not a schema
validate({ response: 5 })

// the body of a route's last function is one of those by status
const Item = z.object({ a: z.number() })
const Problem = v.object({ reason: v.string() })
const ask: Kone.Middleware = (ctx, next) => next()
const responses = new Router()
  .get('/', validate({ response: { 200: Item, 404: Problem } }), ctx => {
    ctx.body = { a: 1 }
    ctx.body = { reason: 'none' }
    // @ts-expect-error: in no schema
    ctx.body = { b: 1 }
    // @ts-expect-error: beside what the schema has
    ctx.response.body = { a: 1, b: 1 }
  })
  .post('named', '/', ask, validate({ response: { 201: Problem } }), validate({ query: Item }), async ctx => {
    ctx.body = { reason: 'none' }
    // @ts-expect-error: the compiler knows valibot's
    ctx.body = { a: 1 }
  })
  .put('/:id', { summary: 'One' }, validate({ response: { 200: type({ a: "'x' | 'y'" }) } }), ctx => {
    ctx.body = { a: 'x' }
    // @ts-expect-error: and arktype's
    ctx.body = { a: 'z' }
  })
  .patch('/', validate({ response: { 200: any } }), ctx => is<Equal<typeof ctx.body, string>>(true))
responses.use(validate({ response: { 200: Item } })).get('/below', ctx => {
  // @ts-expect-error: a schema of the router
  ctx.body = { b: 1 }
})
// in every form of a route
const sent = validate({ response: { 200: z.object({ a: z.literal(1) }) } })
type Sent = { a: 1 }
new Router()
  .get('/', ask, sent, ctx => is<Equal<typeof ctx.body, Sent>>(true))
  .get('/', ask, ask, sent, ctx => is<Equal<typeof ctx.body, Sent>>(true))
  .get('/', ask, ask, ask, sent, ctx => is<Equal<typeof ctx.body, Sent>>(true))
  .get('name', '/', sent, ctx => is<Equal<typeof ctx.body, Sent>>(true))
  .get('name', '/', ask, sent, ctx => is<Equal<typeof ctx.body, Sent>>(true))
  .get('name', '/', ask, ask, sent, ctx => is<Equal<typeof ctx.body, Sent>>(true))
  .get('/', {}, ask, sent, ctx => is<Equal<typeof ctx.body, Sent>>(true))
  .get('/', {}, ask, ask, sent, ctx => is<Equal<typeof ctx.body, Sent>>(true))
  .get('/', {}, ask, ask, ask, sent, ctx => is<Equal<typeof ctx.body, Sent>>(true))
  .use(sent)
  .get('name', '/', ctx => is<Equal<typeof ctx.body, Sent>>(true))
  .get('/', {}, ctx => is<Equal<typeof ctx.body, Sent>>(true))
// any without, with one schema for every success, without one of a success, or where the compiler does not know it
responses.get('/', ctx => is<Equal<typeof ctx.body, any>>(true))
responses.get('/', validate({ query: Item }), ctx => is<Equal<typeof ctx.body, any>>(true))
responses.get('/', validate({ response: Item }), ctx => is<Equal<typeof ctx.body, any>>(true))
responses.get('/', validate({ response: { 404: Problem } }), ctx => is<Equal<typeof ctx.body, any>>(true))
responses.get('/', validate({} as validate.Options), ctx => is<Equal<typeof ctx.body, any>>(true))
