'use strict'

const assert = require('node:assert/strict')
const { it, describe } = require('node:test')
const valibot = require('valibot')
const { z } = require('zod')
const Kone = require('kone')
const openapi = require('kone/middleware/openapi')
const helmet = require('kone/middleware/helmet')
const Router = require('kone/middleware/router')
const validate = require('kone/middleware/validate')

const done = ctx => { ctx.body = 'ok' }
const appOf = (...routers) => routers.reduce((app, router) => app.use(router.routes()), new Kone())
const standard = (json, vendor = 'test') => ({
  '~standard': { version: 1, vendor, validate: value => ({ value }), jsonSchema: json && { input: () => json, output: () => json } }
})

/** The document, after the validator of others has found nothing wrong with it. */
async function documentOf (app, options) {
  const { document } = openapi(app, options)
  const { Validator } = await import('@seriousme/openapi-schema-validator')
  const { valid, errors } = await new Validator().validate(structuredClone(document()))
  assert(valid, JSON.stringify(errors))
  return document()
}

const warningsOf = async make => {
  const warnings = []
  const keep = warning => warnings.push(warning.message)
  process.on('warning', keep)
  make()
  await new Promise(resolve => setImmediate(() => setImmediate(resolve)))
  process.off('warning', keep)
  return warnings.filter(text => text.startsWith('openapi: '))
}

// [syntax, path, templates]
const PATHS = [
  [6, '/', ['/']],
  [6, '/users/:id', ['/users/{id}']],
  [6, '/users/:id?', ['/users', '/users/{id}']],
  [6, '/users/:id(\\d+)', ['/users/{id}']],
  [6, '/files/(.*)', ['/files/{0}']],
  [6, '/files/:path*', ['/files', '/files/{path}']],
  [6, '/files/:path+', ['/files/{path}']],
  [6, '/:from-:to', ['/{from}-{to}']],
  [6, '/:id/:id?/:id', ['/{id.1}/{id}', '/{id.2}/{id.1}/{id}']],
  [6, '/:a?/:b?', ['/', '/{a}', '/{a}/{b}', '/{b}']],
  [6, '/a{.:format}?', ['/a', '/a.{format}']],
  [8, '/users{/:id}', ['/users', '/users/{id}']],
  [8, '/files/*path', ['/files/{path}']],
  [8, '/a{/:b{/:c}}', ['/a', '/a/{b}', '/a/{b}/{c}']]
]

