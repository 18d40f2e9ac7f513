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

// TypeScript's own counter, which is the same on every machine.
function instantiations (n) {
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
  const { program, found } = inMemory(ts, file, sourceOf(n), options)
  assert.deepEqual(found, [])
  return program.getInstantiationCount()
}

describe('the cost of a route to the compiler', () => {
  it('should be below 200 instantiations, and not grow with the number of routes', () => {
    const [one, hundred, more] = [1, 100, 200].map(instantiations)
    assert((hundred - one) / 99 < 200, `${one}, ${hundred}`)
    assert((more - hundred) / 100 < 200, `${hundred}, ${more}`)
  })
})
