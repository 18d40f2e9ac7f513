'use strict'

const { spawnSync } = require('node:child_process')
const path = require('node:path')
const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { nodeVersion, parse } = require('../../benchmarks/lib/run/options')

describe('the options of a lab', () => {
  const options = (...argv) => parse(argv, { lab: 'battle', contenders: ['node', 'kone', 'koa'] })

  it('should have defaults', () => {
    assert.deepEqual(options(), { quick: true, help: false, rounds: 3, only: null, node: process.execPath })
  })

  it('should be of a first look, unless --full or --rounds says otherwise', () => {
    assert.deepEqual([options('--full').quick, options('--full').rounds], [false, 6])
    assert.deepEqual([options('--rounds', '5').quick, options('--rounds', '5').rounds], [true, 5])
  })

  it('should take values after a blank and after =', () => {
    assert.deepEqual(options('--only', 'kone,koa').only, ['kone', 'koa'])
    assert.deepEqual(options('--only=kone', '--only=node').only, ['kone', 'node'])
    assert.equal(options('--node=/opt/node').node, '/opt/node')
  })

  it('should refuse what it does not know, and say what there is', () => {
    assert.throws(() => options('--ful'), /battle: unknown option --ful[^]*--full/)
    assert.throws(() => options('full'), /unknown argument full/)
    assert.throws(() => options('--only', 'kone,kao'), /unknown contender kao: expected node, kone, koa/)
  })

  it('should refuse missing and bad values', () => {
    assert.throws(() => options('--rounds'), /--rounds needs a value/)
    assert.throws(() => options('--only', '--full'), /--only needs a value/)
    assert.throws(() => options('--rounds', '2'), /at least 3, not 2/)
    assert.throws(() => options('--rounds', 'many'), /at least 3, not many/)
    assert.throws(() => options('--full=yes'), /--full takes no value/)
  })

  it('should know those of one lab alone, and no other', () => {
    const own = { all: { help: 'sixteen' }, ref: { value: '<revision>', help: 'which' } }
    const options = (...argv) => parse(argv, { lab: 'versions', contenders: ['node'], own })
    const { all, ref } = options('--all', '--ref=main~1')
    assert.deepEqual({ all, ref }, { all: true, ref: 'main~1' })
    assert.deepEqual([options().all, options().ref], [false, null])
    assert.throws(() => options('--all=yes'), /--all takes no value/)
    assert.throws(() => options('--ref'), /--ref needs a value/)
    assert.throws(() => options('--era'), /unknown option --era: expected --full, .*, --all, --ref \(/)
    assert.throws(() => options('--constructor'), /unknown option --constructor/)
  })

  it('should refuse a --node that is not a Node', () => {
    assert.equal(nodeVersion(process.execPath), process.version)
    assert.throws(() => nodeVersion('/bin/false'), /--node must be a major version or a binary that runs here, as 26, not \/bin\/false \(/)
    assert.throws(() => nodeVersion('/nowhere/node'), /--node must be .*, not \/nowhere\/node/)
  })
})

describe('the command line of a lab', () => {
  for (const lab of ['battle', 'front', 'mw']) {
    it(`should refuse an unknown option of ${lab} with a sentence and an exit code`, () => {
      const { status, stderr } = start(lab, '--fast')
      assert.equal(status, 2)
      assert.match(stderr, new RegExp(`^${lab}: unknown option --fast: expected --full, .* \\(benchmarks/README.md\\)\n$`))
      assert.doesNotMatch(stderr, / at .*\.js/)
    })
  }

  it('should help', () => {
    const { status, stdout } = start('battle', '--help')
    assert.equal(status, 0)
    const names = require('../../benchmarks/labs/battle').contenders.map(({ name }) => name)
    assert.ok(names.includes('kone'))
    assert.match(stdout, /^usage: make battle ARGS=/)
    assert.ok(stdout.endsWith(`contenders: ${names.join(', ')}\n`), stdout)
  })

  function start (lab, ...argv) {
    const file = path.join(__dirname, '../../benchmarks/labs', lab, 'index.js')
    return spawnSync(process.execPath, [file, ...argv], { encoding: 'utf8' })
  }
})
