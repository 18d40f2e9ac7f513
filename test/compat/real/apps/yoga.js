'use strict'

module.exports = {
  title: 'GraphQL Yoga 5',
  isFramework: true,
  group: 'yoga',
  packages: { 'graphql-yoga': '5.24.1', graphql: '16.15.0' },
  responses: 11,

  async serve () {
    const Koa = require('koa')
    const { createSchema, createYoga } = require('graphql-yoga')

    const yoga = createYoga({
      logging: false,
      schema: createSchema({
        typeDefs: `
          type Query { hello(name: String = "world"): String!, fails: String, agent: String }
          type Mutation { count(by: Int!): Int! }
          type Subscription { countdown(from: Int!): Int! }
        `,
        resolvers: {
          Query: {
            hello: (parent, { name }) => `hello ${name}`,
            fails () { throw new Error('not today') },
            agent: (parent, args, { request }) => request.headers.get('user-agent')
          },
          Mutation: { count: (parent, { by }) => by },
          Subscription: {
            countdown: {
              async * subscribe (parent, { from }) {
                for (let i = from; i >= 0; i--) yield { countdown: i }
              }
            }
          }
        }
      })
    })
    const app = new Koa()
    app.silent = true
    app.use(async (ctx, next) => {
      if (ctx.path !== '/graphql') return next()
      const response = await yoga.handleNodeRequestAndResponse(ctx.req, ctx.res, ctx)
      ctx.status = response.status
      response.headers.forEach((value, name) => ctx.append(name, value))
      ctx.body = response.body
    })
    app.use(ctx => { ctx.body = 'beside it' })
    return app.listen(0)
  },

  async ask (client) {
    await client.ask('GET /')
    await client.ask('POST /graphql', { json: { query: '{ hello }' } })
    await client.ask('POST /graphql', { json: { query: 'query ($n: String) { hello(name: $n) agent }', variables: { n: 'é☃' } }, headers: { 'user-agent': 'test' } })
    await client.ask(`GET /graphql?query=${encodeURIComponent('{ hello(name: "url") }')}`, { headers: { accept: 'application/json' } })
    await client.ask('POST /graphql', { json: { query: 'mutation { count(by: 2) }' } })
    await client.ask('POST /graphql', { json: { query: '{ fails }' } })
    await client.ask('POST /graphql', { json: { query: '{ nothing }' } })
    await client.ask('POST /graphql', { headers: { 'content-type': 'application/json' }, body: '{' })
    await client.ask('POST /graphql', { json: { query: 'subscription { countdown(from: 2) }' }, headers: { accept: 'text/event-stream' } })
    await client.ask('OPTIONS /graphql', { headers: { origin: 'http://a.example', 'access-control-request-method': 'POST' } })
    await client.ask('DELETE /graphql')
  },

  load: { line: 'POST /graphql', json: { query: '{ hello }' } }
}
