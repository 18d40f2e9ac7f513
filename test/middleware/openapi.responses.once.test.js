'use strict'

const assert = require('node:assert/strict')
const { createRequire } = require('node:module')
const { describe, it } = require('node:test')
const Kone = require('kone')
const { bodyParser, openapi, router: Router, sse, upload, validate } = require('kone/middleware')
const { z } = require('zod')

// The validator that a package of the root brings
const Ajv = createRequire(require.resolve('fast-json-stringify'))('ajv/dist/2020')

const Draft = z.object({ title: z.string() })
const Note = Draft.extend({ id: z.number() })
const Id = z.object({ id: z.coerce.number() })
const Key = z.object({ 'x-key': z.string() })
const note = { id: 1, title: 'One' }
const send = body => ctx => { ctx.body = body }
const status = (code, body) => ctx => {
  ctx.status = code
  if (body !== undefined) ctx.body = body
}
const pass = (ctx, next) => next()
const content = type => ({ description: 'As it is', content: { [type]: {} } })

// App → [what is registered, operations that the document must have: method, path, types of its body, names of its
// parameters, statuses]. Every operation is requested, as the document says, and its response compared with it.
const APPS = {
  'one route': [app => app.get('/', send('ok')), 'get / () [] default'],
  'a literal before a param': [
    app => app.get('/notes/events', sse(), events)
      .get('/notes/:id', validate({ params: Id, response: Note }), send(note)),
    'get /notes/events () [] 200', 'get /notes/{id} () [id] 200,400'
  ],
  'a root that is an optional param': [
    app => app.use('/(.*)', validate({ headers: Key })).get('/:lang?', send('ok')),
    'get /{lang} () [lang,x-key] 400,default', 'get / () [x-key] 400,default'
  ],
  'a created resource': [
    app => app.post('/notes', { responses: { 201: 'Created' } }, validate({ body: Draft, response: Note }), status(201, note)),
    'post /notes (json) [] 201,400'
  ],
  'a created resource by status': [
    app => app.post('/notes', validate({ body: Draft, response: { 201: Note } }), status(201, note)),
    'post /notes (json) [] 201,400'
  ],
  'no content': [app => app.delete('/notes/:id', { responses: { 204: 'Removed' } }, status(204)), 'delete /notes/{id} () [id] 204'],
  'a stream of events': [app => app.use(sse()).get('/events', { responses: { 200: content('text/event-stream') } }, events), 'get /events () [] 200'],
  'JSON and forms': [
    app => app.use(bodyParser()).post('/notes', validate({ body: Draft.extend({ stars: z.coerce.number(), kind: z.enum(['a', 'b']) }) }), sendBody),
    'post /notes (json,x-www-form-urlencoded) [] 400,default'
  ],
  'a number that no form has': [
    app => app.use(bodyParser()).post('/notes', validate({ body: z.object({ stars: z.number() }) }), sendBody),
    'post /notes (json) [] 400,default'
  ],
  'an asynchronous schema, which does not run': [
    app => app.use(bodyParser()).post('/notes', validate({ body: z.object({ stars: z.coerce.number().refine(async () => true) }) }), sendBody),
    'post /notes (json) [] 400,default'
  ],
  'forms alone': [
    app => app.use(bodyParser({ enableTypes: ['form'] })).post('/notes', validate({ body: Draft }), sendBody),
    'post /notes (x-www-form-urlencoded) [] 400,default'
  ],
  'a text': [
    app => app.use(bodyParser({ enableTypes: ['json', 'text'] })).post('/notes', validate({ body: z.string() }), sendBody),
    'post /notes (plain) [] 400,default'
  ],
  'methods that are not parsed': [
    app => app.use(bodyParser({ parsedMethods: ['PUT'] })).put('/notes', validate({ body: Draft }), sendBody),
    'put /notes (json,x-www-form-urlencoded) [] 400,default'
  ],
  'files beside a form': [
    app => app.post('/notes', upload({ fields: [{ name: 'image', maxCount: 1 }, { name: 'more', maxCount: 2 }] }), validate({ body: Draft }), sendFiles),
    'post /notes (form-data) [] 400,default'
  ],
  'any files': [app => app.use(upload()).put('/files', sendFiles).get('/files', send([])), 'put /files (form-data) [] default', 'get /files () [] default'],
  'a form with and without files': [
    app => app.use(bodyParser()).post('/notes', upload(), validate({ body: Draft }), sendFiles),
    'post /notes (json,x-www-form-urlencoded,form-data) [] 400,default'
  ],
  'middleware between routes': [
    app => app.get('/a', send('a')).use(validate({ headers: Key })).get('/b', send('b')),
    'get /a () [] default', 'get /b () [x-key] 400,default'
  ],
  'middleware behind the routes': [(app, after) => {
    app.get('/a', send('a'))
    after(validate({ headers: Key }))
  }, 'get /a () [] default'],
  'a function that calls next() although its text does not look like it': [
    app => app.get('/a', (ctx, next = null) => next(), validate({ headers: Key }), send('a')),
    'get /a () [x-key] 400,default'
  ],
  'a route that passes on': [
    app => app.get('/notes/:id', pass).get('/notes/:id', validate({ params: Id, response: Note }), send(note)),
    'get /notes/{id} () [id] 200,400'
  ],
  patterns: [
    app => app.use('/notes', validate({ headers: Key })).get('/notes/:id(\\d{2})', send('id'))
      .get('/notes/:lang(en|de)/:rest+', send('lang')).get('/notes/:name([a-z]+)-:part?', send('name')),
    'get /notes/{id} () [id,x-key] 400,default', 'get /notes/{lang}/{rest} () [lang,rest,x-key] 400,default',
    'get /notes/{name}-{part} () [name,part,x-key] 400,default', 'get /notes/{name}- () [name,x-key] 400,default'
  ],
  'a literal, and a wildcard behind it': [
    app => app.get('/files/:folder/:name', send('one')).get('/files/(.*)', { responses: { 200: content('image/png') } }, png),
    'get /files/{folder}/{name} () [folder,name] default', 'get /files/{0} () [0] 200'
  ],
  'a nested router': [
    app => app.use('/api/:team', new Router().use(validate({ headers: Key })).get('/notes{/:id}?', validate({ response: { 200: z.array(Note) } }), send([note])).routes()),
    'get /api/{team}/notes/{id} () [team,id,x-key] 200,400', 'get /api/{team}/notes () [team,x-key] 200,400'
  ],
  'an exclusive router': [
    Object.assign(app => app.use(validate({ headers: Key })).get('/notes/:id', validate({ params: Id }), send(note)), { exclusive: true }),
    'get /notes/{id} () [id] 400,default'
  ],
  'a redirect': [app => app.get('/old', { responses: { 302: 'Moved' } }, ctx => ctx.redirect('/new')), 'get /old () [] 302'],
  'any status': [app => app.get('/a', { responses: { '2XX': content('text/plain') } }, status(202, 'later')).get('/b', { responses: { default: 'Any' } }, status(203, 'b')), 'get /a () [] 2XX', 'get /b () [] default'],
  'two schemas of one body': [
    app => app.post('/notes', validate({ body: z.looseObject({ title: z.string() }) }), validate({ body: z.looseObject({ id: z.number() }) }), sendBody),
    'post /notes (json) [] 400,default'
  ]
}

