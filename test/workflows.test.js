'use strict'

const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const { readFileSync } = require('node:fs')
const { join } = require('node:path')
const { describe, it } = require('node:test')
const actionlint = require('./helpers/actionlint')
const share = require('./helpers/share')
const { all } = require('./compat/real/applications')

const ROOT = join(__dirname, '..')
const WORKFLOW = join(ROOT, '.github/workflows/test.yml')

describe('the workflows', () => {
  it('should pass actionlint', { skip: share('in make test-all: it is built', false) }, t => {
    const { path, missing } = actionlint()
    if (missing) return t.skip(missing)
    // shellcheck and pyflakes are looked for on the PATH, where other machines have other versions
    const lint = (args, input) => spawnSync(path, ['-no-color', '-shellcheck=', '-pyflakes=', ...args], {
      cwd: ROOT,
      encoding: 'utf8',
      input
    })
    const { status, stdout, stderr } = lint([WORKFLOW, join(ROOT, 'create/template/all/_github/workflows/test.yml')])
    assert.equal(stdout + stderr, '')
    assert.equal(status, 0)

    const broken = readFileSync(WORKFLOW, 'utf8').replaceAll('matrix.node', 'matrix.nodes')
    assert.match(lint(['-'], broken).stdout, /property "nodes" is not defined/)
  })

  it('should run the tests on Linux and macOS, on every major version from the oldest supported one', () => {
    const text = readFileSync(WORKFLOW, 'utf8')
    const oldest = Number(/\d+/.exec(require('kone/package.json').engines.node)[0])
    const versions = [...text.matchAll(/node: \[(.+)\]/g)].map(([, list]) => list.split(', ').map(Number))
    assert.equal(versions.length, 2)
    for (const list of versions) assert.deepEqual(list, [oldest, oldest + 2, oldest + 4, oldest + 6])
    assert.deepEqual(text.match(/runs-on: \S+/g), ['runs-on: ubuntu-latest', 'runs-on: ubuntu-latest', 'runs-on: macos-latest'])
    assert(text.includes(`- run: make \${{ matrix.node == ${oldest + 6} && 'test-all' || 'test ARGS=--here' }}\n`))
    assert.equal(text.match(/- run: make test ARGS=--here$/gm).length, 1)
    assert.equal(text.match(/- run: make node-duties$/gm).length, 1)
    assert(text.includes(`- run: for node in ${versions[0].join(' ')}; do make compat ARGS="--as-koa --node=$node" || exit 1; done\n`))
    const [, apps] = /- run: make compat ARGS="(.+)"/.exec(text)
    assert.deepEqual(apps.split(' ').filter(name => !all().some(app => app.name === name)), [])
  })
})
