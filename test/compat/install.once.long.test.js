'use strict'

const { before, describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { execFile } = require('node:child_process')
const fs = require('node:fs')
const { createRequire } = require('node:module')
const path = require('node:path')
const { promisify } = require('node:util')

const manifest = require('kone/package.json')
const temporary = require('../helpers/folder')

const root = path.dirname(require.resolve('kone/package.json'))
const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm'
const run = promisify(execFile)
const packages = ['@koa/router', '@koa/bodyparser', 'koa-helmet']
const shared = { 'http-errors': '^1.6.3', statuses: '^1.5.0' } // of Koa 2's own package.json

describe('the tarball, installed as koa', () => {
  const folder = temporary()
  const inside = path.join(folder, 'index.js')

  before(async () => {
    fs.writeFileSync(path.join(folder, 'package.json'), '{ "private": true }')

    const { stdout } = await run(npm, ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], { cwd: root })
    const [{ filename }] = JSON.parse(stdout)
    // No flag that would silence a peer range: this has to resolve by itself.
    const wanted = packages.map(name => `${name}@${manifest.devDependencies[name]}`)
      .concat(Object.entries(shared).map(entry => entry.join('@')))
    await run(npm, ['install', '--prefer-offline', '--no-audit', '--no-fund', `koa@file:./${filename}`, ...wanted],
      { cwd: folder, timeout: 120000 })
  })

  it('should be the one koa there', () => {
    const kone = createRequire(inside)('koa/package.json')
    assert.equal(kone.name, 'kone')
    assert.equal(kone.version, manifest.version)
    const found = fs.readdirSync(folder, { recursive: true }).filter(name => /node_modules[\\/]koa$/.test(name))
    assert.deepEqual(found, [path.join('node_modules', 'koa')])
  })

  for (const name of packages) {
    it(`should be what ${name} requires`, () => {
      const outside = createRequire(inside)
      const within = createRequire(outside.resolve(name))
      assert.equal(within('koa'), outside('koa'))
      assert.equal(within('koa/lib/context'), outside('koa/lib/context'))
    })
  }

  it('should satisfy the ranges that npm checks', async () => {
    const { stdout } = await run(npm, ['ls', 'koa', '--json'], { cwd: folder })
    const { problems } = JSON.parse(stdout)
    assert.equal(problems, undefined)
  })

  it('should share http-errors and statuses with the app, as Koa 2 does', async () => {
    const outside = createRequire(inside)
    const Koa = outside('koa')
    outside('statuses')[799] = 'Mine'
    const { status, message } = await new Koa().use(ctx => { ctx.status = 799 }).inject('/')
    assert.deepEqual([status, message], [799, 'Mine'])
    const errors = []
    const app = new Koa().use(ctx => ctx.throw('no', 418)).on('error', err => errors.push(err))
    assert.equal((await app.inject('/')).message, "I'm a teapot")
    assert(errors[0] instanceof outside('http-errors').HttpError)
    assert(outside('http-errors').isHttpError(errors[0]))
  })

  it('should serve with them, by require and by import', async () => {
    fs.writeFileSync(inside, `
      const Koa = require('koa')
      const { Router } = require('@koa/router')
      const { bodyParser } = require('@koa/bodyparser')
      const helmet = require('koa-helmet').default || require('koa-helmet')

      const app = new Koa()
      const router = new Router()
      router.post('/users/:id', ctx => { ctx.body = { id: ctx.params.id, got: ctx.request.body } })
      app.use(helmet()).use(bodyParser()).use(router.routes()).use(router.allowedMethods())

      const server = app.listen(0, async () => {
        const res = await fetch('http://127.0.0.1:' + server.address().port + '/users/7', {
          method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"a":1}'
        })
        const imported = await import('koa')
        console.log(JSON.stringify({
          status: res.status,
          nosniff: res.headers.get('x-content-type-options'),
          body: await res.json(),
          same: imported.default === Koa && imported.HttpError === Koa.HttpError
        }))
        server.closeAllConnections()
        server.close()
      })
    `)
    const { stdout } = await run(process.execPath, [inside], { cwd: folder, timeout: 20000 })
    assert.deepEqual(JSON.parse(stdout), {
      status: 200, nosniff: 'nosniff', body: { id: '7', got: { a: 1 } }, same: true
    })
  })
})
