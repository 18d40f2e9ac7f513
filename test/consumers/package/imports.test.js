'use strict'

const assert = require('node:assert/strict')
const { readFileSync } = require('node:fs')
const { join } = require('node:path')
const { describe, it } = require('node:test')

const ROOT = join(__dirname, '../../..')

describe('imports', () => {
  it('should follow the rules of .dependency-cruiser.js', async () => {
    const { cruise } = await import('dependency-cruiser')
    const { forbidden, options } = require('../../../.dependency-cruiser')
    const { output } = await cruise(['lib', 'middleware'], { ...options, baseDir: ROOT, validate: true, ruleSet: { forbidden } })
    assert(output.modules.length > 100, 'nothing was read')
    assert.deepEqual(output.summary.violations.map(({ rule, from, to }) => `${rule.name}: ${from} → ${to}`), [])
  })
})

describe('the dependencies', () => {
  it('should have a row each in CONTRIBUTING.md, with a file that needs it', () => {
    const rows = [...readFileSync(join(ROOT, 'CONTRIBUTING.md'), 'utf8').matchAll(/^\| `([^`]+)` \| `((?:lib|middleware)\/[^`]+)` \| \S/gm)]
    assert.deepEqual(rows.map(([, name]) => name), Object.keys(require('kone/package.json').dependencies))
    for (const [, name, file] of rows) assert(readFileSync(join(ROOT, file), 'utf8').includes(`require('${name}')`), `${name} in ${file}`)
  })
})
