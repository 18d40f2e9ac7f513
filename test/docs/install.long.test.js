'use strict'

const { before, describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { execFile } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const { promisify } = require('node:util')
const { version } = require('kone/package.json')
const { KOA3 } = require('../../tools/pack')
const { blocks } = require('../helpers/blocks')
const temporary = require('../helpers/folder')

const ROOT = path.join(__dirname, '../..')
const ANCHOR = 'until-kone-is-on-npm'
const SKIPPED = /(?:^|\/)(?:node_modules|reports|out)(?:\/|$)/
const NEEDS_NPM = /npm (?:install|i|create) (?:[\w.@-]+ )*kone\b|npm:kone/

const run = promisify(execFile)
const read = file => fs.readFileSync(path.join(ROOT, file), 'utf8')

/** The documents for users: the changelog has the past. */
const documents = ['README.md', 'MIGRATION.md', 'SECURITY.md', 'CONTRIBUTING.md',
  ...['create', 'docs', 'examples', 'middleware'].flatMap(folder => fs.readdirSync(path.join(ROOT, folder), { recursive: true })
    .map(file => path.posix.join(folder, file))
    .filter(file => file.endsWith('.md') && !SKIPPED.test(file)))]

describe('how to install kone, in the documents', () => {
  const [block] = blocks(read('docs/README.md').split('## Until kone is on npm')[1])
  const commands = block.code.trim().split('\n').map(line => line.replace(/ +#.*$/, ''))
  const [pack, install, alias, create, tryOut] = commands
  const folder = temporary()
  const app = path.join(folder, 'app')

  // beside a checkout, of which only the folders that the commands read are here
  before(async () => {
    const kone = path.join(folder, 'kone')
    for (const each of [app, kone]) fs.mkdirSync(each)
    fs.symlinkSync(path.join(ROOT, 'create'), path.join(kone, 'create'))
    fs.writeFileSync(path.join(app, 'package.json'), '{ "private": true }')
    assert.equal(pack, '(cd ../kone && make pack)')
    await run('make', ['pack', `ARGS=--pack-destination ${kone}`], { cwd: ROOT })
  })

  const sh = (command, cwd = app) => run(command, { cwd, shell: true, timeout: 600000 })
  const npm = command => sh(`${command} --prefer-offline --no-audit --no-fund`)
  const loaded = async name => (await sh(`node -p "require('${name}/package.json').name"`)).stdout.trim()

  it('should have a command that installs kone', async () => {
    await npm(install)
    assert.equal(await loaded('kone'), 'kone')
  })

  it("should have a command that installs kone in Koa's place", async () => {
    await npm(alias)
    assert.equal(await loaded('koa'), 'kone')
  })

  it('should have a command that makes a project with a copy of the tarball', async () => {
    await sh(create)
    const project = path.join(folder, 'my-app')
    const { dependencies } = JSON.parse(fs.readFileSync(path.join(project, 'package.json'))) // test/create.long.test.js installs them
    assert.equal(fs.existsSync(path.join(project, dependencies.kone.replace(/^file:/, ''))), true)
    assert.ok(read('docs/api/create.md').includes(`\`${create}\``))
  })

  it('should have a command that tries an app in whose folder nothing of kone is', async () => {
    const koa = path.join(folder, 'koa')
    fs.mkdirSync(koa)
    fs.writeFileSync(path.join(koa, 'package.json'), '{ "private": true }')
    fs.writeFileSync(path.join(koa, 'server.js'), "new (require('koa'))().use(ctx => { ctx.body = 'hi' }).listen(3000)")
    await sh('npm install koa@2 --prefer-offline --no-audit --no-fund', koa)
    const { stdout } = await sh(tryOut.replace('npx', 'npx --yes --prefer-offline'), koa)
    assert.match(stdout, /^2 of 2 the same \(200 ×2\)$/m)
    assert.ok(read('docs/api/try.md').includes(`\`${tryOut}\``))
  })

  it('should name the tarballs of this version and of kone@3', () => {
    const named = [...documents, 'Makefile'].flatMap(file =>
      [...read(file).matchAll(/kone-(\d+\.\d+\.\d+)\.tgz/g)].map(([, named]) => ({ file, named })))
    assert.ok(named.length > 4)
    assert.deepEqual(named.filter(({ named }) => named !== version && named !== KOA3), [])
  })

  it('should say so wherever a command needs npm', () => {
    const needing = documents.filter(file => NEEDS_NPM.test(read(file)))
    assert.ok(needing.includes('MIGRATION.md') && needing.includes('docs/api/create.md'), needing.join())
    const silent = needing.filter(file =>
      !read(file).includes('not on npm yet') || !(read(file).includes(`#${ANCHOR}`) || read(file).includes('make pack')))
    assert.deepEqual(silent, [])
  })
})