function events (ctx) {
  const stream = ctx.sse()
  stream.send('one')
  stream.end()
}

function sendBody (ctx) {
  ctx.body = ctx.request.body
}

function sendFiles (ctx) {
  ctx.body = { ...ctx.request.body, files: ctx.request.files?.length ?? 0 }
}

function png (ctx) {
  ctx.type = 'png'
  ctx.body = Buffer.from('PNG')
}

/** A server in development, its document, and the warnings so far. */
async function serve (register, visit) {
  const warnings = []
  const keep = ({ message }) => { if (message.startsWith('openapi: ')) warnings.push(message) }
  const app = new Kone({ env: 'development' })
  const router = new Router({ exclusive: register.exclusive })
  const late = []
  register(router, fn => late.push(fn))
  const parses = router.stack.some(({ stack }) => stack.some(fn => fn.name === 'bodyParser' || fn.name === 'upload'))
  if (!parses) app.use(bodyParser({ enableTypes: ['json'] }))
  app.use(router.routes())
  for (const fn of late) app.use(fn)
  const api = openapi(app)
  app.use(api)
  process.on('warning', keep)
  const server = app.listen(0)
  try {
    await visit(`http://127.0.0.1:${server.address().port}`, api.document(), warnings)
  } finally {
    process.off('warning', keep)
    await app.close({ grace: 0 }) // the client keeps its connections
  }
}

const resolve = (schema, document) => schema.$ref ? resolve(schema.$ref.slice(2).split('/').reduce((at, key) => at[key], document), document) : schema

/** A value that a schema of these apps accepts. */
function sample (given, document) {
  const { allOf, additionalProperties, enum: values, format, items, pattern, properties, type } = resolve(given, document)
  if (allOf) return Object.assign({}, ...allOf.map(one => sample(one, document)))
  if (values) return values[0]
  if (format === 'binary') return new Blob(['bytes'])
  if (pattern) return ['42', 'en', 'abc'].find(text => new RegExp(pattern).test(text))
  if (type === 'array') return [sample(items, document)]
  if (type === 'object') {
    const all = { ...properties, ...additionalProperties?.format === 'binary' && { file: additionalProperties } }
    return Object.fromEntries(Object.entries(all).map(([name, schema]) => [name, sample(schema, document)]))
  }
  return { string: 'text', number: 7, integer: 7 }[type]
}

const WRITERS = {
  'application/json': value => JSON.stringify(value),
  'text/plain': value => value,
  'application/x-www-form-urlencoded': value => new URLSearchParams(value),
  'multipart/form-data' (value) {
    const form = new FormData()
    for (const [name, one] of Object.entries(value)) for (const part of [one].flat()) form.append(name, part)
    return form
  }
}

