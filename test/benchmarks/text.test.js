'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { ratio, short, table, two } = require('../../benchmarks/lib/report/text')
const bar = require('../../benchmarks/lib/run/progress')

describe('what a lab prints', () => {
  it('should align columns, numbers to the right', () => {
    assert.equal(table([['', 'µs'], ['kone', '9.5'], ['node:http', '17.0']]), [
      '             µs',
      '---------  ----',
      'kone        9.5',
      'node:http  17.0'
    ].join('\n'))
  })

  it('should keep the digits that matter', () => {
    assert.deepEqual([0.12345, 9.876, 98.76, 987.6, 98765.4].map(short), ['0.123', '9.88', '98.8', '988', '98,765'])
  })

  it('should not print a ratio as nothing because it is small', () => {
    for (let value = 1e-6; value < 1e6; value *= 1.07) {
      const error = Math.abs(Number(two(value).replaceAll(',', '')) / value - 1)
      assert.ok(error < (value < 0.01 || value > 1 ? 0.051 : 0.5), `${value} is printed as ${two(value)}`)
    }
    assert.deepEqual([0, 0.0047, 0.057, 9.876, 123.4].map(two), ['0.00', '0.0047', '0.06', '9.88', '123'])
    assert.deepEqual([-0.001, -1.944, -122.04].map(two), ['0.00', '-1.94', '-122'])
    assert.equal(ratio({ median: 0.0047, min: 0.004, max: 0.012 }), '0.0047 (0.0040–0.01)')
    assert.equal(ratio(null), '–')
  })

  it('should draw its progress over one line on a terminal', () => {
    const written = []
    const progress = bar(2, { isTTY: true, columns: 80, write: text => written.push(text) })
    progress.tick('one')
    progress.tick('two')
    progress.end()
    const text = written.join('')
    assert.match(text, /0 % one/)
    assert.doesNotMatch(text, /\n/)
  })

  it('should draw a line per tenth elsewhere', () => {
    const written = []
    const progress = bar(100, { write: text => written.push(text) })
    for (let i = 0; i < 100; i++) progress.tick('busy')
    progress.end()
    assert.equal(written.length, 11)
    assert.equal(written[3], ' 30 % busy\n')
    assert.ok(written.every(text => /^ *\d+ % \w+\n$/.test(text)))
  })
})
