'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const { describe, it } = require('node:test')
const { RESULTS, read } = require('../../benchmarks/lib/run/result')
const claims = require('../../benchmarks/lib/report/claims')
const { agesOf, generate, isGenerated } = require('../../benchmarks/lib/report/report')

const ROOT = path.join(__dirname, '../..')
const text = file => fs.readFileSync(path.join(ROOT, file), 'utf8')

describe('the committed results', () => {
  const { results, faults } = read(RESULTS)
  const made = generate({
    results,
    readme: text('README.md'),
    home: text('docs/index.md'),
    set: text('middleware/README.md'),
    claims: claims.read(),
    age: agesOf(text('docs/reports/README.md')) // of when it was made: `make report` counts commits
  })

  it('should be sound', () => assert.deepEqual(faults, []))

  it('should be whole runs of the labs, with their commit', () => {
    for (const { lab, derived, commit, rows } of results) {
      assert.ok(!derived.quick, `${lab}: a quick run is no result`)
      assert.match(commit?.hash ?? '', /^[0-9a-f]{40}$/, lab)
      assert.ok(rows.every(({ rounds }) => rounds.length >= 3), lab)
    }
  })

  it('should break no claim: measure again, or accept the higher figures by `make report ARGS=--accept`', () => {
    assert.deepEqual(made.broken, [])
    assert.deepEqual(made.claims, claims.read(), 'run `make report`')
  })

  for (const [file, content] of made.files) {
    it(`should agree with ${file} (else run \`make report\`)`, () => same(text(file), content))
  }

  it('should have no page or chart of a lab that is not there', () => {
    const present = fs.readdirSync(path.join(ROOT, 'docs/reports'), { recursive: true }).map(file => path.posix.join('docs/reports', file))
    assert.deepEqual(present.filter(file => isGenerated(file) && !made.files.has(file)), [])
  })
})

// The first line that differs says enough.
function same (actual, expected) {
  const lines = [actual, expected].map(text => text.split('\n'))
  const at = lines[1].findIndex((line, i) => line !== lines[0][i])
  if (at >= 0) assert.equal(lines[0][at], lines[1][at], `line ${at + 1}`)
  assert.equal(lines[0].length, lines[1].length, 'lines')
}
