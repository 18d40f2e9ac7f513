'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const { install } = require('../helpers/area')
const until = require('../helpers/until')
const { project, scratch } = require('./project')

// TypeScript apps in a project that has TypeScript 7: it has no API, so that nothing may load it as a library.

const hasOwn = Boolean(process.features.typescript) || process.allowedNodeEnvironmentFlags.has('--experimental-strip-types')

const APP = `import Kone, { type Context } from 'kone'
import { greet } from './greet.ts'
const app: Kone = new Kone()
app.use(function hello (ctx: Context): void { ctx.body = greet(ctx.query.name as string) })
export default app
`
const GREET = "interface Named { name: string }\nexport const greet = (name: Named['name']): string => 'Hello ' + name\n"

describe('a TypeScript app in a project with TypeScript 7', () => {
  const folder = scratch()
  const modules = path.join(install('consumers/compilers').folder, 'node_modules')

  function typescript (name, packages) {
    const made = project(path.join(folder, name))
    made.write('package.json', '{ "type": "module" }')
    made.write('app.ts', APP)
    made.write('greet.ts', GREET)
    const link = (target, as) => fs.symlinkSync(path.join(modules, target), path.join(made.folder, 'node_modules', as), 'junction')
    link('typescript-7', 'typescript')
    for (const one of packages) link(one, one)
    return made
  }

  for (const packages of [['esbuild'], ['tsx'], ...(hasOwn ? [[]] : [])]) {
    const by = packages[0] ?? 'node alone'

    it(`should list its routes, with ${by}`, async () => {
      const { code, out, err } = await typescript(`routes-${by}`, packages).kone('routes', 'app.ts')
      assert.deepEqual([code, out[0]], [0, 'every request: hello'], err.join('\n'))
    })

    it(`should run, and restart when a file changes, with ${by}`, async t => {
      const { dev, write } = typescript(`dev-${by}`, packages)
      const child = await dev(t, 'app.ts')
      const greeting = async () => (await fetch(`${child.url}/?name=Ada`)).text().catch(() => '')
      assert.equal(await greeting(), 'Hello Ada')
      write('greet.ts', GREET.replace('Hello', 'Good day'))
      await until(async () => await greeting().catch(() => '') === 'Good day Ada')
    })
  }

  it('should be refused with one sentence that names what runs it', { skip: hasOwn && 'this Node runs it' }, async () => {
    const { kone } = typescript('refused', [])
    for (const [command, remedy] of [['routes', 'install esbuild or tsx'], ['dev', 'install esbuild or tsx'], ['start', 'compile it, or use Node 22.18']]) {
      const { code, out, err } = await kone(command, 'app.ts')
      assert.deepEqual([code, out, err.length], [1, [], 1])
      assert.match(err[0], /^kone: app\.ts is TypeScript, which Node [\d.]+ does not run: /)
      assert(err[0].includes(remedy), err[0])
    }
  })
})
