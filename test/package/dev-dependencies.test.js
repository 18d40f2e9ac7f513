'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const { describe, it } = require('node:test')
const { devDependencies } = require('../../package.json')

/*
 * Every development dependency of the root package is required by a test, a tool, a benchmark or a
 * configuration, or is listed here with the reason why it is installed.
 */

const root = path.join(__dirname, '../..')
const FOLDERS = ['test', 'tools', 'benchmarks', 'examples', 'docs', 'create']
const FILE = /\.(?:[cm]?js|[cm]?ts)$/

const REASONS = {
  '@types/koa': 'test/types compiles the types of packages for Koa, which import it',
  '@types/koa-bodyparser': 'test/types',
  '@types/koa-router': 'test/types',
  '@types/koa-session': 'test/types',
  '@types/koa-static': 'test/types',
  '@types/koa-views': 'test/types',
  '@types/koa__cors': 'test/types',
  '@types/koa__router': 'test/types',
  '@types/node': 'test/types: lib/index.d.ts refers to it',
  c8: 'the command of make cover',
}

describe('a development dependency', () => {
  const used = usedPackages()

  it('should be required somewhere, or have a reason', () => {
    const idle = Object.keys(devDependencies).filter(name => !used.has(name) && !(name in REASONS))
    assert.deepEqual(idle, [])
  })

  it('should have no reason here that is not needed', () => {
    const needless = Object.keys(REASONS).filter(name => !(name in devDependencies) || used.has(name))
    assert.deepEqual(needless, [])
  })
})

function usedPackages () {
  const files = ['eslint.config.js', ...FOLDERS.flatMap(filesOf)]
  const used = new Set()
  for (const file of files) {
    const source = fs.readFileSync(path.join(root, file), 'utf8')
    for (const [, name] of source.matchAll(/(?:require(?:\.resolve)?\(|from |import\(|import )['"]((?:@[^'"/]+\/)?[^'"/.][^'"/]*)/g)) {
      used.add(name)
    }
  }
  return used
}

/** Its source files; what is installed below it belongs to other packages. */
function filesOf (folder) {
  const entries = fs.readdirSync(path.join(root, folder), { withFileTypes: true })
  return entries.flatMap(entry => {
    const inside = path.join(folder, entry.name)
    if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : filesOf(inside)
    return entry.isFile() && FILE.test(entry.name) && inside !== path.join('test', path.basename(__filename)) ? [inside] : []
  })
}
