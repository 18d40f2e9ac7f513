'use strict'

module.exports = {
  title: 'GraphQL',
  packages: { 'koa-graphql': '0.12.0', graphql: '15.11.0', 'koa-mount': '4.2.0' },
  responses: 14,

  async serve () {
    const Koa = require('koa')
    const mount = require('koa-mount')
    const { graphqlHTTP } = require('koa-graphql')
    const { buildSchema } = require('graphql')

    const schema = buildSchema(`
      type Query { hello(name: String = "world"): String!, fails: String, agent: String }
      type Mutation { count(by: Int!): Int! }
    `)
    let counted = 0
    const rootValue = {
      hello: ({ name }) => `hello ${name}`,
      fails () { throw new Error('not today') },
      agent: (args, ctx) => ctx.get('user-agent'),
      count: ({ by }) => (counted += by)
    }
    const app = new Koa()
    app.silent = true
    app.use(mount('/graphql', graphqlHTTP({ schema, rootValue, graphiql: true })))
    return app.listen(0)
  },

  async ask (client) {
    const html = { accept: 'text/html' }
    await client.ask('POST /graphql', { json: { query: '{ hello }' } })
    await client.ask('POST /graphql', {
      json: { query: 'query ($n: String) { hello(name: $n) }', variables: { n: 'é☃' } }
    })
    await client.ask(`GET /graphql?query=${encodeURIComponent('{ hello(name: "url") }')}`)
    await client.ask('POST /graphql', { headers: { 'content-type': 'application/graphql' }, body: '{ hello }' })
    await client.ask('POST /graphql', { form: { query: '{ hello agent }' }, headers: { 'user-agent': 'test' } })
    await client.ask('POST /graphql', { json: { query: 'mutation { count(by: 2) }' } })
    await client.ask(`GET /graphql?query=${encodeURIComponent('mutation { count(by: 2) }')}`)
    await client.ask('POST /graphql', { json: { query: '{ fails }' } })
    await client.ask('POST /graphql', { json: { query: '{ nothing }' } })
    await client.ask('POST /graphql', { json: { query: '{' } })
    await client.ask('POST /graphql', { headers: { 'content-type': 'application/json' }, body: '{' })
    await client.ask('DELETE /graphql')
    await client.ask('GET /graphql', { headers: html })
    await client.ask('GET /other')
  },

  load: { line: 'POST /graphql', json: { query: '{ hello }' } }
}
