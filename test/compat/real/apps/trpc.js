'use strict'

// tRPC as Koa apps mount it: by its adapter for node:http, and by the one for fetch().

module.exports = {
  title: 'tRPC, by its adapters for node:http and fetch',
  packages: { '@trpc/server': '11.25.2' },
  responses: 23,

  async serve () {
    const Koa = require('koa')
    const { initTRPC, TRPCError } = require('@trpc/server')
    const { nodeHTTPRequestHandler } = require('@trpc/server/adapters/node-http')
    const { fetchRequestHandler } = require('@trpc/server/adapters/fetch')
    const { Readable } = require('node:stream')

    const t = initTRPC.context().create({ isDev: false })
    const object = check => value => {
      if (!check(value)) throw new Error('bad input')
      return value
    }
    const router = t.router({
      hello: t.procedure.input(object(value => typeof value?.name === 'string'))
        .query(({ input, ctx }) => ({ hello: input.name, agent: ctx.agent })),
      add: t.procedure.input(object(Array.isArray)).mutation(({ input }) => input.reduce((sum, one) => sum + one, 0)),
      refused: t.procedure.query(() => { throw new TRPCError({ code: 'FORBIDDEN', message: 'not you' }) }),
      count: t.procedure.subscription(async function * () { for (let i = 0; i < 3; i++) yield i }),
      later: t.procedure.query(() => ({ late: new Promise(resolve => setImmediate(resolve, 'done')) }))
    })

    const app = new Koa()
    app.silent = true
    app.use(async (ctx, next) => {
      if (!ctx.path.startsWith('/node/')) return next()
      ctx.respond = false
      ctx.status = 200
      await nodeHTTPRequestHandler({
        router,
        req: ctx.req,
        res: ctx.res,
        path: ctx.path.slice('/node/'.length),
        createContext: ({ req }) => ({ agent: req.headers['user-agent'] ?? 'none' })
      })
    })
    app.use(async (ctx, next) => {
      if (!ctx.path.startsWith('/fetch/')) return next()
      const hasBody = !['GET', 'HEAD'].includes(ctx.method)
      const response = await fetchRequestHandler({
        router,
        endpoint: '/fetch',
        req: new Request(ctx.href, {
          method: ctx.method,
          headers: ctx.headers,
          ...hasBody && { body: Readable.toWeb(ctx.req), duplex: 'half' }
        }),
        createContext: ({ req }) => ({ agent: req.headers.get('user-agent') ?? 'none' })
      })
      ctx.status = response.status
      for (const [name, value] of response.headers) ctx.set(name, value)
      ctx.body = response.body && Readable.fromWeb(response.body)
    })
    app.use(ctx => { ctx.body = 'beside it' })
    return app.listen(0)
  },

  async ask (client) {
    const input = value => encodeURIComponent(JSON.stringify(value))
    const stream = { headers: { 'trpc-accept': 'application/jsonl' } }
    for (const base of ['/node', '/fetch']) {
      await client.ask(`GET ${base}/hello?input=${input({ name: 'Ada' })}`, { headers: { 'user-agent': 'test' } })
      await client.ask(`GET ${base}/hello?input=${input({})}`)
      await client.ask(`GET ${base}/hello,refused?batch=1&input=${input({ 0: { name: 'Ada' } })}`)
      await client.ask(`GET ${base}/hello,later?batch=1&input=${input({ 0: { name: 'Ada' } })}`, stream)
      await client.ask(`POST ${base}/add`, { json: [1, 2, 3] })
      await client.ask(`POST ${base}/add`, { headers: { 'content-type': 'application/json' }, body: '[1,' })
      await client.ask(`GET ${base}/add`)
      await client.ask(`HEAD ${base}/hello?input=${input({ name: 'Ada' })}`)
      await client.ask(`GET ${base}/refused`)
      await client.ask(`GET ${base}/count`)
      await client.ask(`GET ${base}/none`)
    }
    await client.ask('GET /')
  },

  load: { line: `GET /node/hello?input=${encodeURIComponent('{"name":"Ada"}')}` }
}