describe('openapi(app)', () => {
  for (const [syntax, path, templates] of PATHS) {
    it(`should describe ${path} of path-to-regexp ${syntax}`, async () => {
      const router = new Router({ syntax }).get(path, done)
      const { paths } = await documentOf(appOf(router))
      const found = Object.keys(paths).sort()
      if (path !== '/:a?/:b?') assert.deepEqual(found, templates)
      else assert(found.length === 3 && found.includes('/{a}/{b}')) // `/{a}` and `/{b}` are the same path
      for (const [template, { get }] of Object.entries(paths)) {
        const names = [...template.matchAll(/\{([\w.]+)\}/g)].map(([, name]) => name)
        assert.deepEqual((get.parameters ?? []).map(({ name }) => name), names)
      }
    })
  }

  it('should have the paths of nested routers, prefixes and several paths, every method once', async () => {
    const posts = new Router().get('/', done).post('/', done).get('/:post', done)
    const router = new Router({ prefix: '/api' })
    router.use('/forums/:id', posts.routes()).put(['/a', '/b'], done).all('/any', done).redirect('/old', '/a')
    const { paths } = await documentOf(appOf(router, new Router().get(/regexp/, done)))
    assert.deepEqual(Object.entries(paths).map(([path, methods]) => [path, ...Object.keys(methods)]), [
      ['/api/forums/{id}', 'get', 'post'], ['/api/forums/{id}/{post}', 'get'], ['/api/a', 'put'], ['/api/b', 'put']
    ])
  })

  it("should have a route's options", async () => {
    const router = new Router()
    const operation = {
      summary: 'One user',
      description: 'By id.',
      tags: ['users'],
      operationId: 'user',
      deprecated: true,
      security: [{ bearer: [] }]
    }
    router.get('/users/:id', { ...operation, responses: { 404: 'No such user' } }, done)
    router.get('named', '/named', { hidden: true }, done).get('/other', { name: 'other' }, done)
    assert.equal(router.url('other'), '/other')
    const bearer = { type: 'http', scheme: 'bearer' }
    const { paths, components } = await documentOf(appOf(router), { components: { securitySchemes: { bearer } } })
    const { parameters, responses, ...rest } = paths['/users/{id}'].get
    assert.deepEqual(rest, operation)
    assert.deepEqual(responses, { 404: { description: 'No such user' }, default: { description: 'Response' } })
    assert.deepEqual(Object.keys(paths), ['/users/{id}', '/other'])
    assert.deepEqual(components.securitySchemes, { bearer })
    assert.throws(() => router.get('/x', { sumary: 'x' }, done), /options\.sumary is unknown: did you mean `summary`\?/)
  })

  const LIBRARIES = {
    zod: async () => [z.object({ name: z.string(), price: z.number().min(1) }), z.object({ page: z.coerce.number().default(1) })],
    valibot: async () => [
      valibot.object({ name: valibot.string(), price: valibot.pipe(valibot.number(), valibot.minValue(1)) }),
      valibot.object({ page: valibot.optional(valibot.string()) })
    ],
    async arktype () {
      const { type } = await import('arktype')
      return [type({ name: 'string', price: 'number>=1' }), type({ 'page?': 'string' })]
    }
  }
  for (const [name, load] of Object.entries(LIBRARIES)) {
    it(`should have the schemas of ${name}, and the 400 of validate`, async () => {
      const [Item, Page] = await load()
      const router = new Router().use(validate({ headers: standard({ type: 'object', properties: { 'x-id': { type: 'string' } } }) }))
      router.post('/items', validate({ query: Page, body: Item }), done)
      const { paths } = await documentOf(appOf(router))
      const { parameters, requestBody, responses } = paths['/items'].post
      assert.deepEqual(parameters.map(({ name, in: place, required }) => [name, place, required]),
        [['x-id', 'header', false], ['page', 'query', false]])
      const { schema } = requestBody.content['application/json']
      assert.deepEqual(schema.required.sort(), ['name', 'price'])
      assert.deepEqual(schema.properties.price, { type: 'number', minimum: 1 })
      assert.deepEqual(Object.keys(responses).sort(), ['400', 'default'])
      assert.deepEqual(Object.keys(responses[400].content), ['application/problem+json'])
    })
  }

  it('should have the schemas of responses by status', async () => {
    const [One, None] = [z.object({ name: z.string() }), z.object({ reason: z.string() })]
    const router = new Router().get('/one', validate({ response: One, serialize: true }), done)
    router.get('/two', { responses: { 404: 'Nothing there' } }, validate({ response: { 200: One, 404: None } }), done)
    const { paths } = await documentOf(appOf(router))
    assert.deepEqual(Object.keys(paths['/one'].get.responses), ['200'])
    const { 200: one, 404: none } = paths['/two'].get.responses
    assert.deepEqual([one.description, none.description], ['OK', 'Nothing there'])
    assert.deepEqual(Object.keys(none.content['application/json'].schema.properties), ['reason'])
  })

  it('should have what every validate() of a route demands of one parameter', async () => {
    const of = schema => validate(Object.fromEntries(['params', 'query', 'headers', 'cookies'].map(part => [part, z.object(schema)])))
    const router = new Router().use('/:id', of({ id: z.string().min(2) }))
    router.get('/:id(\\w+)', of({ id: z.string().max(4).optional() }), of({ id: z.string().optional(), other: z.string().optional() }), done)
    const { paths } = await documentOf(appOf(router))
    const { parameters } = paths['/{id}'].get
    assert.deepEqual(parameters.map(({ in: place, name, required }) => `${place} ${name} ${required}`), [
      'path id true', 'query id true', 'header id true', 'cookie id true', 'query other false', 'header other false', 'cookie other false'
    ])
    for (const { name, schema } of parameters) {
      const { minLength, maxLength } = Object.assign({}, ...schema.allOf?.flatMap(one => one.allOf ?? one) ?? [])
      assert.deepEqual([minLength, maxLength], name === 'id' ? [2, 4] : [undefined, undefined])
    }
  })

  it('should make components of schemas that refer to themselves', async () => {
    const Tree = z.object({ name: z.string(), get children () { return z.array(Tree) } })
    const Node = z.object({ get next () { return Node.optional() } }).meta({ id: 'Node' })
    const router = new Router().post('/tree', validate({ body: Tree }), done)
    router.post('/list', validate({ body: z.object({ list: Node }) }), done).post('/node', validate({ body: Node }), done)
    const { paths, components } = await documentOf(appOf(router))
    const schema = paths['/tree'].post.requestBody.content['application/json'].schema
    assert.deepEqual(schema, { $ref: '#/components/schemas/PostTreeBody' })
    assert.deepEqual(components.schemas.PostTreeBody.properties.children.items, schema)
    const refs = JSON.stringify(paths).match(/#\/components\/schemas\/\w+/g)
    for (const ref of refs) assert(ref.split('/').at(-1) in components.schemas, ref)
  })

  it('should be what openapi-schema-validator accepts for routes of one path with other names', async () => {
    const router = new Router().get('/users/:id', done).put('/users/:name', done)
    const { paths } = await documentOf(appOf(router))
    assert.deepEqual(Object.keys(paths), ['/users/{id}'])
    assert.equal(paths['/users/{id}'].put.parameters[0].name, 'id')
  })

  it('should take the patterns of expressions without the flag u, and look into schemas alone', async () => {
    const noted = { 'x-ui': { type: 'slider', items: ['a'], pattern: '(' } } // as meta() of zod notes it
    const pattern = '^\\d{5}\\-\\d{4}$'
    const body = z.object({ zip: z.string().regex(new RegExp(pattern)), size: z.number().meta(noted) })
    const other = standard(JSON.parse(`{ "type": "object", "dependentRequired": { "type": ["__proto__"] },
      "properties": { "__proto__": { "$ref": "#/$defs/__proto__" } }, "$defs": { "__proto__": { "type": "string" } } }`))
    const { paths, components } = await documentOf(appOf(new Router().post('/a', validate({ body }), done).post('/b', validate({ body: other }), done)))
    const [{ properties }, { properties: own }] = ['/a', '/b'].map(path => paths[path].post.requestBody.content['application/json'].schema)
    assert.equal(properties.zip.pattern, pattern)
    assert.deepEqual(properties.size['x-ui'], noted['x-ui'])
    const { $ref } = Object.entries(own)[0][1]
    assert.deepEqual(components.schemas[$ref.split('/').at(-1)], { type: 'string' })
  })

  const SELF = { type: 'object', properties: {} }
  SELF.properties.self = SELF
  const BROKEN = {
    'has a type that is not one of JSON Schema: "strin"': standard({ type: 'strin' }),
    'properties.a has a required that is not one of JSON Schema: "x"': standard({ type: 'object', properties: { a: { required: 'x' } } }),
    'has a pattern that is not one of JSON Schema: "("': standard({ type: 'string', pattern: '(' }),
    'has a items that is not one of JSON Schema: "string"': standard({ type: 'array', items: 'string' }),
    "$ref '#/$defs/Gone' points to nothing": standard({ $ref: '#/$defs/Gone' }),
    '$ref is circular and has no schema: A → B → A':
      standard({ $ref: '#/$defs/A', $defs: { A: { $ref: '#/$defs/B' }, B: { $ref: '#/$defs/A' } } }),
    'properties.self is circular: use $ref': standard(SELF),
    'the schema is not a JSON Schema': standard([]),
    'old has no converter to JSON Schema': standard(undefined, 'old'),
    'Date cannot be represented in JSON Schema': z.object({ at: z.date() })
  }
  for (const [message, schema] of Object.entries(BROKEN)) {
    it(`should say at start, with route, file and line: ${message}`, () => {
      const router = new Router()
      router.post('/items', validate({ body: schema }), done)
      const text = `POST /items (${__filename}:${lineOf('const done =')}): the schema of body cannot be described: `
      assert.throws(() => openapi(appOf(router)), err => {
        assert(err instanceof TypeError && err.message.startsWith(`openapi: ${text}`) && err.message.includes(message), err.message)
        return true
      })
    })
  }

  it('should have the defaults where what is given about the app is undefined', async () => {
    const info = { title: undefined, version: undefined, description: 'One' }
    const { info: { title, version, description } } = await documentOf(appOf(), { info })
    assert.deepEqual([typeof title, typeof version, description], ['string', 'string', 'One'])
  })

  it('should have a list of the query as a repeated key, and an object as koa-qs parses it', async () => {
    const query = z.object({ tag: z.array(z.string()), filter: z.object({ a: z.string() }).optional(), page: z.coerce.number() })
    const { paths } = await documentOf(appOf(new Router().get('/', validate({ query }), done)))
    const styles = paths['/'].get.parameters.map(({ name, style, explode }) => [name, style, explode])
    assert.deepEqual(styles, [['tag', undefined, undefined], ['filter', 'deepObject', true], ['page', undefined, undefined]])
  })

  const list = z.array(z.string())
  const LISTS = [list, list.nullish(), z.object({}), z.union([list, z.object({})]), z.record(z.string(), z.string())]
  for (const [part, place] of [['params', 'a param of the path'], ['headers', 'a header'], ['cookies', 'a cookie']]) {
    it(`should say at start that ${place} is no list and no object`, () => {
      const describe = one => openapi(appOf(new Router().get('/:a', validate({ [part]: z.object({ a: one }) }), done)))
      for (const one of LISTS) {
        assert.throws(() => describe(one), err => err instanceof TypeError && err.message.startsWith(`openapi: GET /:a (${__filename}:`) &&
          err.message.includes(`: 'a' can be no list and no object, because ${place} is text: `))
      }
      for (const one of [z.string(), z.coerce.number(), z.union([z.string(), list]), z.any()]) describe(one)
    })
  }

  it('should say at start that a security scheme is unknown', () => {
    const app = appOf(new Router().get('/x', { security: [{ key: [] }] }, done))
    assert.throws(() => openapi(app), /GET \/x \(.+openapi\.test\.js:\d+\): security 'key' is not one of/)
  })

  // [routes, the one that is never reached, or null]
  const next = (ctx, next) => next()
  const REACH = [
    [router => router.get('/users/:id', done).get('/users/me', done), 'GET /users/me'],
    [router => router.get('/users/me', done).get('/users/:id', done), null],
    [router => router.get('/users/:id', next).get('/users/me', done), null],
    [router => router.get('/users/:id(\\d+)', done).get('/users/me', done), null],
    [router => router.get('/a', done).get('/a', done), 'GET /a'],
    [router => router.get('/a/:b', done).get('/a/:c', done), 'GET /a/:c'],
    [router => router.get('/a', done).post('/a', done), null],
    [router => router.get('/a', (...args) => args[1]()).get('/a', done), null],
    [router => router.get('/(.*)', done).get('/a/b', done), 'GET /a/b'],
    [router => router.get('/a', done, done), 'GET /a'],
    [router => router.param('id', (id, ctx, next) => next()).get('/:id', done), null]
  ]
  for (const [register, unreached] of REACH) {
    it(`should warn of what is never reached: ${register}`, async () => {
      const warnings = await warningsOf(() => openapi(appOf(register(new Router()))))
      assert.equal(warnings.length, unreached === null ? 0 : 1, warnings.join())
      if (unreached) assert.match(warnings[0], new RegExp(`^openapi: ${unreached} \\(.+openapi\\.test\\.js:\\d+\\) .*never reached`))
    })
  }

  it('should serve the document, with routes that were added later, and nothing else', async () => {
    const router = new Router().get('/a', done)
    const app = new Kone()
    app.use(openapi(app, { info: { title: 'Shop', version: '1.2.3' } })).use(router.routes())
    const first = await app.inject('/openapi.json')
    assert.deepEqual([first.status, first.headers['content-type']], [200, 'application/json; charset=utf-8'])
    router.get('/b', done)
    const { info, paths } = (await app.inject('/openapi.json')).json()
    assert.deepEqual([info, Object.keys(paths)], [{ title: 'Shop', version: '1.2.3' }, ['/a', '/b']])
    assert.equal((await app.inject('/a')).text(), 'ok')
    assert.equal((await app.inject({ method: 'POST', url: '/openapi.json' })).status, 404)
  })

  it("should serve a page of Swagger UI that helmet's policy allows", async () => {
    const app = appOf(new Router().get('/a', done))
    app.use(helmet()).use(openapi(app, { page: '/docs', ui: 'swagger' }))
    const page = await app.inject('/docs')
    assert.equal(page.status, 200)
    const parts = [...page.text().matchAll(/(?:src|href)="([^"]+)"/g)].map(([, url]) => url)
    assert.deepEqual(parts, ['/docs/page.css', '/docs/start.js', '/docs/page.js'])
    for (const part of parts) {
      const { status, headers } = await app.inject(part)
      assert.equal(status, 200)
      assert.match(headers['content-type'], part.endsWith('css') ? /^text\/css/ : /javascript/)
    }
    assert.doesNotMatch(page.text(), /<script>|<style>| style=/)
  })

  it('should say at start that no package for the page is installed', () => {
    assert.throws(() => openapi(new Kone(), { page: '/docs', ui: 'scalar' }),
      /^TypeError: openapi: options\.page needs @scalar\/api-reference .*npm install/)
  })
})

function lineOf (text) {
  return require('node:fs').readFileSync(__filename, 'utf8').split('\n').findIndex(line => line.startsWith(text)) + 1
}
