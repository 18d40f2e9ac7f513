'use strict'

// routing-controllers, whose tests are not in its tarball; its decorators are called as TypeScript calls them.

const { Readable } = require('node:stream')

module.exports = {
  title: 'routing-controllers',
  group: 'suites',
  packages: {
    'routing-controllers': '0.11.3',
    '@koa/cors': '5.0.0',
    'class-transformer': '0.5.1',
    'class-validator': '0.14.2',
    'reflect-metadata': '0.2.2'
  },
  responses: 33,

  async serve () {
    require('reflect-metadata')
    const rc = require('routing-controllers')

    /** A method with its decorators, and those of its parameters. */
    const action = (Controller, name, decorators, ...parameters) => {
      parameters.forEach((decorate, i) => decorate(Controller.prototype, name, i))
      const descriptor = Object.getOwnPropertyDescriptor(Controller.prototype, name)
      for (const decorate of decorators) decorate(Controller.prototype, name, descriptor)
    }

    class Users {
      all () { return [{ id: 1 }] }
      one (id) { return id === 1 ? { id } : undefined }
      none () { return null }
      create (body) { return { created: body } }
      remove () {}
      text () { return 'text' }
      buffer () { return Buffer.from('bytes') }
      stream () { return Readable.from(['one ', 'two']) }
      later () { return new Promise(resolve => setImmediate(resolve, { later: true })) }
      fields (type, session, query) { return { type, session, query } }
      moved () {}
      upload (file) { return { name: file.originalname, size: file.size } }
      fails (how) {
        if (how === 'plain') throw new Error('plain')
        if (how === 'late') return new Promise((resolve, reject) => setImmediate(reject, new rc.ForbiddenError('late')))
        throw new rc.HttpError(Number(how), 'refused')
      }

      async context (ctx) {
        ctx.status = 202
        ctx.set('X-Own', '1')
        ctx.body = { own: ctx.request.path }
        return ctx
      }

      async body (ctx) {
        ctx.body = 'of ctx'
        return ctx.body
      }

      async response (res) {
        res.status = 203
        res.type = 'text/plain'
        return 'of response'
      }
    }
    rc.JsonController('/users')(Users)
    action(Users, 'all', [rc.Get('/'), rc.Header('Cache-Control', 'no-store')])
    action(Users, 'none', [rc.Get('/none'), rc.OnNull(204)])
    action(Users, 'text', [rc.Get('/text'), rc.ContentType('text/plain')])
    action(Users, 'buffer', [rc.Get('/buffer')])
    action(Users, 'stream', [rc.Get('/stream'), rc.ContentType('application/octet-stream')])
    action(Users, 'later', [rc.Get('/later')])
    action(Users, 'fields', [rc.Get('/fields')], rc.HeaderParam('accept'), rc.CookieParam('a'), rc.QueryParam('q'))
    action(Users, 'moved', [rc.Get('/moved'), rc.Redirect('/users/text')])
    action(Users, 'context', [rc.Get('/context')], rc.Ctx())
    action(Users, 'body', [rc.Get('/body')], rc.Ctx())
    action(Users, 'response', [rc.Get('/response')], rc.Res())
    action(Users, 'fails', [rc.Get('/fails/:how')], rc.Param('how'))
    action(Users, 'one', [rc.Get('/:id'), rc.OnUndefined(404)], (proto, name, i) => {
      Reflect.defineMetadata('design:paramtypes', [Number], proto, name)
      rc.Param('id')(proto, name, i)
    })
    action(Users, 'create', [rc.Post('/'), rc.HttpCode(201), rc.Location('/users/2')], rc.Body())
    action(Users, 'upload', [rc.Post('/upload')], rc.UploadedFile('file'))
    action(Users, 'remove', [rc.Delete('/:id'), rc.OnUndefined(204)])

    const app = rc.createKoaServer({ controllers: [Users], cors: true, defaultErrorHandler: true, development: false })
    app.silent = true
    app.on('error', () => {})
    return app.listen(0)
  },

  async ask (client) {
    const part = 'Content-Disposition: form-data; name="file"; filename="a.txt"\r\nContent-Type: text/plain'
    for (const path of ['', '/1', '/2', '/x', '/none', '/text', '/buffer', '/stream', '/later', '/moved', '/context', '/body', '/response']) {
      await client.ask(`GET /users${path}`)
    }
    for (const path of ['/1', '/none', '/text', '/buffer', '/stream', '/context']) await client.ask(`HEAD /users${path}`)
    await client.ask('GET /users/fields?q=%20b', { headers: { accept: 'text/html', cookie: 'a=1' } })
    for (const how of ['plain', 'late', '418', '503']) await client.ask(`GET /users/fails/${how}`)
    await client.ask('POST /users', { json: { name: 'Ada ☃' } })
    await client.ask('POST /users', { form: { name: 'Edsger & co' } })
    await client.ask('POST /users', { headers: { 'content-type': 'application/json' }, body: '{' })
    await client.ask('POST /users/upload', { headers: { 'content-type': 'multipart/form-data; boundary=limit' }, body: `--limit\r\n${part}\r\n\r\ntext\r\n--limit--\r\n` })
    await client.ask('DELETE /users/1')
    await client.ask('PUT /users/1', { json: {} })
    await client.ask('OPTIONS /users', { headers: { origin: 'http://a.example', 'access-control-request-method': 'POST' } })
    await client.ask('GET /users/1', { headers: { origin: 'http://a.example' } })
    await client.ask('GET /nothing')
  }
}
