'use strict'

const assert = require('node:assert/strict')
const { execFile, spawn } = require('node:child_process')
const { once } = require('node:events')
const { closeSync, copyFileSync, mkdirSync, openSync, readFileSync, symlinkSync } = require('node:fs')
const { join } = require('node:path')
const { before, describe, it } = require('node:test')
const { pathToFileURL } = require('node:url')
const { promisify } = require('node:util')
const { names } = require('../../../tools/middleware-index')
const pack = require('../../../tools/pack')
const { install } = require('../../helpers/area')
const temporary = require('../../helpers/folder')

const run = promisify(execFile)
const ROOT = join(__dirname, '../../..')

describe('the packed tarball', () => {
  const folder = temporary()
  let area, tarball

  before(() => {
    area = install('consumers/published')
    tarball = pack({ to: folder })
  })

  it('should have the right types for every kind of module resolution, by @arethetypeswrong/cli', async () => {
    const middleware = names().map(name => `middleware/${name}`)
    const args = [tarball, '--format', 'json', '--include-entrypoints', ...middleware]
    const report = join(folder, 'attw.json')
    const fd = openSync(report, 'w') // of a pipe it writes only a part before it exits
    const [code] = await once(spawn(area.bin('attw'), args, { stdio: ['ignore', fd, 'inherit'] }), 'exit')
    closeSync(fd)
    const { analysis, problems } = JSON.parse(readFileSync(report))
    assert.deepEqual(problems, {})
    assert.equal(code, 0)
    for (const entry of ['.', './bluebird', './client', './compose', './middleware', ...middleware.map(name => `./${name}`)]) {
      assert(Object.hasOwn(analysis.entrypoints, entry), entry)
    }
  })

  it('should compile with TypeScript 5.0, the oldest that is supported', async () => {
    const file = join(folder, 'router.mts')
    copyFileSync(join(__dirname, '../../types/router.ts'), file)
    mkdirSync(join(folder, 'node_modules'))
    symlinkSync(ROOT, join(folder, 'node_modules/kone'), 'junction')
    const tsc = area.require.resolve('typescript-5.0/bin/tsc')
    const types = join(ROOT, 'node_modules/@types')
    const options = ['--strict', '--noEmit', '--skipLibCheck', '--target', 'es2022', '--module', 'nodenext']
    const { stdout } = await run(process.execPath, [tsc, ...options, '--types', 'node', '--typeRoots', types, file], {
      cwd: folder
    }).catch(err => err)
    assert.equal(stdout, '')
  })

  it('should have nothing that publint would change', async () => {
    const { publint } = await import(pathToFileURL(area.require.resolve('publint')))
    const bytes = readFileSync(tarball)
    const tar = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength)
    const { messages, pkg } = await publint({ pack: { tarball: tar }, strict: true })
    assert.deepEqual(messages, [])
    assert.equal(pkg.name, 'kone')
  })
})
