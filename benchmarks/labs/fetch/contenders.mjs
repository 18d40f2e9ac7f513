import { createRequire } from 'node:module'
import { H3 } from 'h3'
import { Hono } from 'hono'
import { AutoRouter, text } from 'itty-router'

const kone = createRequire(import.meta.url)('../../lib/servers/kone')

/** Name → a function that makes `fetch`: a GET passes one middleware and gives text, a POST gives its JSON back, parsed. */
export default {
  floor: () => async request => request.method === 'GET' ? new Response('Hello World') : Response.json(await request.json()),

  hono () {
    const app = new Hono()
    app.use(async (c, next) => { await next() })
    app.get('/', c => c.text('Hello World'))
    app.post('/', async c => c.json(await c.req.json()))
    return app.fetch
  },

  h3 () {
    const app = new H3()
    app.use(async (event, next) => await next())
    app.get('/', () => 'Hello World')
    app.post('/', async ({ req }) => await req.json())
    return app.fetch
  },

  'itty-router' () {
    const app = AutoRouter({ before: [async () => {}] })
    app.get('/', () => text('Hello World'))
    app.post('/', async request => await request.json())
    return app.fetch
  },

  kone () {
    const app = new (kone('.'))()
    app.use(async (ctx, next) => { await next() })
    app.use(async ctx => {
      ctx.body = ctx.method === 'GET' ? 'Hello World' : JSON.parse(await ctx.request.readBody())
    })
    return app.fetch
  }
}
