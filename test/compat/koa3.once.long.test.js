'use strict'

const assert = require('node:assert/strict')
const { execFileSync, spawnSync } = require('node:child_process')
const { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } = require('node:fs')
const { createRequire } = require('node:module')
const { tmpdir } = require('node:os')
const { join } = require('node:path')
const { before, describe, it } = require('node:test')
const { pathToFileURL } = require('node:url')
const semver = require('semver')

const pack = require('../../tools/pack')
const temporary = require('../helpers/folder')
const { Kone3 } = require('../helpers/kone3')

const ROOT = join(__dirname, '../..')

describe('the tarball of kone@3', () => {
  const folder = temporary()
  let requireThere

  before(() => {
    const tarball = pack({ to: folder, koa: '3' })
    execFileSync('tar', ['xzf', tarball, '-C', folder])
    // what `npm install koa@npm:kone@3` makes of it, which no registry has
    const place = join(folder, 'node_modules/koa')
    cpSync(join(folder, 'package'), place, { recursive: true })
    mkdirSync(join(folder, 'node_modules'), { recursive: true })
    for (const name of Object.keys(pack.DEPENDENCIES)) {
      cpSync(join(ROOT, 'node_modules/koa3/node_modules', name), join(folder, 'node_modules', name), { recursive: true })
    }
    for (const name of ['bluebird', '@types', 'undici-types']) cpSync(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name), { recursive: true })
    requireThere = createRequire(join(folder, 'x.js'))
  })

  it('should satisfy the peer range ^3 of packages, in npm', () => {
    const consumer = join(folder, 'consumer')
    mkdirSync(join(consumer, 'peer'), { recursive: true })
    writeFileSync(join(consumer, 'peer/package.json'), '{"name":"peer","version":"1.0.0","peerDependencies":{"koa":"^3.2.1"}}')
    const dependencies = { koa: 'file:../kone-3.3.0.tgz', peer: 'file:./peer' }
    writeFileSync(join(consumer, 'package.json'), JSON.stringify({ private: true, dependencies }))
    const npm = spawnSync('npm', ['install', '--package-lock-only', '--prefer-offline', '--no-audit', '--no-fund'], { cwd: consumer, encoding: 'utf8' })
    assert.equal(npm.status, 0, npm.stderr)
    const { packages } = JSON.parse(readFileSync(join(consumer, 'package-lock.json'), 'utf8'))
    assert.equal(packages['node_modules/koa'].version, '3.3.0')
  })

  it("should have Koa 3's API in every entry", async () => {
    process.env.NODE_PATH = join(ROOT, 'node_modules')
    require('node:module').Module._initPaths()
    const Koa = requireThere('koa')
    assert.equal(Koa.name, 'Application')
    assert.equal(requireThere('koa/package').version, '3.3.0')
    assert.equal(requireThere('koa/lib/application'), Koa)
    assert.equal(requireThere('http-errors'), Koa.createHttpError)
    assert.equal(requireThere('http-errors/package.json').version.split('.')[0], '2')
    // here, because the copy of http-errors is not the one that Koa 3 changes
    const likeness = { status: 400, statusCode: 400, expose: true }
    const isOne = (fields, Class = Koa.HttpError) => Object.assign(new Error('x'), fields) instanceof Class
    const classes = [Koa.HttpError, Koa.createHttpError[400], class extends Koa.HttpError {}]
    assert.deepEqual(classes.map(Class => isOne(likeness, Class)), [true, false, false])
    for (const other of [{ status: 404 }, { expose: 1 }, { statusCode: undefined }]) assert(!isOne({ ...likeness, ...other }))
    assert(new Koa.createHttpError[404]() instanceof Koa.HttpError)
    assert(!(likeness instanceof Koa.HttpError) && !(null instanceof Koa.HttpError))
    requireThere('statuses').message[799] = 'Mine'
    const ctx = new Koa().createContext({ headers: {}, socket: {} }, { setHeader () {}, getHeader () {} })
    ctx.status = 799
    assert.equal(ctx.message, 'Mine')
    for (const part of ['context', 'request', 'response']) {
      const prototype = requireThere(`koa/lib/${part}`)
      assert.equal(requireThere(`koa/lib/${part}.js`), prototype)
      assert.equal(Object.getPrototypeOf(new Koa()[part]), prototype)
    }
    assert(requireThere('koa/bluebird').prototype instanceof Koa)
    const file = join(folder, 'node_modules/koa/lib/koa3.js')
    const { 'module.exports': all, ...exported } = await import(pathToFileURL(file)) // which has it from Node 23 on
    assert.equal(all ?? Koa, Koa)
    assert.equal(exported.default, Koa)
    assert.deepEqual(Object.keys(exported).sort(), Object.keys(Koa).sort())
    for (const name of Object.keys(Koa)) assert.equal(exported[name], Koa[name], name)
  })

  it("should have Koa 3's types", () => {
    const types = readFileSync(join(folder, 'node_modules/koa/lib/index.d.ts'), 'utf8')
    writeFileSync(join(folder, 'app.ts'), `
      import Koa = require('koa')
      const app = new Koa<{}, {}>()
      app.use(ctx => {
        const origin: string | null = ctx.origin
        ctx.set('X-Number', 5)
        ctx.throw(400, 'text', { origin })
      })
      app.use(ctx => {
        // @ts-expect-error: it may be null
        const origin: string = ctx.origin
        // @ts-expect-error: Koa 2's order
        ctx.throw('text', 400)
      })
      // @ts-expect-error: Koa 2's word
      app.use(ctx => ctx.redirect('back', '/'))
    `)
    assert.match(types, /origin: string \| null/)
    const tsc = spawnSync(process.execPath, [require.resolve('typescript/bin/tsc'), '--noEmit', '--strict', '--target', 'es2022',
      '--module', 'nodenext', '--types', 'node', 'app.ts'], { cwd: folder, encoding: 'utf8' })
    assert.equal(tsc.stdout, '')
  })

  it('should have the client of typed routes', () => {
    symlinkSync(join(ROOT, 'node_modules/zod'), join(folder, 'node_modules/zod'), 'junction')
    writeFileSync(join(folder, 'client.ts'), `
      import Koa = require('koa')
      import client = require('koa/client')
      import Router = require('koa/middleware/router')
      import validate = require('koa/middleware/validate')
      import { z } from 'zod'

      const Note = z.object({ id: z.number(), title: z.string() })
      const router = new Router().get('/notes/:id', validate({ response: Note }), ctx => {
        ctx.body = { id: Number(ctx.params.id), title: 'bread' }
      })
      const app = new Koa().use(router.routes())
      const api = client<typeof router>('http://localhost', { fetch: app.fetch })
      // @ts-expect-error: there is no such path
      export const mistaken = () => api.get('/nots/:id', { params: { id: 7 } })
      api.get('/notes/:id', { params: { id: 7 } }).then(async res => {
        const text: string = res.ok ? (await res.json()).title : String(res.status)
        console.log(text)
      })
    `)
    const run = (...args) => spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8', env: { ...process.env, NODE_PATH: join(ROOT, 'node_modules') } })
    const tsc = run(require.resolve('typescript/bin/tsc'), '--strict', '--target', 'es2022', '--module', 'nodenext', '--types', 'node', 'client.ts')
    assert.equal(tsc.stdout, '')
    const { stdout, stderr } = run('client.js')
    assert.equal(stdout, 'bread\n', stderr)
  })
})