/** Requests of one operation: each type of its body, then a body that does not fit. */
function requestsOf (origin, template, method, operation, document) {
  let path = template
  const headers = {}
  for (const { in: place, name, schema } of operation.parameters ?? []) {
    if (place === 'path') path = path.replace(`{${name}}`, name === '0' ? 'a/b/c' : sample(schema, document))
    else headers[name] = sample(schema, document)
  }
  const to = (type, body) => {
    const isNamed = type && type !== 'multipart/form-data' // whose type fetch() writes itself, with its boundary
    return { url: origin + path, options: { method, redirect: 'manual', headers: { ...headers, ...isNamed && { 'Content-Type': type } }, body } }
  }
  const types = Object.entries(operation.requestBody?.content ?? {})
  const good = types.map(([type, { schema }]) => to(type, WRITERS[type](sample(schema, document))))
  const bad = operation.requestBody?.content['application/json'] ? [{ ...to('application/json', '[]'), isBad: true }] : []
  return [...good.length > 0 ? good : [to()], ...bad]
}

describe('the document of openapi() and the responses', () => {
  for (const [name, [register, ...expected]] of Object.entries(APPS)) {
    it(`should agree in an app with ${name}`, () => serve(register, async (origin, document, warnings) => {
      const validator = new Ajv({ strict: false, formats: { binary: true } }).addSchema(document, 'doc')
      const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
        Object.entries(methods).map(([method, operation]) => ({ path, method, operation })))
      assert.deepEqual(operations.map(({ path, method, operation: { parameters = [], requestBody, responses } }) => {
        const types = Object.keys(requestBody?.content ?? {}).map(type => type.split('/')[1])
        return `${method} ${path} (${types}) [${parameters.map(({ name }) => name)}] ${Object.keys(responses)}`
      }), expected)

      for (const { path, method, operation } of operations) {
        for (const { url, options, isBad } of requestsOf(origin, path, method.toUpperCase(), operation, document)) {
          const res = await fetch(url, options)
          const text = await res.text()
          const { responses } = operation
          const key = [String(res.status), `${String(res.status)[0]}XX`, 'default'].find(key => key in responses)
          assert(key !== undefined && (isBad === true) === (res.status >= 400), `${method} ${url}: ${res.status} ${text}`)
          const { content } = responses[key]
          if (content === undefined) continue
          const type = res.headers.get('content-type')?.split(';')[0]
          assert(type in content, `${url}: ${type}`)
          if (content[type].schema === undefined) continue
          const pointer = ['paths', path, method, 'responses', key, 'content', type, 'schema'].map(part => encodeURIComponent(part.replaceAll('/', '~1')))
          const check = validator.getSchema(`doc#/${pointer.join('/')}`)
          assert(check(JSON.parse(text)), JSON.stringify(check.errors))
        }
      }
      await new Promise(setImmediate) // a warning is emitted in the next tick
      assert.deepEqual(warnings.filter(text => !/never reached/.test(text)), [])
    }))
  }

  // [what is registered, the difference]
  const DIFFERENT = [
    [app => app.post('/x', { responses: { 200: 'OK' } }, status(201, note)), /POST \/x \(.+:\d+\) responded with 201, and its document has 200: add \{ responses: \{ 201: '…' \} \}/],
    [app => app.delete('/x', { responses: { 200: 'OK' } }, status(204)), /DELETE \/x .* responded with 204, and its document has 200/],
    ...[status(201, note), status(204), ctx => ctx.redirect('/')].map(fn => [app => app.get('/x', fn), null]),
    [app => app.get('/x', { responses: { 200: 'OK' } }, ctx => ctx.redirect('/')), /GET \/x .* responded with 302/],
    [app => app.use(sse()).get('/x', validate({ response: Note }), events), /GET \/x .* responded with 200 and text\/event-stream, and its document has application\/json/],
    [app => app.get('/x', sse(), send('text')), /GET \/x .* responded with 200 and text\/plain, and its document has text\/event-stream/],
    [app => app.get('/x', { responses: { 200: content('image/*') } }, status(200, '')), /responded with 200 and text\/plain, and its document has image\/\*/],
    [app => app.get('/x', { responses: { 200: content('image/*') } }, png), null],
    [app => app.get('/x', status(304)), null],
    [app => app.get('/x', ctx => ctx.throw(401)), null],
    [app => app.get('/x', { hidden: true }, status(201, note)), null]
  ]
  for (const [register, difference] of DIFFERENT) {
    it(`should ${difference ? 'warn once' : 'not warn'} of ${register}`, () => serve(register, async (origin, document, warnings) => {
      const method = String(register).match(/\.(post|delete|get)\(/)[1].toUpperCase()
      for (let i = 0; i < 2; i++) await (await fetch(`${origin}/x`, { method, redirect: 'manual' })).arrayBuffer()
      await new Promise(setImmediate)
      assert.equal(warnings.length, difference ? 1 : 0, warnings.join())
      if (difference) assert.match(warnings[0], difference)
    }))
  }
})
