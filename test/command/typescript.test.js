'use strict'

const { after, before, describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { execFile } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { install } = require('../helpers/area')
const { start } = require('../helpers/child')
const { onFreePort } = require('../helpers/ports')
const until = require('../helpers/until')

// TypeScript apps in a project that has TypeScript 7: it has no API, so that nothing may load it as a library.

const ROOT = path.join(__dirname, '../..')
const KONE = path.join(ROOT, require('kone/package.json').bin.kone)
const hasOwn = Boolean(process.features.typescript) || process.allowedNodeEnvironmentFlags.has('--experimental-strip-types')

const APP = `import Kone, { type Context } from 'kone'
import { greet } from './greet.ts'
const app: Kone = new Kone()
app.use(function hello (ctx: Context): void { ctx.body = greet(ctx.query.name as string) })
export default app
`
const GREET = "interface Named { name: string }\nexport const greet = (name: Named['name']): string => 'Hello ' + name\n"

describe('a TypeScript app in a project with TypeScript 7', () => {
  let scratch, modules

  before(() => {
    scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'kone-typescript-'))
    modules = path.join(install('compilers').folder, 'node_modules')
  })
  after(() => fs.rmSync(scratch, { recursive: true, force: true, maxRetries: 5 }))

  function project (name, packages) {
    const folder = path.join(scratch, name)
    fs.mkdirSync(path.join(folder, 'node_modules'), { recursive: true })
    fs.writeFileSync(path.join(folder, 'package.json'), '{ "type": "module" }')
    fs.writeFileSync(path.join(folder, 'app.ts'), APP)
    fs.writeFileSync(path.join(folder, 'greet.ts'), GREET)
    const link = (target, as) => fs.symlinkSync(target, path.join(folder, 'node_modules', as), 'junction')
    link(ROOT, 'kone')
    link(path.join(modules, 'typescript-7'), 'typescript')
    for (const one of packages) link(path.join(modules, one), one)
    return folder
  }

  const env = { ...process.env, NODE_TEST_CONTEXT: undefined, NODE_ENV: undefined, KONE_CLUSTER: 'node' }
  const kone = (cwd, ...args) => new Promise(resolve => {
    execFile(process.execPath, [KONE, ...args], { cwd, env }, (err, stdout, stderr) => {
      resolve({ code: err?.code ?? 0, stdout, stderr })
    })
  })

  for (const packages of [['esbuild'], ['tsx'], ...(hasOwn ? [[]] : [])]) {
    const by = packages[0] ?? 'node alone'

    it(`should list its routes, with ${by}`, async () => {
      const { code, stdout, stderr } = await kone(project(`routes-${by}`, packages), 'routes', 'app.ts')
      assert.deepEqual([code, stdout.split('\n')[0]], [0, 'every request: hello'], stderr)
    })

    it(`should run, and restart when a file changes, with ${by}`, async t => {
      const folder = project(`dev-${by}`, packages)
      const child = await onFreePort(port => start([KONE, 'dev', 'app.ts', '--port', String(port)], { NODE_ENV: undefined }, folder))
      t.after(() => child.stop())
      const greeting = async () => (await fetch(`${child.url}/?name=Ada`)).text().catch(() => '')
      assert.equal(await greeting(), 'Hello Ada')
      fs.writeFileSync(path.join(folder, 'greet.ts'), GREET.replace('Hello', 'Good day'))
      await until(async () => await greeting().catch(() => '') === 'Good day Ada')
    })
  }

  it('should be refused with one sentence that names what runs it', { skip: hasOwn && 'this Node runs it' }, async () => {
    const folder = project('refused', [])
    for (const command of ['routes', 'dev']) {
      const { code, stdout, stderr } = await kone(folder, command, 'app.ts')
      assert.deepEqual([code, stdout], [1, ''])
      assert.match(stderr, /^kone: app\.ts is TypeScript, which Node [\d.]+ does not run: install esbuild or tsx in the project, use .*\n$/)
    }
    const { stderr } = await kone(folder, 'start', 'app.ts')
    assert.match(stderr, /^kone: app\.ts is TypeScript, which Node [\d.]+ does not run: compile it, or use Node 22\.18 or later .*\n$/)
  })
})
