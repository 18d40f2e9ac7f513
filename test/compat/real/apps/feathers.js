'use strict'

module.exports = {
  title: 'Feathers 5 on Koa 3, a service by REST',
  isFramework: true,
  koa: 3,
  group: 'feathers',
  packages: { '@feathersjs/koa': '5.0.50', '@feathersjs/feathers': '5.0.50' },
  responses: 15,

  async serve () {
    const { feathers } = require('@feathersjs/feathers')
    const { bodyParser, cors, errorHandler, koa, rest } = require('@feathersjs/koa')

    const users = new Map([[1, { id: 1, name: 'Ada' }]])
    const found = id => {
      if (!users.has(Number(id))) throw Object.assign(new Error(`no user ${id}`), { name: 'NotFound', code: 404, className: 'not-found' })
      return users.get(Number(id))
    }
    const app = koa(feathers())
    app.silent = true
    app.use(cors()).use(errorHandler()).use(bodyParser())
    app.configure(rest())
    app.use('hello', { find: async () => ({ hello: 'world' }) })
    app.use('users', {
      find: async ({ query, headers }) => ({ users: [...users.values()], query, accept: headers.accept }),
      get: async id => found(id),
      async create (data) {
        const user = { ...data, id: users.size + 1 }
        users.set(user.id, user)
        return user
      },
      patch: async (id, data) => Object.assign(found(id), data),
      async remove (id) {
        const user = found(id)
        users.delete(user.id)
        return user
      }
    })
    app.service('users').hooks({ after: { find: [ctx => { ctx.http.headers = { 'X-Hook': 'ran' } }] } })
    return app.listen(0)
  },

  async ask (client) {
    await client.ask('GET /hello', { headers: { origin: 'http://a.example' } })
    await client.ask('GET /users?name[$in]=Ada&$limit=1', { headers: { accept: 'application/json' } })
    await client.ask('GET /users/1')
    await client.ask('HEAD /users/1')
    await client.ask('GET /users/7')
    await client.ask('POST /users', { json: { name: 'Grace ☃' } })
    await client.ask('POST /users', { form: { name: 'Edsger & co' } })
    await client.ask('POST /users', { headers: { 'content-type': 'application/json' }, body: '{' })
    await client.ask('PATCH /users/2', { json: { name: 'Hopper' } })
    await client.ask('PUT /users/2', { json: { name: 'Hopper' } })
    await client.ask('DELETE /users/2')
    await client.ask('DELETE /users/2')
    await client.ask('OPTIONS /users', { headers: { origin: 'http://a.example', 'access-control-request-method': 'PUT' } })
    await client.ask('GET /nothing')
    await client.ask('GET /nothing', { headers: { accept: 'text/html' } })
  },

  load: { line: 'GET /users/1' }
}
