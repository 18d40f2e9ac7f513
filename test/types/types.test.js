'use strict'

const { describe, it, before } = require('node:test')
const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const ts = require('typescript')

const temporary = require('../helpers/folder')
const share = require('../helpers/share')
const { inMemory, report } = require('./compile')

const root = path.join(__dirname, '../..')

const OPTIONS = {
  strict: true,
  exactOptionalPropertyTypes: true,
  esModuleInterop: true,
  noEmit: true,
  target: 'es2022',
  lib: ['es2022'],
  types: ['node'],
  // the links below stand for installed packages: koa-router's `koa` is the one beside it
  preserveSymlinks: true
}

const COMMONJS = { module: 'commonjs', moduleResolution: 'node10', ignoreDeprecations: '6.0' }

// esModuleInterop lets one file be CommonJS and an ES module
const BOTH = ['api.ts', 'packages.ts']

for (const name of ['kone', 'koa']) {
  describe(`the types as '${name}'`, () => {
    const project = temporary()
    before(() => install(project, name))

    const all = extension => BOTH.map(file => copy(project, name, file, extension))
    const of = one => name !== one && share.long('with KONE_TESTS=long: as the other name', false)
    const inBoth = file => ['.cts', '.mts'].map(extension => copy(project, name, file, extension))

    it('should hold under module commonjs, whose resolution knows no exports', { skip: of('koa') }, () => {
      compile(project, COMMONJS, [...all('.ts'), copy(project, name, 'require.cts')])
    })

    it('should hold under module nodenext, required and imported', { skip: of('kone') }, () => {
      compile(project, { module: 'nodenext' }, [
        ...all('.cts'),
        ...all('.mts'),
        copy(project, name, 'require.cts')
      ])
    })

    it('should hold under module esnext, as bundlers resolve it', { skip: of('kone') }, () => {
      const options = { module: 'esnext', moduleResolution: 'bundler' }
      compile(project, options, all('.ts'))
      compile(project, options, inBoth('augment.ts'))
    })

    const SET = ['middleware.ts', 'router.ts', 'docs.ts']

    // the declarations of zod, valibot and arktype are theirs to check, and dear
    it('should hold for the middleware set, client, app.fetch, and validate with the types of others', { skip: of('kone') }, () => {
      const files = [...SET, 'client.ts', 'fetch.ts', 'probes.ts'].flatMap(inBoth)
      const validate = share([], [copy(project, name, 'validate.ts', '.mts')])
      compile(project, { module: 'nodenext', skipLibCheck: true }, [...files, ...validate])
    })

    // by two compilers in compilers.long.test.js
    it('should hold for the middleware set under module commonjs', { skip: name !== 'koa' || share.long('with KONE_TESTS=long', false) }, () => {
      compile(project, COMMONJS, SET.map(file => copy(project, name, file)))
    })

    it('should take what an app or a package declares for it', () => {
      const packages = name === 'koa' ? inBoth('augmented-koa.ts') : []
      compile(project, { module: 'nodenext' }, [...inBoth('augment.ts'), ...packages])
      compile(project, { module: 'nodenext' }, inBoth('session.ts'))
    })

    it('should pass for those of koa', { skip: name === 'koa' && 'they are those of koa' }, () => {
      compile(project, { module: 'nodenext' }, [copy(project, name, 'foreign.ts', '.mts')])
    })
  })
}

describe('client()', () => {
  it('should say what to write, if the routes are statements', () => {
    const text = `import Router from '../../middleware/router'
import client from '../../lib/client'
const router = new Router()
router.get('/a', ctx => { ctx.body = '' })
client<typeof router>('http://localhost').get('/a')
`
    const { options } = ts.convertCompilerOptionsFromJson({ ...OPTIONS, module: 'nodenext', skipLibCheck: true }, root)
    const { found } = inMemory(ts, path.join(root, 'test/types/statements.ts'), text, options)
    assert.equal(found.length, 1)
    assert.match(found[0], /not assignable to parameter of type '"the router's type has no GET: chain the routes: router\.get\(…\)\.post\(…\)"'/)
  })
})

describe('the declarations', () => {
  it('should be sound in themselves', () => {
    const files = [...declarations('lib'), ...declarations('middleware')]
    compile(root, { module: 'nodenext', noUnusedLocals: true }, files, files)
  })
})

/**
 * Install this checkout in a folder under `name`. As `koa` it is the only koa there.
 */
function install (project, name) {
  const modules = path.join(root, 'node_modules')
  const gone = name === 'koa' ? ['koa', '@types/koa'] : []

  const link = (target, as) => fs.symlinkSync(target, path.join(project, 'node_modules', as), 'junction')
  fs.mkdirSync(path.join(project, 'node_modules'))
  for (const entry of fs.readdirSync(modules)) {
    if (entry.startsWith('.') || gone.includes(entry)) continue
    if (!entry.startsWith('@')) {
      link(path.join(modules, entry), entry)
      continue
    }
    fs.mkdirSync(path.join(project, 'node_modules', entry))
    for (const scoped of fs.readdirSync(path.join(modules, entry))) {
      const as = `${entry}/${scoped}`
      if (!gone.includes(as)) link(path.join(modules, as), as)
    }
  }
  link(root, name)
}

/**
 * Copy a file of test/types, its imports of kone renamed.
 */
function copy (project, name, file, extension = path.extname(file)) {
  const target = path.join(project, path.parse(file).name + extension)
  const source = fs.readFileSync(path.join(__dirname, file), 'utf8')
  fs.writeFileSync(target, source.replace(/'kone(?=['/])/g, `'${name}`))
  return target
}

function declarations (folder) {
  return fs.readdirSync(path.join(root, folder), { recursive: true })
    .filter(file => file.endsWith('.d.ts'))
    .map(file => path.join(root, folder, file))
}

/**
 * Compile `files` and refuse any complaint about those in `checked`.
 */
function compile (folder, options, files, checked = files) {
  const typeRoots = [path.join(folder, 'node_modules/@types')]
  const { options: parsed, errors } = ts.convertCompilerOptionsFromJson({ ...OPTIONS, typeRoots, ...options }, folder)
  assert.equal(report(ts, { rootNames: files, options: parsed, errors }, checked), '')
}
