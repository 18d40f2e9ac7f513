'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { spawn } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const path = require('node:path')
const { isIn } = require('../../command/as-koa/replacement')
const nodeOf = require('../helpers/node-of')
const share = require('../helpers/share')
const { project, ROOT, scratch } = require('./project')

const { version } = require('kone/package.json')
const koa = require('koa/package.json').version
const KOA3 = require('koa3/package.json').version

const { folder, write, dev } = project(scratch())

/** Koa and what it needs, as npm installs them. */
const link = (name, from = path.join(ROOT, 'node_modules', name)) => {
  const place = path.join(folder, 'node_modules', name)
  fs.mkdirSync(path.dirname(place), { recursive: true })
  fs.symlinkSync(from, place, 'junction')
}
for (const [name, from] of [['koa', 'koa'], ['koa3', 'koa3'], ['@koa/router', '@koa/router'], ['esbuild', 'esbuild'], ['framework', 'koa']]) {
  link(name, path.join(ROOT, 'node_modules', from))
}

/** Print a line behind the response of a Koa app. */
const PRINT = "const server = app.listen(0, '127.0.0.1', async () => { " +
  "const res = await fetch('http://127.0.0.1:' + server.address().port); " +
  'console.log(await res.text()); process.exit() })'

const BODY = "app.use(ctx => { ctx.body = typeof app.final === 'function' ? 'kone' : 'Koa' })"

async function run (args, env = {}, flags = ['--require', 'kone/as-koa'], node = process.execPath) {
  const child = spawn(node, [...flags, ...args], {
    cwd: folder,
    env: { ...process.env, NODE_TEST_CONTEXT: undefined, NODE_OPTIONS: undefined, KONE_AS_KOA: undefined, ...env }
  })
  const texts = [child.stdout, child.stderr].map(async stream => (await stream.setEncoding('utf8').toArray()).join(''))
  const [code] = await once(child, 'close')
  const [out, err] = (await Promise.all(texts)).map(text => text.trimEnd().split('\n').filter(Boolean))
  return { code, out, err }
}

const LINE = `koa ${koa} is kone ${version} (kone/as-koa)`

