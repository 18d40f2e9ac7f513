'use strict'

module.exports = {
  title: 'REST with a router and a body parser',
  packages: { '@koa/router': '15.7.0', '@koa/bodyparser': '6.1.0' },
  responses: 15,

  async serve () {
    const Koa = require('koa')
    const { Router } = require('@koa/router')
    const { bodyParser } = require('@koa/bodyparser')

    const users = new Map([['1', { id: '1', name: 'Ada' }]])
    const router = new Router({ prefix: '/users' })
    router.param('id', (id, ctx, next) => {
      ctx.user = users.get(id)
      ctx.assert(ctx.user, 404, `no user ${id}`)
      return next()
    })
    router.get('/', ctx => { ctx.body = [...users.values()] })
    router.post('/', ctx => {
      const { name } = ctx.request.body
      ctx.assert(name, 422, 'a user has a name')
      const user = { id: String(users.size + 1), name }
      users.set(user.id, user)
      ctx.status = 201
      ctx.set('Location', router.url('user', user.id))
      ctx.body = user
    })
    router.get('user', '/:id', ctx => { ctx.body = ctx.user })
    router.put('/:id', ctx => { ctx.body = Object.assign(ctx.user, ctx.request.body) })
    router.delete('/:id', ctx => { users.delete(ctx.params.id); ctx.status = 204 })
    router.redirect('/me', '/users/1')

    const app = new Koa()
    app.silent = true
    app.use(bodyParser({ jsonLimit: '1kb' })).use(router.routes()).use(router.allowedMethods())
    return app.listen(0)
  },

  async ask (client) {
    await client.ask('GET /users')
    await client.ask('POST /users', { json: { name: 'Grace ☃' } })
    await client.ask('POST /users', { form: { name: 'Edsger & co' } })
    await client.ask('POST /users', { json: {} })
    await client.ask('POST /users', { headers: { 'content-type': 'application/json' }, body: '{"name"' })
    await client.ask('POST /users', { json: { name: 'x'.repeat(2000) } })
    await client.ask('PUT /users/2', { json: { name: 'Hopper' } })
    await client.ask('GET /users/2?verbose=1')
    await client.ask('HEAD /users/2')
    await client.ask('DELETE /users/2')
    await client.ask('GET /users/2')
    await client.ask('PATCH /users/1')
    await client.ask('OPTIONS /users/1')
    await client.ask('GET /users/me')
    await client.ask('GET /nothing')
  },

  load: { line: 'PUT /users/1', json: { name: 'Ada Lovelace' } }
}
