'use strict'

const { judged, rowOf } = require('../run/result')
const { pairedRatio } = require('../run/stats')

/**
 * What a page reads of a result: its rows by workload, contender and metric, and ratios that are paired round by
 * round. It keeps in mind which workloads a page has shown, so that nothing of a result is left out.
 *
 *    const figures = new Figures(result)
 *    figures.row('hello', 'kone').median
 *    figures.ratio('hello', 'kone', 'koa').median // 0.47
 */
class Figures {
  #shown = new Set() // workloads

  /**
   * @param {object} result of a lab
   */
  constructor (result) {
    this.result = result
  }

  /** The Node of the servers, as `26.10.0`. */
  get node () {
    return this.result.node.replace(/^v/, '')
  }

  /** Its major version, as a number. */
  get major () {
    return parseInt(this.node)
  }

  /** Every workload with a row, in the order of the result. */
  get workloads () {
    return [...new Set(this.result.rows.map(({ workload }) => workload))]
  }

  /**
   * @param {string} workload
   * @return {string} the name of the rows by which it is judged: those of wrk, where there are two
   */
  judged (workload) {
    return judged(this.result, workload)
  }

  /**
   * The load of a workload in words.
   *
   * @param {string} workload
   * @return {string} as `wrk, 50 connections`; empty where nothing was sent, or where contenders had different loads
   */
  load (workload) {
    const loads = new Set(this.result.rows
      .filter(row => row.workload === workload && row.generator)
      .map(({ generator, connections }) => `${generator}, ${connections.toLocaleString('en')} connections`))
    return loads.size === 1 ? [...loads][0] : ''
  }

  /**
   * @param {string} workload
   * @param {string} [metric]
   * @return {object[]} rows, the lowest median first; the highest for rates
   */
  rows (workload, metric = 'cpu') {
    this.#shown.add(workload)
    const rows = this.result.rows.filter(row => row.workload === workload && row.metric === metric)
    const isRate = /\/s$/.test(rows[0]?.unit ?? '')
    return rows.sort((a, b) => isRate ? b.median - a.median : a.median - b.median)
  }

  /**
   * @param {string} workload
   * @param {string} contender
   * @param {string} [metric]
   * @return {object|undefined}
   */
  row (workload, contender, metric = 'cpu') {
    const row = this.#find(workload, contender, metric)
    if (row) this.#shown.add(workload)
    return row
  }

  /**
   * The ratio of two contenders, or of one in two workloads.
   *
   * @param {string} workload
   * @param {string} contender
   * @param {string} to contender to divide by
   * @param {{ metric?: string, toWorkload?: string }} [of]
   * @return {object|null} as `pairedRatio`; null where one of both was not measured
   */
  ratio (workload, contender, to, { metric = 'cpu', toWorkload = workload } = {}) {
    const row = this.#find(workload, contender, metric)
    const other = this.#find(toWorkload, to, metric)
    if (!row || !other) return null
    this.#shown.add(workload)
    return pairedRatio(row.rounds, other.rounds)
  }

  /**
   * @param {string} name of a contender
   * @return {string} as `koa 2.16.4`
   */
  versioned (name) {
    const version = this.result.contenders.find(one => one.name === name)?.version
    return version ? `${name} ${version}` : name
  }

  /**
   * @param {string} name
   * @return {boolean}
   */
  has (name) {
    return this.result.rows.some(({ contender }) => contender === name)
  }

  /**
   * The bytes of a response on the wire.
   *
   * @param {string} workload under which the responses were verified
   * @param {string} contender
   * @return {number|undefined}
   */
  bytes (workload, contender) {
    const { responses = [] } = this.result.derived ?? {}
    return responses.find(one => one.workload === workload && one.contender === contender)?.bytes ?? undefined
  }

  /** Workloads that no section has read. */
  get rest () {
    return this.workloads.filter(workload => !this.#shown.has(workload))
  }

  #find (workload, contender, metric) {
    return rowOf(this.result, workload, contender, metric)
  }
}

module.exports = Figures
