'use strict'

const assert = require('node:assert/strict')
const { once } = require('node:events')
const fs = require('node:fs')
const Module = require('node:module')
const os = require('node:os')
const path = require('node:path')
const { describe, it } = require('node:test')
const { pathToFileURL } = require('node:url')

const { comparison } = require('../compat/real/applications')
const Client = require('../compat/real/client')
const { install } = require('../helpers/area')
const Kone = require('../helpers/kone')
const { sideBySide } = require('./side-by-side')

/*
 * The same of packages that bring many others: they are in this folder's own lock, and run in make test-all.
 */

const json = { 'content-type': 'application/json' }
const { require: area, folder } = install('packages')
const modules = path.join(folder, 'node_modules')

sideBySide('koa2-swagger-ui', {
  set (app) {
    app.use(area('koa2-swagger-ui').koaSwagger({ routePrefix: '/docs', swaggerOptions: { url: '/openapi.json' } }))
  },
  exchanges: { 'the page': [['GET /docs'], ['HEAD /docs'], ['GET /docs/none'], ['GET /']] }
})

sideBySide('webpack-dev-middleware', {
  async set (app) {
    const compiler = area('webpack')({ mode: 'development', entry: require.resolve('koa-compose'), output: { path: '/site' } })
    const middleware = area('webpack-dev-middleware').koaWrapper(compiler, { stats: 'none', publicPath: '/site/' })
    app.use(middleware)
    await new Promise(resolve => middleware.devMiddleware.waitUntilValid(resolve))
    return { close: () => new Promise(resolve => middleware.devMiddleware.close(resolve)) }
  },
  exchanges: {
    'a bundle': [['GET /site/main.js'], ['HEAD /site/main.js'], ['GET /site/main.js', { range: 'bytes=0-9' }], ['GET /site/none.js'], ['GET /']]
  }
})

sideBySide('routing-controllers', {
  set (app) {
    area('reflect-metadata')
    const { Body, Get, HttpCode, JsonController, NotFoundError, Param, Post, QueryParam, useKoaServer } = area('routing-controllers')
    class Users {
      list (q) { return { q } }
      one (id) {
        if (id > 1) throw new NotFoundError(`no user ${id}`)
        return { id }
      }

      add (user) { return user }
    }
    const decorate = (name, route, parameter, ...more) => {
      for (const one of [route, ...more]) one(Users.prototype, name)
      parameter(Users.prototype, name, 0)
    }
    Reflect.defineMetadata('design:paramtypes', [Number], Users.prototype, 'one')
    Reflect.defineMetadata('design:paramtypes', [String], Users.prototype, 'list')
    Reflect.defineMetadata('design:paramtypes', [Object], Users.prototype, 'add')
    decorate('list', Get('/'), QueryParam('q'))
    decorate('one', Get('/:id'), Param('id'))
    decorate('add', Post('/'), Body(), HttpCode(201))
    JsonController('/users')(Users)
    useKoaServer(app, { controllers: [Users], development: false })
  },
  exchanges: {
    controllers: [
      ['GET /users?q=a'], ['HEAD /users'], ['GET /users/1'], ['GET /users/2'], ['GET /users/x'], ['POST /users', json, '{"name":"a"}'],
      ['POST /users', json, '{"name"'], ['GET /']
    ]
  }
})

/*
 * Apps of `make compat` whose packages are small. What the others need (egg-security: 352 packages) is left to it.
 */
for (const name of ['joi', 'onerror', 'routing']) {
  const file = path.join(modules, '.apps', `${name}.js`) // beside its packages
  fs.mkdirSync(path.dirname(file), { recursive: true })
  fs.copyFileSync(path.join(__dirname, '../compat/real/apps', `${name}.js`), file)
  const app = require(file)

  describe(app.title, () => {
    it('should send what it sends on koa', async t => {
      const { NODE_ENV = '' } = process.env
      process.env.NODE_ENV = 'production' // koa-onerror's page has the stack otherwise
      t.after(() => { process.env.NODE_ENV = NODE_ENV })
      const compare = comparison(app)
      class OnNode extends Kone { http1 = false }
      for (const [name, Koa] of Object.entries({ koa: require('koa'), kone: Kone, 'kone on node:http': OnNode })) {
        const server = await withKoa(Koa, () => app.serve())
        if (!server.listening) await once(server, 'listening')
        try {
          await compare({ name, port: server.address().port })
        } finally {
          server.close()
        }
      }
    })
  })
}

