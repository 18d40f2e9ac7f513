'use strict'

const assert = require('node:assert/strict')
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
