'use strict'

const { pairedRatio } = require('../../../command/measure/stats')

/**
 * What tables read of a result: its rows by workload, contender and metric, and ratios that are paired round by round.
 *
 *    const figures = new Figures(result)
 *    figures.row('hello', 'kone').median
 *    figures.ratio('hello', 'kone', 'koa').median // 0.47
 */
const Figures = module.exports = class {
  #rows

  /** @param {object} result of a lab */
  constructor (result) {
    this.result = result
    this.node = result.node?.replace(/^v/, '') // of the servers, as 26.10.0
    this.major = parseInt(this.node)
    this.names = [...new Set(result.rows.map(({ contender }) => contender))] // of those that were measured
    this.workloads = [...new Set(result.rows.map(({ workload }) => workload))]
    this.#rows = new Map(result.rows.map(row => [`${row.workload}\n${row.contender}\n${row.metric}`, row]))
  }

  /** The contenders that are kone, as kone-cluster, with the Node that they run on: versions has it in the name, as kone-26. */
  get ours () {
    return this.names.filter(name => /^kone\b/.test(name)).map(name => {
      const suffix = name.slice('kone'.length)
      const isVersion = /^-\d/.test(suffix)
      return { name, suffix, isVersion, node: isVersion ? Number(suffix.slice(1)) : this.major }
    })
  }

  /** rows, the lowest median first; the highest for rates */
  rows (workload, metric = 'cpu') {
    const rows = this.result.rows.filter(row => row.workload === workload && row.metric === metric)
    const isRate = /\/s$/.test(rows[0]?.unit ?? '')
    return rows.sort((a, b) => isRate ? b.median - a.median : a.median - b.median)
  }

  row (workload, contender, metric = 'cpu') {
    return this.#rows.get(`${workload}\n${contender}\n${metric}`)
  }

  /** The ratio of two contenders, or of one in two workloads; 'others': of the cheapest other framework. */
  ratio (workload, contender, to, { metric = 'cpu', toWorkload = workload } = {}) {
    const row = this.row(workload, contender, metric)
    const other = to === 'others' ? this.rows(toWorkload, metric).find(isFramework) : this.row(toWorkload, to, metric)
    return row && other ? pairedRatio(row.rounds, other.rounds) : null
  }

  /** The load of a workload: `wrk, 50 connections`; where servers need different ones, `wrk, 5 or 50 connections`. */
  load (workload) {
    const rows = this.rows(workload).filter(({ generator }) => generator).sort((a, b) => a.connections - b.connections)
    const counts = new Set(rows.map(({ connections }) => connections.toLocaleString('en')))
    return rows.length ? `${rows[0].generator}, ${[...counts].join(' or ')} connections` : ''
  }

  /** as `koa 2.16.4` */
  versioned (name) {
    const version = this.result.contenders.find(one => one.name === name)?.version
    return version ? `${name} ${version}` : name
  }

  /** What a reader must know beside the figures of workloads, whose responses were compared as those of `verified`. */
  notes (workloads, verified = workloads) {
    const { rejected, derived: { remarks, responses, about = {} } } = this.result
    const of = (list, names = workloads) => list.filter(one => names.includes(one.workload))
    const named = (workload, text) => workload === workloads[0] && workloads.length === 1 ? text : `${workload}: ${text}`
    const contenders = new Set(workloads.flatMap(workload => this.rows(workload).map(({ contender }) => contender)))
    const measured = of(remarks).filter(({ workload, contender }) => this.row(workload, contender))
    const differing = of(responses, verified).filter(({ contender, headers }) => headers?.length && contenders.has(contender))
    return [
      ...grouped(measured, ({ workload, contender, remark }) => {
        const [, what, how = ''] = /^(.*?)( \(.*)?$/s.exec(remark)
        return [named(workload, what), contender + how]
      }).map(([kind, names]) => `${kind}: ${names}`),
      ...[...contenders].filter(name => about[name]).map(name => `${name}: ${about[name]}`),
      ...grouped(differing, ({ workload, contender, headers }) => [`${workload}\n${headers.join(', ')}`, contender]).map(([key, names]) => {
        const [workload, headers] = key.split('\n')
        return named(workload, `headers of ${names}: ${headers}`)
      }),
      ...of(rejected).map(({ workload, contender, reason }) => named(workload, `${contender} was rejected: ${reason}`))
    ]
  }

  /** The newest result of each lab on each major version of Node; a quick run only where there is nothing better. */
  static newest (results) {
    const labs = new Map()
    const worth = ({ derived, date }) => (derived.quick ? 0 : 1e15) + Date.parse(date)
    for (const result of [...results].sort((a, b) => worth(a) - worth(b))) {
      const figures = new Figures(result)
      labs.set(result.lab, labs.get(result.lab) ?? new Map())
      labs.get(result.lab).set(figures.major, figures)
    }
    return new Map([...labs].map(([lab, majors]) => [lab, [...majors.values()].sort((a, b) => b.major - a.major)]))
  }
}

// What has the same key, with its names: `[key, 'name, name'][]`.
function grouped (list, of) {
  const groups = new Map()
  for (const [key, name] of list.map(of)) groups.set(key, groups.has(key) ? `${groups.get(key)}, ${name}` : name)
  return [...groups]
}

// Neither node:http nor a socket, not kone, and not under another runtime.
const isFramework = ({ contender }) => !/^(?:net|node|kone|bun)|-bun$/.test(contender)
