'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { Readable } = require('node:stream')
const bodyParser = require('kone/middleware/bodyParser')
const Router = require('kone/middleware/router')
const validate = require('kone/middleware/validate')
const valibot = require('valibot')
const { z } = require('zod')
const redactor = require('../../middleware/validate/redact')
const frameworks = require('../helpers/frameworks')

/** The same two schemas, of a body and of a query, by three libraries. */
const LIBRARIES = {
  async zod () {
    return {
      Item: z.object({ name: z.string(), price: z.number().min(1) }),
      Page: z.object({ page: z.coerce.number().default(1) }),
      Lists: z.object({
        tag: z.array(z.string()),
        n: z.array(z.coerce.number()).nullable().optional(),
        either: z.union([z.string(), z.array(z.string())]).optional(),
        at: z.coerce.date().optional() // which JSON Schema does not have
      }).and(z.object({ one: z.string().optional() }))
    }
  },
  async valibot () {
    const v = valibot
    return {
      Item: v.object({ name: v.string(), price: v.pipe(v.number(), v.minValue(1)) }),
      Page: v.object({ page: v.optional(v.pipe(v.string(), v.transform(Number), v.number()), '1') }),
      Lists: v.object({
        tag: v.array(v.string()),
        n: v.nullish(v.array(v.pipe(v.string(), v.transform(Number), v.number()))),
        either: v.optional(v.union([v.string(), v.array(v.string())])),
        at: v.optional(v.date()),
        one: v.optional(v.string())
      })
    }
  },
  async arktype () {
    const { type } = await import('arktype')
    return {
      Item: type({ name: 'string', price: 'number>=1' }),
      Page: type({ page: 'string.numeric.parse = "1"' }),
      Lists: type({
        tag: 'string[]',
        'n?': type('string.numeric.parse').array().or('null'),
        'either?': 'string | string[]',
        'at?': 'Date',
        'one?': 'string'
      })
    }
  }
}

const JSON_TYPE = { 'Content-Type': 'application/json' }
const post = (body, headers) => ({ body: JSON.stringify(body), headers: { ...JSON_TYPE, ...headers } })

/** A schema made by hand, as a library would make one. */
const schema = validate => ({ '~standard': { version: 1, vendor: 'test', validate } })
const pass = value => ({ value })