describe('kone/as-koa', () => {
  write('app.js', `const Koa = require('koa'); const app = new Koa(); ${BODY}; ${PRINT}`)
  write('app.mjs', `import Koa, { HttpError } from 'koa'; import Router from '@koa/router'; const app = new Koa(); new Router(); HttpError.name; ${BODY}; ${PRINT}`)
  write('alias.js', `const Koa = require('framework'); const app = new Koa(); ${BODY}; ${PRINT}`)

  for (const file of ['app.js', 'app.mjs', 'alias.js']) {
    for (const flag of ['--require', '--import']) {
      it(`should have Koa replaced by kone: ${flag}, ${file}`, async () => {
        assert.deepEqual(await run([file], {}, [flag, 'kone/as-koa']), { code: 0, out: ['kone'], err: [LINE] })
      })
    }
  }

  it('should be inherited through NODE_OPTIONS, and report each process once', async () => {
    write('parent.js', `
      require('node:child_process').spawnSync(process.execPath, ['app.js'], { stdio: 'inherit' })
      require('koa'); import('koa')
      new (require('node:worker_threads').Worker)('require("koa")', { eval: true })`)
    const { code, out, err } = await run(['parent.js'], { NODE_OPTIONS: '--require kone/as-koa' }, [])
    assert.deepEqual({ code, out, err }, { code: 0, out: ['kone'], err: [LINE, LINE] })
  })

  it('should report nothing with KONE_AS_KOA=quiet, and in a process without Koa', async () => {
    assert.deepEqual(await run(['app.js'], { KONE_AS_KOA: 'quiet' }), { code: 0, out: ['kone'], err: [] })
    assert.deepEqual(await run(['-e', "console.log(typeof require('http').createServer)"]), { code: 0, out: ['function'], err: [] })
  })

  it('should replace all of the files that packages load', async () => {
    const names = ['koa', 'koa/lib/application', 'koa/lib/context.js', 'koa/lib/request', 'koa/lib/response', 'koa/package.json']
    const { out } = await run(['-e', `for (const name of ${JSON.stringify(names)}) console.log(require.resolve(name))`])
    const files = ['lib/application.js', 'lib/application.js', 'lib/context.js', 'lib/request.js', 'lib/response.js', 'package.json']
    assert.deepEqual(out, files.map(file => path.join(ROOT, file)))
  })

  it('should leave Koa 3 alone, and name it once', async () => {
    write('koa3.js', `require('koa3'); const Koa = require('koa3'); const app = new Koa(); ${BODY}; ${PRINT}`)
    const { code, out, err } = await run(['koa3.js'])
    assert.deepEqual([code, out, err.length], [0, ['Koa'], 1])
    assert.match(err[0], new RegExp(`^koa ${KOA3.replaceAll('.', '\\.')} in \\S+ is left alone by kone \\S+: use kone@3 \\(kone/as-koa\\)$`))
  })

  it('should replace each Koa by its own package.json', async () => {
    fs.mkdirSync(path.join(folder, 'node_modules/nested/node_modules'), { recursive: true })
    fs.symlinkSync(path.join(ROOT, 'node_modules/koa3'), path.join(folder, 'node_modules/nested/node_modules/koa'), 'junction')
    write('node_modules/nested/index.js', "module.exports = require('koa')")
    const { out, err } = await run(['-e', `
      console.log(typeof require('koa').prototype.final, typeof require('nested').prototype.final)`])
    assert.deepEqual(out, ['function undefined'])
    assert.equal(err.length, 2)
  })

  it('should leave a package alone that is not Koa, whatever its folder is called', async () => {
    fs.mkdirSync(path.join(folder, 'node_modules/other/lib'), { recursive: true })
    write('node_modules/other/package.json', '{ "name": "other", "main": "lib/application.js" }')
    write('node_modules/other/lib/application.js', "module.exports = 'other'")
    assert.deepEqual((await run(['-e', "console.log(require('other'))"])).out, ['other'])
  })

  it('should share with the app the packages that Koa shares with it, where kone accepts their version', async () => {
    const at = path.join(folder, 'shared/node_modules')
    const put = (name, version, text) => {
      fs.mkdirSync(path.join(at, name, 'lib'), { recursive: true })
      fs.writeFileSync(path.join(at, name, 'package.json'), JSON.stringify({ name, version, main: 'index.js', ...text.manifest }))
      fs.writeFileSync(path.join(at, name, 'index.js'), text.code)
    }
    const own = name => `module.exports = require(${JSON.stringify(require.resolve(name))})`
    put('koa', koa, { code: '', manifest: { main: 'lib/application.js', dependencies: { statuses: '1', vary: '1' } } })
    fs.writeFileSync(path.join(at, 'koa/lib/application.js'), '')
    put('statuses', '1.5.0', { code: `module.exports = Object.assign(code => require(${JSON.stringify(require.resolve('statuses'))})(code), require(${JSON.stringify(require.resolve('statuses'))}), { mine: true })` })
    put('vary', '0.1.0', { code: "throw new Error('too old for kone')" })
    put('cookies', '0.9.9', { code: own('cookies') })
    const app = load => `
      ${load('Koa', 'koa')}; ${load('statuses', 'statuses')}
      statuses['480'] = 'Mine'
      const app = new Koa()
      app.use(ctx => { ctx.status = 480; ctx.vary('accept') })
      const server = app.listen(0, '127.0.0.1', async () => {
        const { status, statusText } = await fetch('http://127.0.0.1:' + server.address().port)
        console.log(status, statusText)
        process.exit()
      })`
    write('shared/app.js', app((name, from) => `const ${name} = require('${from}')`))
    write('shared/app.mjs', app((name, from) => `import ${name} from '${from}'`))
    write('hooks.mjs', `import { register } from 'node:module'
      register('data:text/javascript,export const resolve = (name, context, next) => next(name, context)')`)
    // Node 20 resolves imports in a thread of its own; Node 22 runs the hooks of others in one.
    for (const node of [process.execPath, ...share([], [20, 22, 24]).map(nodeOf)]) {
      for (const [file, ...flags] of [['app.js'], ['app.mjs'], ['app.mjs', '--import', './hooks.mjs']]) {
        const { code, out, err } = await run([`shared/${file}`], { NODE_ENV: 'production' }, ['--require', 'kone/as-koa', ...flags], node)
        assert.deepEqual({ code, out, err: err[0] }, { code: 0, out: ['480 Mine'], err: LINE }, err.join('\n'))
      }
    }
  })

  for (const [range, yes, no] of [
    ['^1.5.0', ['1.5.0', '1.5.1', '1.6.0'], ['1.4.9', '2.0.0', '0.5.0', undefined]],
    ['^0.9.2', ['0.9.2', '0.9.3'], ['0.9.1', '0.10.0', '1.9.2']],
    ['1.52.0', ['1.52.0'], ['1.52.1', '1.51.0']],
    ['6.3', ['6.3.0'], ['6.4.0']]
  ]) {
    it(`should accept what ${range} accepts`, () => {
      for (const version of yes) assert(isIn(range, version), version)
      for (const version of no.filter(Boolean)) assert(!isIn(range, version), version)
    })
  }

  it('should run TypeScript that the project compiles as it is loaded, and kone dev', async t => {
    write('app.ts', `import Koa from 'koa'; const app: Koa = new Koa(); ${BODY}; app.listen(Number(process.env.PORT))`)
    const child = await dev(t, 'app.ts', { env: { NODE_OPTIONS: `--require ${path.join(ROOT, 'command/as-koa')}` } })
    assert.equal(await (await fetch(child.url)).text(), 'kone')
  })

  it('should not let pass what another module system loads: Jest', async () => {
    write('vm.js', `
      const fs = require('node:fs'); const vm = require('node:vm')
      const filename = fs.realpathSync('node_modules/koa/lib/application.js')
      for (const compile of [text => new vm.Script(text, { filename }), text => vm.compileFunction(text, ['require'], { filename })]) {
        try { compile('0') } catch (err) { console.log(err.message) }
      }
      new vm.Script('0', 'own.js'); vm.compileFunction('0'); new vm.Script('0')`)
    const { code, out } = await run(['vm.js'])
    assert.equal(code, 0)
    assert.equal(out.length, 2)
    for (const line of out) assert(line.endsWith(`"moduleNameMapper": { "^koa(/.*)?$": "${ROOT}$1" }`), line)
  })

  it('should end a bundle that holds Koa itself', async () => {
    for (const minify of [false, true]) {
      require('esbuild').buildSync({
        stdin: { contents: `const Koa = require('koa'); const app = new Koa(); ${BODY}; ${PRINT}`, resolveDir: ROOT },
        bundle: true,
        platform: 'node',
        minify,
        outfile: path.join(folder, 'bundle.js'),
        logLevel: 'error'
      })
      const { code, out, err } = await run(['bundle.js'])
      assert.deepEqual([code, out], [1, []])
      assert.match(err[0], /^kone\/as-koa cannot replace Koa in \S+bundle\.js: Koa is a part of the file itself/)
    }
  })

  it('should leave servers alone that have nothing to do with Koa', async () => {
    write('http.js', "const server = require('http').createServer((req, res) => res.end()).listen(0, () => { console.log('listens'); server.close() })")
    assert.deepEqual(await run(['http.js']), { code: 0, out: ['listens'], err: [] })
  })
})
