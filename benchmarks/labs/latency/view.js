'use strict'

const { growth } = require('../../lib/report/findings')
const { short, two, whole } = require('../../lib/report/text')

/** Percent of saturation: of each server's own, and of Koa's for all servers. */
const OWN = exports.OWN = [30, 60, 90]
const SAME = exports.SAME = [60, 90]

/** What a request takes, by the argument of the contenders. */
const WORKS = exports.WORKS = {
  hello: 'Hello world behind five middleware',
  mixed: 'Hello world, every hundredth request with 5 ms of CPU'
}

const own = exports.own = (work, share) => `${work}, ${share} %`
const same = exports.same = (work, share) => `${work}, ${share} % of koa`

/** Metrics and their units. */
exports.METRICS = { p50: 'ms', p99: 'ms', p999: 'ms', delay: 'ms' }

const HEADS = ['p50 ms', 'p99 ms', 'p99.9 ms', 'event loop, p99 ms']

exports.sections = figures => Object.keys(WORKS).flatMap(work => [
  section(figures, work, { shares: OWN, named: own, heading: 'each at a share of its own saturation' }),
  section(figures, work, { shares: SAME, named: same, heading: 'all at the same rate, a share of Koa’s saturation' })
])

function section (figures, work, { shares, named, heading }) {
  const present = shares.filter(share => figures.rows(named(work, share), 'p99').length)
  if (!present.length) return null
  const names = figures.names.filter(name => figures.row(named(work, present[0]), name, 'p99'))
  const line = (share, name) => {
    const of = metric => figures.row(named(work, share), name, metric)
    const ratio = metric => two(figures.ratio(named(work, share), name, 'koa', { metric })?.median ?? NaN)
    return [
      `${share} %`, figures.versioned(name), whole(of('p99').rate), ...Object.keys(exports.METRICS).map(metric => short(of(metric)?.median)),
      ...['p99', 'p999'].map(metric => name === 'koa' ? '1' : ratio(metric))
    ]
  }
  const lines = present.flatMap(share => names.filter(name => figures.row(named(work, share), name, 'p99')).map(name => line(share, name)))
  return {
    heading: `${WORKS[work]}: ${heading}`,
    chart: named === own ? chart(figures, work, names) : undefined,
    table: [['', 'server', 'requests/s', ...HEADS, 'p99 ÷ koa', 'p99.9 ÷ koa'], ...lines],
    notes: figures.notes(present.map(share => named(work, share)))
  }
}

function chart (figures, work, names) {
  return growth(figures, {
    name: work === 'hello' ? undefined : work,
    what: '99.9th percentile of latency by load',
    unit: 'latency from when a request was due, 99.9th percentile, ms',
    x: { label: 'percent of the server’s own saturation', names: OWN.map(share => `${share} %`) },
    y: { log: true },
    series: names.map(name => [name, OWN.map((share, i) => [i, figures.row(own(work, share), name, 'p999')])])
  })
}
