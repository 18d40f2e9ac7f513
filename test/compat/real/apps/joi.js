'use strict'

module.exports = {
  title: 'koa-joi-router, routes with validation',
  group: 'suites',
  packages: { 'koa-joi-router': '8.0.0' },
  responses: 13,

  async serve () {
    const Koa = require('koa')
    const joi = require('koa-joi-router')
    const { Joi } = joi

    const router = joi()
    router.get('/', ctx => { ctx.body = 'Hello Joi' })
    const handler = ctx => {
      ctx.status = 201
      ctx.body = ctx.request.body
    }
    const body = { name: Joi.string().max(20).required(), age: Joi.number() }
    const output = { 201: { body: { name: Joi.string(), age: Joi.number() } } }
    router.route({ method: 'post', path: '/users', validate: { type: 'json', body, output }, handler })
    router.route({ method: 'post', path: '/form', validate: { type: 'form', body }, handler })
    router.route({
      method: 'post',
      path: '/upload',
      validate: { type: 'multipart' },
      async handler (ctx) {
        const names = []
        for await (const part of ctx.request.parts) {
          names.push(part.filename)
          part.resume()
        }
        ctx.body = { names }
      }
    })
    router.route({
      method: 'get',
      path: '/users/:id',
      validate: {
        params: { id: Joi.number() },
        query: { verbose: Joi.boolean() },
        output: { 200: { body: { id: Joi.number() } } }
      },
      handler (ctx) { ctx.body = ctx.query.verbose ? { id: 'no number' } : { id: ctx.params.id } }
    })
    router.route({
      method: 'put',
      path: '/users',
      validate: { type: 'json', body, continueOnError: true },
      handler (ctx) { ctx.body = { fault: ctx.invalid?.body?.msg } }
    })
    const app = new Koa()
    app.silent = true
    app.use(router.middleware())
    return app.listen(0)
  },

  async ask (client) {
    const part = 'Content-Disposition: form-data; name="file"; filename="a.txt"\r\nContent-Type: text/plain'
    await client.ask('GET /')
    await client.ask('POST /users', { json: { name: 'Ada ☃', age: '36' } })
    await client.ask('POST /users', { json: { name: 'x'.repeat(21) } })
    await client.ask('POST /users', { headers: { 'content-type': 'application/json' }, body: '{' })
    await client.ask('POST /users', { form: { name: 'Ada' } })
    await client.ask('POST /form', { form: { name: 'Edsger & co', age: '40' } })
    await client.ask('POST /upload', { headers: { 'content-type': 'multipart/form-data; boundary=limit' }, body: `--limit\r\n${part}\r\n\r\ntext\r\n--limit--\r\n` })
    await client.ask('GET /users/7')
    await client.ask('GET /users/x')
    await client.ask('GET /users/7?verbose=true')
    await client.ask('PUT /users', { json: {} })
    await client.ask('HEAD /users/7')
    await client.ask('DELETE /users/7')
  },

  load: { line: 'POST /users', json: { name: 'Ada', age: 36 }, status: 201 }
}