frameworks('validate', ({ it, Koa, ask, errors }) => {
  /** An app that validates every request and responds with ctx.valid. */
  const serve = (options, handler = ctx => { ctx.body = ctx.valid }) => {
    return new Koa().use(bodyParser()).use(validate(options)).use(handler)
  }

  for (const [name, load] of Object.entries(LIBRARIES)) {
    it(`should give what the schemas of ${name} return`, async () => {
      const { Item, Page } = await load()
      const app = serve({ query: Page, body: Item })
      const item = { name: 'pen', price: 2 }
      assert.deepEqual((await ask(app, 'POST /?page=3', post(item))).json(), { query: { page: 3 }, body: item })
      assert.deepEqual((await ask(app, 'POST /', post(item))).json().query, { page: 1 })
    })

    it(`should take one value for a list of one, as OpenAPI and clients write it: ${name}`, async () => {
      const app = serve({ query: (await load()).Lists })
      const of = async query => (await ask(app, `GET /?${query}`)).json()
      assert.deepEqual((await of('tag=a&n=1')).query, { tag: ['a'], n: [1] })
      assert.deepEqual((await of('tag=a&tag=b&n=1&n=2')).query, { tag: ['a', 'b'], n: [1, 2] })
      assert.deepEqual((await of('tag=')).query, { tag: [''] })
      assert.deepEqual((await of('tag=a&either=x')).query, { tag: ['a'], either: 'x' })
      const places = async query => (await of(query)).issues.map(({ path }) => path.join('.'))
      assert.deepEqual(await places('tag=a&n=x'), ['n.0'])
      assert.deepEqual(await places('n=1'), ['tag'])
      assert.deepEqual(await places('tag=a&one=1&one=2'), ['one'])
      assert(!(await of('tag=a&n=hunter2')).issues[0].message.includes('hunter2'))
    })

    it(`should refuse with the issues of ${name}, without the value`, async () => {
      const { Item } = await load()
      const app = serve({ body: Item }, () => assert.fail('the handler must not run'))
      const res = await ask(app, 'POST /', post({ name: 'pen', price: 'hunter2' }))
      assert.deepEqual([res.status, res.headers['content-type']], [400, 'application/problem+json'])
      const { issues, ...problem } = res.json()
      assert.deepEqual(problem, { type: 'about:blank', title: 'Bad Request', status: 400 })
      assert.deepEqual([issues.length, issues[0].in], [1, 'body'])
      assert.deepEqual(issues[0].path, ['price'])
      assert.match(issues[0].message, /number/)
      assert(!res.text.includes('hunter2'), res.text)
    })
  }

  it('should leave what takes the text itself as it is, and the issues if a list fits no better', async () => {
    const split = z.preprocess(value => value?.split(','), z.array(z.string()).min(2).optional())
    const later = z.array(z.string().refine(async one => one === 'b'))
    const app = serve({ query: z.object({ split, later: later.optional() }) })
    const of = async query => (await ask(app, `GET /?${query}`)).json()
    assert.deepEqual((await of('split=a,b&later=b')).query, { split: ['a', 'b'], later: ['b'] })
    assert.deepEqual((await of('split=a')).issues.map(({ path }) => path), [['split']])
    assert.deepEqual((await of('later=a')).issues.map(({ path }) => path), [['later', 0]])
    const query = schema(value => ({ issues: [{ message: 'no', path: [{ key: 'tag' }] }] }))
    assert.deepEqual((await ask(serve({ query }), 'GET /?tag=a')).json().issues, [{ in: 'query', path: ['tag'], message: 'no' }])
  })

  it('should validate every part, and report the issues of all of them', async () => {
    const text = z.object({ a: z.string().startsWith('a') })
    const router = new Router()
    const parts = { params: text, query: text, headers: z.object({ 'x-a': z.literal('a') }), cookies: text, body: text }
    router.post('/:a', validate(parts), ctx => { ctx.body = ctx.valid })
    const app = [bodyParser(), router.routes()]
    const good = await ask(app, 'POST /a1?a=a2', post({ a: 'a4' }, { 'X-A': 'a', Cookie: 'b=2; a="a3"; a=other' }))
    assert.deepEqual(good.json(), {
      params: { a: 'a1' }, query: { a: 'a2' }, headers: { 'x-a': 'a' }, cookies: { a: 'a3' }, body: { a: 'a4' }
    })
    const bad = await ask(app, 'POST /1', post({ a: 1 }))
    const places = bad.json().issues.map(({ in: part, path }) => [part, ...path].join('.'))
    assert.deepEqual(places, ['params.a', 'query.a', 'headers.x-a', 'cookies.a', 'body.a'])
  })

  it('should keep what an earlier one validated', async () => {
    const app = new Koa()
    app.use(validate({ query: z.object({ a: z.string() }) }))
    app.use(validate({ headers: z.object({ host: z.string() }).transform(() => 'seen') }))
    app.use(ctx => { ctx.body = ctx.valid })
    assert.deepEqual((await ask(app, 'GET /?a=1')).json(), { query: { a: '1' }, headers: 'seen' })
  })

  // [what an earlier one returns for a part, what a later one returns for it, ctx.valid]
  for (const [before, value, expected] of [
    [{ a: 1, b: 1 }, { b: 2, c: 2 }, { a: 1, b: 2, c: 2 }],
    [{ a: 1 }, Object.assign(Object.create(null), { b: 2 }), { a: 1, b: 2 }],
    [{ a: 1 }, [2], [2]],
    [[1], { b: 2 }, { b: 2 }],
    [{ a: 1 }, new Date(0), '1970-01-01T00:00:00.000Z'],
    [new Date(0), { b: 2 }, { b: 2 }],
    ['text', null, null],
    [null, { b: 2 }, { b: 2 }]
  ]) {
    it(`should join ${JSON.stringify(before)} and ${JSON.stringify(value)} of one part`, async () => {
      const app = new Koa()
      for (const one of [before, value]) app.use(validate({ query: schema(() => ({ value: one })) }))
      app.use(ctx => { ctx.body = ctx.valid })
      assert.deepEqual((await ask(app, 'GET /')).json(), { query: expected })
    })
  }

  it('should leave what it read as it was', async () => {
    const app = serve({ query: schema(query => { query.a = 'changed'; return { value: query } }) },
      ctx => { ctx.body = [ctx.valid.query.a, ctx.query.a] })
    assert.deepEqual((await ask(app, 'GET /?a=1')).json(), ['changed', '1'])
  })

  it('should await an asynchronous schema', async () => {
    const free = z.object({ name: z.string().refine(async name => name !== 'taken', 'is taken already') })
    const app = serve({ query: z.object({}), body: free })
    assert.deepEqual((await ask(app, 'POST /', post({ name: 'free' }))).json().body, { name: 'free' })
    const res = await ask(app, 'POST /', post({ name: 'taken' }))
    assert.equal(res.status, 400)
    assert.deepEqual(res.json().issues, [{ in: 'body', path: ['name'], message: 'is … already' }])
  })

  it('should leave the response to onError', async () => {
    const app = serve({
      query: z.object({ n: z.coerce.number() }),
      onError (err, ctx) {
        ctx.status = 422
        ctx.body = [err.status, err.expose, err.issues.map(issue => issue.path)]
      }
    }, () => assert.fail('the handler must not run'))
    const res = await ask(app, 'GET /?n=x')
    assert.equal(res.status, 422)
    assert.deepEqual(res.json(), [400, true, [['n']]])
  })

  it('should pass on what onError throws', async () => {
    const app = serve({ query: z.object({ n: z.string() }), onError (err) { throw err } })
    const res = await ask(app, 'GET /')
    assert.deepEqual([res.status, res.text], [400, 'The request is not valid'])
  })

  it('should respond 500, and report one clear error, when a schema fails itself', async () => {
    const boom = () => { throw new Error('boom') }
    const broken = [
      [schema(boom), 'validate: the schema of query failed: boom (kone/middleware/validate/README.md)'],
      [schema(async () => boom()), 'validate: the schema of query failed: boom (kone/middleware/validate/README.md)'],
      [schema(() => undefined), 'validate: the schema of query failed: it returned neither a value nor issues (kone/middleware/validate/README.md)']
    ]
    for (const [query, message] of broken) {
      errors.length = 0
      const app = serve({ query, headers: schema(pass) }, () => assert.fail('the handler must not run'))
      assert.equal((await ask(app, 'GET /')).status, 500)
      assert.deepEqual(errors.map(err => err.message), [message])
    }
  })

  it('should say that a body parser is missing', async () => {
    errors.length = 0
    const app = [validate({ body: z.object({}) })]
    assert.equal((await ask(app, 'POST /', post({}))).status, 500)
    assert.match(errors[0].message, /register a body parser before validate/)
    assert.equal((await ask(app, 'POST /')).status, 400)
  })

  it('should bound what it responds with', async () => {
    const app = serve({ body: z.array(z.string()) })
    const res = await ask(app, 'POST /', post(Array(5000).fill(1)))
    assert.equal(res.status, 400)
    assert.equal(res.json().issues.length, 100)
  })

  it('should bound the response to long and deep keys, too', async () => {
    const long = 'k'.repeat(20_000)
    const Deep = z.object({ get a () { return Deep.optional() }, get b () { return z.array(z.number()).optional() } })
    let deep = { b: Array(200).fill('x') }
    for (let i = 0; i < 500; i++) deep = { a: deep }
    const cases = [
      [z.record(z.string(), z.array(z.number())), { [long]: Array(200).fill('x') }],
      [z.array(z.strictObject({})), Array(40).fill({ [long]: 1 })],
      [Deep, deep]
    ]
    for (const [body, value] of cases) {
      const res = await ask(serve({ body }), 'POST /', post(value))
      assert.equal(res.status, 400)
      assert(res.text.length < 100 * 1024, String(res.text.length))
    }
  })

  it('should give names such as __proto__ to no prototype', async () => {
    const all = schema(value => ({ value: Object.keys(value) }))
    const app = serve({ query: all, cookies: all })
    const res = await ask(app, 'GET /?__proto__=a', { headers: { Cookie: '__proto__=b; constructor=c' } })
    assert.deepEqual(res.json(), { query: ['__proto__'], cookies: ['__proto__', 'constructor'] })
    assert.equal({}.a, undefined)
  })
})

