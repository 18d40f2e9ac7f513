'use strict'

const path = require('node:path')
const { commit } = require('./commit')
const { machine } = require('./machine')
const { nodeVersion } = require('./node')
const { cellRows, row } = require('./result')
const { remarks } = require('../../../command/measure/cost')

/** The result that a run of a lab fills: what was measured, and what was not, with the reason. */
module.exports = class Record {
  constructor ({ name, options, argv, pins }) {
    this.result = {
      lab: name,
      date: new Date().toISOString(),
      node: nodeVersion(options.node),
      command: ['node', path.relative(path.join(__dirname, '../../..'), process.argv[1]), ...argv].join(' '),
      commit: commit(),
      machine: machine(),
      contenders: [],
      rows: [],
      rejected: [],
      missing: [],
      skipped: [],
      conditions: [],
      derived: {
        quick: options.quick,
        rounds: options.rounds,
        only: options.only ?? undefined,
        pinned: pins,
        about: {},
        remarks: [],
        discarded: [],
        responses: []
      }
    }
  }

  /** Note a contender that has responded as it should, with its version. */
  meet ({ contender: { name, version, about }, how: { node } }) {
    if (this.knows(name)) return
    this.result.contenders.push({ name, version: version(nodeVersion(node)) })
    if (about) this.result.derived.about[name] = about
  }

  /** Whether this contender has responded. */
  knows (name) {
    return this.result.contenders.some(one => one.name === name)
  }

  /** The rows, remarks and rejections of cells, as the session's `rounds` leaves them. */
  record (cells) {
    const { rows, derived } = this.result
    for (const cell of cells) {
      const { workload, server: { name: contender }, load, samples, discarded, rejected } = cell
      const of = { workload, contender }
      derived.discarded.push(...discarded.map(({ round, reason }) => ({ ...of, round, reason })))
      if (rejected) {
        this.reject(workload, contender, rejected)
        continue
      }
      rows.push(...cellRows(cell))
      const all = [...cell.isRestarted ? ['started anew before each round'] : [], ...remarks(samples, load)]
      derived.remarks.push(...all.map(remark => ({ ...of, remark })))
    }
  }

  /**
   * Rows of other figures than those of a load.
   *
   * @param {object[]} cells as the session's `rounds` leaves them; what was rejected is left out of its workload
   * @param {[string, string, (sample: object) => number, string?][]} figures metric, unit, what it is of a sample, and the
   *   workload, if not that of the cell
   */
  recordFigures (cells, figures) {
    for (const { workload: own, server: { name: contender }, samples, rejected } of cells) {
      if (rejected) this.reject(own, contender, rejected)
      else {
        this.result.rows.push(...figures.map(([metric, unit, of, workload = own]) =>
          row({ workload, contender, metric, unit }, samples.map(of))))
      }
    }
  }

  /** Note a part that there is no time for. */
  skip (part, reason = 'no time left') {
    console.error(`${part} is left out: ${reason}`)
    this.result.skipped.push({ part, reason })
  }

  /** Note what is not on this machine, and how to get it. */
  miss (name, how) {
    if (this.result.missing.some(one => one.name === name)) return
    console.error(`${name} is missing: ${how}`)
    this.result.missing.push({ name, how })
  }

  /** Leave a contender out of a workload. */
  reject (workload, contender, reason) {
    console.error(`${contender} is left out of ${workload}: ${reason}`)
    this.result.rejected.push({ workload, contender, reason })
  }
}