sideBySide('@as-integrations/koa', {
  lines: [3],
  async set (app) {
    const { ApolloServer } = area('@apollo/server')
    const { koaMiddleware } = await import(pathToFileURL(path.join(modules, '@as-integrations/koa/dist/index.js')))
    const server = new ApolloServer({
      typeDefs: 'type Query { hello(name: String): String! }', resolvers: { Query: { hello } }, includeStacktraceInErrorResponses: false
    })
    await server.start()
    const parse = require('koa-bodyparser')()
    const graphql = koaMiddleware(server)
    app.use((ctx, next) => ctx.path === '/graphql' ? parse(ctx, () => graphql(ctx, next)) : next())
    return { close: () => server.stop() }
  },
  exchanges: {
    queries: ['{ hello(name: "a") }', '{ hello(name: "fails") }', '{ nothing }', '{'].map(query => ['POST /graphql', json, JSON.stringify({ query })])
      .concat([['GET /graphql?query=%7Bhello%7D', { 'apollo-require-preflight': 'yes' }], ['GET /graphql'], ['GET /']])
  }
})

function hello (parent, { name }) {
  if (name === 'fails') throw new Error('failed')
  return `Hello ${name}`
}

sideBySide('@bull-board/koa', {
  lines: [3],
  set (app, { Koa }) {
    const { KoaAdapter } = withKoa(Koa, () => area('@bull-board/koa'))
    const adapter = new KoaAdapter().setBasePath('/board')
    area('@bull-board/api').createBullBoard({ queues: [], serverAdapter: adapter })
    app.use(adapter.registerPlugin())
  },
  exchanges: {
    'the board': [
      ['GET /board'], ['GET /board/'], ['HEAD /board/'], ['GET /board/api/queues'], ['PUT /board/api/queues/none/pause'],
      ['GET /board/static/none.js'], ['POST /board/api/queues', json, '{'], ['GET /']
    ]
  }
})

/** Loads packages to whom `require('koa')` gives this class. */
function withKoa (Koa, load) {
  const { _load } = Module
  Module._load = function (request, ...rest) { return request === 'koa' ? Koa : _load.call(this, request, ...rest) }
  for (const file of Object.keys(require.cache)) if (file.includes('/@bull-board/koa/')) delete require.cache[file]
  try {
    return load()
  } finally {
    Module._load = _load
  }
}

describe('oidc-provider', () => {
  it('should send the same on koa 3 and on kone@3 to a client that signs in', async t => {
    const koas = [path.dirname(require.resolve('koa3/package.json')), path.join(require('../helpers/kone3').modules, 'koa')]
    const [koa, kone] = await Promise.all(koas.map(async koa => {
      // the package beside this koa, and the app beside the package
      const folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'kone-oidc-')))
      t.after(() => fs.rmSync(folder, { recursive: true }))
      const place = path.join(folder, 'node_modules')
      fs.cpSync(path.join(modules, 'oidc-provider'), path.join(place, 'oidc-provider'), { recursive: true })
      for (const name of ['debug', 'jose']) fs.symlinkSync(path.join(modules, name), path.join(place, name), 'junction')
      fs.symlinkSync(koa, path.join(place, 'koa'), 'junction')
      fs.copyFileSync(path.join(__dirname, '../compat/real/apps/oidc.js'), path.join(folder, 'app.js'))
      const app = require(path.join(folder, 'app.js'))
      const server = await app.serve()
      t.after(() => server.close())
      const client = new Client(server.address().port, app.mask)
      await app.ask(client)
      client.close()
      return client.responses
    }))
    assert(koa.length > 15)
    assert.deepEqual(kone, koa)
  })
})