describe('validate', () => {
  it('should stay synchronous with synchronous schemas', () => {
    const ctx = { query: {} }
    const next = () => 'what next returned'
    assert.equal(validate({ query: schema(pass) })(ctx, next), 'what next returned')
    assert.deepEqual(ctx.valid, { query: {} })
  })
})

describe('the message of an issue', () => {
  it('should not repeat the value', () => {
    const long = 'correct horse battery staple'
    const cases = [
      ['must be a number (was "abc")', 'abc', 'must be a number (was …)'],
      ['must be at most 10 (was 1)', 1, 'must be at most 10 (was …)'],
      ['abc is no number', 'abc', '… is no number'],
      ['got "a\\"b"', 'a"b', 'got …'],
      [`got ${long.slice(0, 20)}...`, long, 'got …'],
      ['got {"a":"xyz"}', { a: 'xyz' }, 'got {"a":…}'],
      ['expected string', 'str', 'expected string'],
      ['Required', undefined, 'Required'],
      [`got ${JSON.stringify('"'.repeat(10))} at`, '"'.repeat(10), 'got …'],
      ['got xyz', Array(2000).fill('xyz'), 'Invalid value'],
      ['got xyz', Object.fromEntries(Array(2000).fill('xyz').entries()), 'Invalid value'],
      [`${'- '.repeat(150)}xyz`, 'xyz', `${'- '.repeat(150)}…`],
      [`${'- '.repeat(149)} xyz`, 'xyz', `${'- '.repeat(149)} …`]
    ]
    for (const [message, value, expected] of cases) {
      assert.equal(redactor({ deep: [value] })(message, ['deep', 0]), expected)
    }
  })

  it('should not repeat a value that its end cuts', () => {
    const redact = redactor(['hunter2'])
    for (let before = 285; before < 305; before++) {
      const message = redact(`${'-'.repeat(before)}hunter2${'-'.repeat(1000)}`, [0])
      assert.doesNotMatch(message, /h/)
      assert(message.length <= 301, message.length)
    }
  })

  it('should end for an input that contains itself', () => {
    const input = { a: 1 }
    input.self = input
    assert.equal(redactor(input)('got 1', []), 'Invalid value')
  })

  it('should look at own properties alone', () => {
    assert.equal(redactor({})('Object', ['constructor', 'name']), 'Object')
  })
})

