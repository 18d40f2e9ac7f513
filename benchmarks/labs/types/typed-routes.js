'use strict'

const path = require('node:path')
const ts = require('typescript')

const root = path.join(__dirname, '../../..')

// What a program of each kind begins with. `nothing` is what the compiler does anyway: lib.d.ts, node's types.
const KINDS = {
  kone: "import Router from '../middleware/router'\n",
  'koa-router': "import Router from 'koa-router'\n",
  '@koa/router': "import Router from '@koa/router'\n"
}

// The shapes of path that an app has, each used in turn.
const PATHS = [
  i => `/things-${i}`,
  i => `/things-${i}/:id`,
  i => `/things-${i}/:thingId/parts/:partId`,
  i => `/things-${i}/:id(\\\\d+)/versions/:version?`,
  i => `/files-${i}/:path*`
]

/** A TypeScript file with a router of n routes. Every handler reads the parameters that its path has. */
const sourceOf = exports.sourceOf = function (kind, n) {
  const routes = Array.from({ length: n }, (_, i) => {
    const path = PATHS[i % PATHS.length](i)
    const names = [...path.matchAll(/:(\w+)/g)].map(([, name]) => `ctx.params.${name}`)
    return `router.get('${path}', async ctx => { ctx.body = { page: ctx.query.page, params: [${names.join(', ')}] } })`
  })
  return `${KINDS[kind]}const router = new Router()\n${routes.join('\n')}\nexport default router.routes()\n`
}

/** What it takes to check the file: figures of TypeScript's own counters. */
exports.check = function (kind, n) {
  const file = path.join(root, 'benchmarks/typed-routes.ts')
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
  const host = ts.createCompilerHost(options)
  const { fileExists, getSourceFile } = host
  host.fileExists = name => name === file || fileExists(name)
  host.getSourceFile = (name, ...rest) =>
    name === file ? ts.createSourceFile(name, sourceOf(kind, n), ...rest) : getSourceFile(name, ...rest)

  const program = ts.createProgram([file], options, host)
  const begin = process.hrtime.bigint()
  const found = program.getSemanticDiagnostics(program.getSourceFile(file))
  const ms = Number(process.hrtime.bigint() - begin) / 1e6
  if (found.length > 0) throw new Error(`${kind}: ${ts.flattenDiagnosticMessageText(found[0].messageText, '\n')}`)
  return { instantiations: program.getInstantiationCount(), types: program.getTypeCount(), ms }
}

exports.KINDS = Object.keys(KINDS)
