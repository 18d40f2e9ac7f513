'use strict'

const path = require('node:path')

const content = () => ({
  'application/json': {
    schema: { type: 'object', required: ['name'], properties: { name: { type: 'string', maxLength: 20 }, age: { type: 'integer' } } }
  }
})
const SPEC = {
  openapi: '3.0.0',
  info: { title: 'users', version: '1.0.0' },
  paths: {
    '/hello': { get: { responses: { 200: { description: 'a greeting', content: { 'text/plain': { schema: { type: 'string' } } } } } } },
    '/users': { post: { requestBody: { required: true, content: content() }, responses: { 201: { description: 'the user', content: content() } } } },
    '/users/{id}': {
      get: {
        parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'integer' } }, { name: 'bad', in: 'query', schema: { type: 'boolean' } }],
        responses: { 200: { description: 'a user', content: content() } }
      }
    }
  }
}

module.exports = {
  title: 'koa-oas3, requests and responses checked by OpenAPI',
  packages: { 'koa-oas3': '3.1.0' },
  responses: 12,

  async serve () {
    const Koa = require('koa')
    const { oas } = require('koa-oas3')

    const app = new Koa()
    app.silent = true
    app.use(await oas({ spec: SPEC, validateResponse: true, validatePaths: ['/users', '/hello'] }))
    app.use(ctx => {
      if (ctx.path === '/hello') ctx.body = 'Hello'
      if (ctx.path === '/users') {
        ctx.status = 201
        ctx.body = ctx.request.body
      }
      if (ctx.path.startsWith('/users/')) ctx.body = ctx.query.bad ? { age: 'old' } : { name: path.basename(ctx.path), age: 36 }
    })
    return app.listen(0)
  },

  async ask (client) {
    await client.ask('GET /hello')
    await client.ask('HEAD /hello')
    await client.ask('POST /users', { json: { name: 'Ada ☃', age: 36 } })
    await client.ask('POST /users', { json: { age: 36 } })
    await client.ask('POST /users', { headers: { 'content-type': 'application/json' }, body: '{' })
    await client.ask('POST /users', { form: { name: 'Ada' } })
    await client.ask('GET /users/7')
    await client.ask('GET /users/x')
    await client.ask('GET /users/7?bad=true')
    await client.ask('DELETE /users/7')
    await client.ask('GET /openapi.json')
    await client.ask('GET /openapi.html')
  },

  load: { line: 'POST /users', json: { name: 'Ada', age: 36 }, status: 201 }
}
