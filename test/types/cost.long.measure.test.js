'use strict'

const path = require('node:path')
const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const ts = require('typescript')
const { inMemory } = require('./compile')

const root = path.join(__dirname, '../..')

// The shapes of path that an app has, each used in turn.
const PATHS = [
  i => `/things-${i}`,
  i => `/things-${i}/:id`,
  i => `/things-${i}/:thingId/parts/:partId`,
  i => `/things-${i}/:id(\\\\d+)/versions/:version?`,
  i => `/files-${i}/:path*`
]

// A router of n routes, each with a handler that reads the parameters that its path has.
function sourceOf (n) {
  const routes = Array.from({ length: n }, (_, i) => {
    const path = PATHS[i % PATHS.length](i)
    const names = [...path.matchAll(/:(\w+)/g)].map(([, name]) => `ctx.params.${name}`)
    return `router.get('${path}', async ctx => { ctx.body = { page: ctx.query.page, params: [${names.join(', ')}] } })`
  })
  return `import Router from '../middleware/router'\nconst router = new Router()\n${routes.join('\n')}\nexport default router.routes()\n`
}

// n routes with schemas: statements, or a chain that a client calls.
function withSchemas (n, isClient, response = 'Item') {
  const routes = Array.from({ length: n }, (_, i) => {
    const path = PATHS[i % PATHS.length](i)
    const params = [...path.matchAll(/:(\w+)(?![*?\w])/g)].map(([, name]) => `${name}: ${i}`)
    const [verb, part, given] = i % 2 ? ['post', 'body: Item', "body: { name: 'a', price: 1 }"] : ['get', 'query: Page', "query: { page: '1' }"]
    return {
      route: `.${verb}('${path}', validate({ ${part}, response: ${response} }), ctx => { ctx.body = { name: 'a', price: 1 } })`,
      call: `{
        const res = await api.${verb}('${path}', { params: { ${params.join(', ')} }, ${given} })
        if (res.ok) (await res.json()).price.toFixed()
      }`
    }
  })
  const imports = ["Router from '../middleware/router'", "validate from '../middleware/validate'", "{ z } from 'zod'", "client from '../lib/client'"]
  const schemas = 'const Item = z.object({ name: z.string(), price: z.number() })\nconst Page = z.object({ page: z.string() })\n'
  return imports.map(one => `import ${one}\n`).join('') + schemas + (isClient
    ? `const router = new Router()${routes.map(({ route }) => `\n  ${route}`).join('')}
const api = client<typeof router>('http://kone.example')
export default async () => {\n${routes.map(({ call }) => call).join('\n')}\n}\n`
    : `const router = new Router()\n${routes.map(({ route }) => `router${route}`).join('\n')}\nexport default client\n`)
}

// TypeScript's own counter, which is the same on every machine.
function instantiations (text) {
  const file = path.join(root, 'test/typed-routes.ts')
  const options = {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    esModuleInterop: true,
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.NodeNext,
    types: ['node'],
    typeRoots: [path.join(root, 'node_modules/@types')]
  }
  const { program, found } = inMemory(ts, file, text, options)
  assert.deepEqual(found, [])
  return program.getInstantiationCount()
}

describe('the cost of a route to the compiler', () => {
  it('should be below 200 instantiations, and not grow with the number of routes', () => {
    const [one, hundred, more] = [1, 100, 200].map(n => instantiations(sourceOf(n)))
    assert((hundred - one) / 99 < 200, `${one}, ${hundred}`)
    assert((more - hundred) / 100 < 200, `${hundred}, ${more}`)
  })

  it('should be within the limits of the compiler for a chain of 500 routes', () => {
    instantiations(sourceOf(500).replace(/\)\nrouter\./g, ')\n  .'))
  })

  it('should at most double by a client that calls fifty routes', () => {
    const [without, and] = [false, true].map(isClient => instantiations(withSchemas(50, isClient)))
    assert(and <= 2 * without, `${without}, ${and}`)
  })

  it('should hardly be more for a body that is checked by the schema of its status', () => {
    const [without, and] = ['Item', '{ 200: Item, 404: Page }'].map(response => instantiations(withSchemas(50, false, response)))
    assert(and <= 1.3 * without, `${without}, ${and}`) // 1.16 of what it was without the check, for 300 routes
  })
})
