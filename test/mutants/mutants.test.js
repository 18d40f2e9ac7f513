'use strict'

const assert = require('node:assert/strict')
const { existsSync, readFileSync } = require('node:fs')
const { join } = require('node:path')
const { describe, it } = require('node:test')

const EQUAL = require('./equal')
const FILES = require('./files')
const { suites } = require('./matrix')
const results = require('./results.json')
const { GOAL, judge, summary } = require('./run')

const ROOT = join(__dirname, '../..')

describe('the mutants of lib', () => {
  it('should have tests that exist, and a score that is high enough', () => {
    assert.deepEqual(Object.keys(results).sort(), Object.keys(FILES).sort())
    for (const [file, tests] of Object.entries(FILES)) {
      for (const name of [file, ...tests]) assert(existsSync(join(ROOT, name)), name)
      const { percent } = judge(results[file], EQUAL[file])
      assert(percent >= GOAL, `${file}: ${percent} %`)
    }
  })

  it('should be explained on lines that exist', () => {
    for (const [file, equal] of Object.entries(EQUAL)) {
      const lines = new Set(readFileSync(join(ROOT, file), 'utf8').split('\n').map(line => line.trim()))
      for (const { line } of equal) assert(lines.has(line), `${file}: ${line}`)
    }
  })
})

describe('the suites of the matrix', () => {
  it('should have files each', () => {
    const empty = Object.values(suites()).flat().filter(({ files }) => files.length === 0).map(({ name }) => name)
    assert.deepEqual(empty, [])
  })
})

describe('the score of a file', () => {
  const mutant = (status, replacement, line = 1) => ({
    status,
    replacement,
    location: { start: { line, column: 5 }, end: { line, column: 6 } }
  })
  const result = summary({
    source: 'if (a) b()\nif (c) d()\n',
    mutants: [
      mutant('Killed', 'true'), mutant('Timeout', 'false'), mutant('Survived', '!a'), mutant('NoCoverage', 'x', 2),
      mutant('Ignored', 'y')
    ]
  })
  const numbers = ({ mutants, killed, explained, percent }) => ({ mutants, killed, explained, percent })

  it('should count those that a test kills', () => {
    assert.deepEqual(result.survivors, [
      { line: 'if (a) b()', from: 'a', to: '!a' }, { line: 'if (c) d()', from: 'c', to: 'x' }
    ])
    assert.deepEqual(numbers(judge(result)), { mutants: 4, killed: 2, explained: 0, percent: 50 })
    assert.deepEqual(judge(result).open, result.survivors)
  })

  it('should count those that are explained, each by its line and its replacement', () => {
    const explained = { mutants: 4, killed: 2, explained: 1, percent: 75 }
    assert.deepEqual(numbers(judge(result, [{ line: 'if (a) b()', why: '' }])), explained)
    assert.equal(judge(result, [{ line: 'if (a) b()', to: '!a', why: '' }]).explained, 1)
    assert.equal(judge(result, [{ line: 'if (a) b()', to: 'a', why: '' }]).explained, 0)
  })

  it('should name an explanation without a survivor', () => {
    const unused = { line: 'if (e) f()', why: '' }
    assert.deepEqual(judge(result, [unused, { line: 'if (c) d()', why: '' }]).unused, [unused])
  })
})