frameworks('validate({ response })', ({ it, Koa, ask, errors, name }) => {
  const Item = z.object({ name: z.string(), at: z.string().optional(), tags: z.array(z.object({ id: z.number() })).optional() })
  const serveBody = (body, options, status = 200) => new Koa().use(new Router()
    .get('/items/:id', validate({ response: { 200: Item, 404: z.object({ reason: z.string() }) }, ...options }), ctx => {
      ctx.body = body
      ctx.status = status
    }).routes())

  it('should check every success by one schema', async () => {
    const one = (status, body) => ask(serveBody(body, { response: z.object({ name: z.string() }), serialize: true }, status), 'GET /items/7')
    assert.deepEqual((await one(201, { name: 'pen', secret: 1 })).json(), { name: 'pen' })
    assert.deepEqual([(await one(202, { name: 5 })).status, (await one(404, { any: 1 })).status], [500, 404])
  })

  // [body, status, what the error says, or null]
  const BODIES = [
    [{ name: 'pen' }, 200, null],
    [{ name: 5 }, 200, 'name: Invalid input'],
    [{ name: 'pen', tags: [{ id: 1 }, { id: 'x' }] }, 200, 'tags.1.id: Invalid input'],
    [[], 200, 'the body: Invalid input'],
    [{ name: 'pen', at: new Date(0) }, 200, null],
    [{ reason: 'gone' }, 404, null],
    [{ name: 'pen' }, 404, 'reason: Invalid input'],
    [{ any: 1 }, 202, null],
    ['text', 200, null],
    [Buffer.from('bytes'), 200, null],
    [null, 204, null]
  ]
  for (const [body, status, message] of BODIES) {
    for (const serialize of [false, true]) {
      it(`should be checked: ${status} ${JSON.stringify(body)}${serialize ? ', serialised' : ''}`, async () => {
        const app = serveBody(body, { serialize }, status)
        errors.length = 0
        const res = await ask(app, 'GET /items/7')
        assert.equal(res.status, message === null ? status : 500)
        if (message !== null) {
          const start = `validate: the response ${status} of GET /items/:id does not fit its schema: ${message}`
          assert(errors[0].message.startsWith(start), errors[0].message)
        } else if (body?.constructor === Object) {
          assert.deepEqual(res.json(), JSON.parse(JSON.stringify(body)))
          assert.match(res.headers['content-type'], /^application\/json/)
        }
      })
    }
  }

  const sentAsItIs = {
    stream: () => Readable.from(['{"any":1}']),
    bytes: () => Buffer.from('{"any":1}'),
    'web stream': () => new Blob(['{"any":1}']).stream(),
    Blob: () => new Blob(['{"any":1}']),
    Response: () => Response.json({ any: 1 })
  }
  for (const [what, make] of Object.entries(sentAsItIs)) {
    const skip = name === 'koa 2' && /web|Blob|Response/.test(what) && 'Koa 2 sends none'
    it(`should be neither checked nor serialised: JSON in a ${what}`, { skip }, async () => {
      const app = new Koa().use(validate({ response: Item, serialize: true })).use(ctx => {
        ctx.body = make()
        ctx.type = 'json'
      })
      assert.deepEqual((await ask(app, 'GET /')).text, '{"any":1}')
    })
  }

  it('should not be checked in production, and be what the serialiser writes', async () => {
    const { NODE_ENV } = process.env
    process.env.NODE_ENV = 'production'
    try {
      const body = { name: 'pen', tags: 5 }
      const one = await ask(serveBody(body), 'GET /items/7')
      assert.deepEqual(one.json(), body)
      const two = await ask(serveBody({ name: 'pen', secret: 1 }, { response: z.object({ name: z.string() }), serialize: true }), 'GET /items/7')
      assert.deepEqual(two.json(), { name: 'pen' })
    } finally {
      if (NODE_ENV === undefined) delete process.env.NODE_ENV
      else process.env.NODE_ENV = NODE_ENV
    }
  })

  it('should say at registration that a schema has no serialiser', () => {
    assert.throws(() => validate({ response: schema(pass), serialize: true }), /^TypeError: validate: options\.response has no serialiser: test has no converter/)
  })
})