describe('what an app shares with kone 2.17', () => {
  it('should be what it shares with Koa 2', () => {
    const requireByKoa = createRequire(require.resolve('koa'))
    const requireByKone = createRequire(require.resolve('kone'))
    for (const name of Object.keys(pack.DEPENDENCIES)) assert.equal(requireByKone(name), requireByKoa(name))
    const majors = name => Object.keys(pack.DEPENDENCIES).map(one => semver.minVersion(require(`${name}/package.json`).dependencies[one]).major)
    assert.deepEqual(majors('kone'), majors('koa'))
  })
})

describe("what differs between Koa 2's and Koa 3's line", () => {
  it('should be the table in MIGRATION.md', () => {
    const source = readFileSync(join(ROOT, 'lib/koa3.js'), 'utf8')
    const expected = [...source.matchAll(/\/\*\* (.+?) \| (.+?) \| (.+?) \*\//g)].map(([, ...cells]) => `| ${cells.join(' | ')} |`)
    const [, table] = /<!-- koa3 -->\n([^]*?)<!-- \/koa3 -->/.exec(readFileSync(join(ROOT, 'MIGRATION.md'), 'utf8'))
    assert.deepEqual(table.trim().split('\n').slice(2), expected)
    assert(expected.length > 10)
  })

  it('should not change the class of Koa 2', () => {
    const Kone = require('kone')
    assert.notEqual(Object.getPrototypeOf(new Kone3().response), Object.getPrototypeOf(new Kone().response))
    assert.equal(new Kone().createContext({ headers: {}, socket: {} }, { getHeader () {} }).response.get('x'), '')
    assert.equal(new Kone3().createContext({ headers: {}, socket: {} }, { getHeader () {} }).response.get('x'), undefined)
  })

  it('should leave href and URL the host that ctx.host has, or none', () => {
    const targets = ['/evil.example/x', '*', '*.evil.example/', 'http:///evil.example', 'http://a b/c', 'http://u@ok.example/x', '?a']
    for (const [host, url] of ['ok.example', 'a b', 'u@ok.example', undefined].flatMap(host => targets.map(url => [host, url]))) {
      const ctx = new Kone3().createContext({ headers: { host }, socket: {}, url }, { getHeader () {} })
      assert([undefined, ctx.host].includes(ctx.URL.host))
      if (ctx.host !== '' && URL.canParse(ctx.href)) assert.equal(new URL(ctx.href).host, ctx.host)
      else if (ctx.host === '' && host !== undefined) assert.equal(ctx.href, '')
    }
  })

  it('should refuse an unknown line', () => {
    assert.throws(() => pack({ to: tmpdir(), koa: '4' }), { message: 'pack: KOA must be 2 or 3, not 4' })
  })
})
