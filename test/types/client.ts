// client: what a chain of routes and validate say is the type of requests and responses.
import Kone from 'kone'
import client from 'kone/client'
import Router from 'kone/middleware/router'
import validate from 'kone/middleware/validate'
import { z } from 'zod'

declare function is<T> (value: T): void

const Draft = z.object({ title: z.string() })
const Note = Draft.extend({ id: z.number(), at: z.iso.datetime() })
const Problem = z.object({ reason: z.string() })
const Page = z.object({ page: z.string().transform(Number), tag: z.string().optional() })

const users = new Router({ prefix: '/users' })
  .get('/', ctx => { ctx.body = [] })
  .get('/:user', validate({ response: { 200: z.string(), 404: Problem } }), ctx => { ctx.body = '' })

export const router = new Router()
  .get('/notes', validate({ query: Page, response: z.array(Note) }), ctx => {
    is<number>(ctx.valid.query.page)
    ctx.body = []
  })
  .get('/notes/:id', { summary: 'One' }, validate({ response: Note }), ctx => { ctx.body = ctx.params.id })
  .post('named', '/notes', validate({ query: z.object({ draft: z.enum(['yes', 'no']).optional() }) }), validate({ body: Draft, response: { 201: Note } }), ctx => {
    ctx.status = 201
  })
  .delete(['/notes/:id', '/notes/:id/:part?'], ctx => { ctx.status = 204 })
  .use(validate({ headers: z.object({ 'x-key': z.string() }) }))
  .all('/any', ctx => { ctx.body = '' })
  .use('/api/:team', users.routes(), users.allowedMethods())
  .use(new Router().put('/late', ctx => { ctx.body = '' }).routes())

const api = client<typeof router>('http://localhost', { fetch: new Kone().fetch, headers: { 'X-Key': 'a' } })

async function use () {
  const list = await api.get('/notes', { query: { page: '1' } })
  if (list.ok) {
    const [note] = await list.json()
    is<{ title: string, id: number, at: string } | undefined>(note)
    // @ts-expect-error: no such field
    is<unknown>(note?.titel)
  }
  // @ts-expect-error: page is missing
  api.get('/notes')
  // @ts-expect-error: page is text
  api.get('/notes', { query: { page: 1 } })
  // @ts-expect-error: there is no such path
  api.get('/note')
  // @ts-expect-error: there is no such method of the path
  api.put('/notes', {})

  const one = await api.get('/notes/:id', { params: { id: 7 } })
  if (one.ok) is<string>((await one.json()).title)
  // @ts-expect-error: the id is missing
  api.get('/notes/:id')
  // @ts-expect-error: there is no such parameter
  api.get('/notes/:id', { params: { id: 7, more: 1 } })

  const created = await api.post('/notes', { body: { title: 'One' }, query: { draft: 'no' }, signal: AbortSignal.timeout(5) })
  if (created.status === 201) is<number>((await created.json()).id)
  // @ts-expect-error: there is no such status
  is<boolean>(created.status === 202)
  api.post('/notes', { body: new URLSearchParams({ title: 'One' }) })
  // @ts-expect-error: the title is missing
  api.post('/notes', { body: {} })
  // @ts-expect-error: title is text
  api.post('/notes', { body: { title: 1 } })

  is<Response>(await api.delete('/notes/:id', { params: { id: 7 } }))
  api.delete('/notes/:id/:part?', { params: { id: 7 } })
  api.patch('/any', { body: 'text' })
  api.put('/late')

  await api.get('/api/:team/users', { params: { team: 'a' } })
  const user = await api.get('/api/:team/users/:user', { params: { team: 'a', user: 'b' } })
  if (user.status === 200) is<string>(await user.json())
  if (user.status === 404) is<string>((await user.json()).reason)
  if (user.status === 401) is<unknown>(await user.json()) // of a middleware
  // @ts-expect-error: the team is missing
  api.get('/api/:team/users/:user', { params: { user: 'b' } })
}

is<() => Promise<void>>(use)

// statements of their own add nothing
const plain = new Router()
plain.get('/a', ctx => { ctx.body = '' })
// @ts-expect-error: the type of plain has no routes
client<typeof plain>('http://localhost').get('/a')
// @ts-expect-error: not a router
client<Kone>('http://localhost')
