'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const {
  disbelief, median, middle, pairedRatio, quantile, round, shuffle, spread, standardError
} = require('../../command/measure/stats')

describe('the statistics of measurements', () => {
  it('should find the median of odd and even counts', () => {
    assert.equal(median([3, 1, 2]), 2)
    assert.equal(median([4, 1, 3, 2]), 2.5)
    assert.equal(median([10, 9, 100]), 10)
  })

  it('should interpolate quantiles', () => {
    assert.equal(quantile([1, 2, 3, 4], 0.25), 1.75)
    assert.equal(quantile([5], 0.25), 5)
  })

  it('should not reorder the figures it is given', () => {
    const figures = [3, 1, 2]
    spread(figures)
    assert.deepEqual(figures, [3, 1, 2])
  })

  it('should give median and spread', () => {
    assert.deepEqual(spread([4, 1, 3, 2]), { median: 2.5, min: 1, max: 4 })
  })

  it('should pair ratios round by round', () => {
    // The second round was disturbed, for both: no ratio shows it.
    const { median, min, max } = pairedRatio([10, 30, 11], [20, 60, 22])
    assert.deepEqual({ median, min, max }, { median: 0.5, min: 0.5, max: 0.5 })
  })

  it('should give the ratio of the two medians, which is between those of the rounds', () => {
    const [ours, theirs] = [[10, 12, 30], [40, 15, 25]]
    const { median: ratio, min, max, rounds } = pairedRatio(ours, theirs)
    assert.deepEqual([ratio, min, max, rounds], [round(median(ours) / median(theirs)), 0.25, 1.2, [0.25, 0.8, 1.2]])
  })

  it('should give the standard error of the mean, relative to it', () => {
    assert.equal(round(standardError([9, 10, 11])), 0.057735)
    assert.equal(standardError([3, 3, 3]), 0)
  })

  it('should pair nothing with nothing', () => {
    assert.equal(pairedRatio([], [1]), null)
  })

  it('should find the round in the middle', () => {
    const samples = [10, 30, 21].map(requestsPerSecond => ({ requestsPerSecond }))
    assert.equal(middle(samples), samples[2])
  })

  it('should keep five digits', () => {
    assert.equal(round(123456.7), 123460)
    assert.equal(round(0.123456), 0.12346)
  })

  it('should keep every element when it shuffles', () => {
    assert.deepEqual(shuffle([1, 2, 3, 4]).sort(), [1, 2, 3, 4])
    assert.deepEqual(shuffle(['a', 'b', 'c'], () => 0), ['b', 'c', 'a'])
  })
})

describe('a sample that cannot be believed', () => {
  const sample = { requests: 50_000, errors: 0, requestsPerSecond: 50_000, latencyMeanMs: 1, connections: 50 }

  it('should pass when rate, latency and connections agree', () => {
    assert.equal(disbelief(sample), null)
  })

  it('should be refused beyond 1.2 times what its latency allows', () => {
    assert.equal(disbelief({ ...sample, requestsPerSecond: 59_000 }), null)
    assert.match(disbelief({ ...sample, requestsPerSecond: 61_000 }), /Little's law/)
  })

  it('should count pipelined requests as in flight', () => {
    assert.equal(disbelief({ ...sample, requestsPerSecond: 700_000, pipeline: 16 }), null)
    assert.match(disbelief({ ...sample, requestsPerSecond: 1e6, pipeline: 16 }), /800 in flight/)
  })

  it('should be refused when its latency is nothing, as wrk says of responses that come in bursts', () => {
    assert.match(disbelief({ ...sample, latencyMeanMs: 0 }), /mean latency is 0 ms/)
    assert.match(disbelief({ ...sample, latencyMeanMs: NaN }), /mean latency is NaN ms/)
  })

  it('should be refused with errors, and without responses', () => {
    assert.match(disbelief({ ...sample, errors: 1 }), /1 errors in 50001 requests/)
    assert.match(disbelief({ ...sample, requests: 0 }), /no request/)
  })
})
