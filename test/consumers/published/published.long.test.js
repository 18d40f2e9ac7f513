'use strict'

const assert = require('node:assert/strict')
const { spawn } = require('node:child_process')
const { once } = require('node:events')
const { closeSync, openSync, readFileSync } = require('node:fs')
const { join } = require('node:path')
const { before, describe, it } = require('node:test')
const { pathToFileURL } = require('node:url')
const { names } = require('../../../tools/middleware-index')
const pack = require('../../../tools/pack')
const { install } = require('../../helpers/area')
const temporary = require('../../helpers/folder')

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

  it('should have nothing that publint would change', async () => {
    const { publint } = await import(pathToFileURL(area.require.resolve('publint')))
    const bytes = readFileSync(tarball)
    const tar = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength)
    const { messages, pkg } = await publint({ pack: { tarball: tar }, strict: true })
    assert.deepEqual(messages, [])
    assert.equal(pkg.name, 'kone')
  })
})
