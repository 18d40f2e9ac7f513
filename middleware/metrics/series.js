'use strict'

const { manual } = require('../_shared/usage-error')

// Every distinct set of labels is a series that Prometheus keeps, and a client chooses method and path.
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
const MAX_SERIES = 2000 // of about 1.5 KB each in the response
const OTHER = 'other'

let isWarned = false

/**
 * The series of the histogram, at most MAX_SERIES: further combinations of labels are counted with `other`. They are
 * kept here, because prom-client looks them up slowly.
 */
module.exports = class Series {
  #byRoute = new Map() // route → method, status and own labels → the series
  #size = 0

  /** @param {any} histogram prom-client's */
  constructor (histogram) {
    this.histogram = histogram
  }

  /**
   * @param {string} method of the request
   * @param {string} route
   * @param {number|string} status
   * @param {string[]} values of own labels
   */
  of (method, route, status, values) {
    if (!METHODS.has(method)) method = OTHER
    const key = values.length === 0 ? `${method} ${status}` : JSON.stringify([method, status, ...values])
    const known = this.#byRoute.get(route)?.get(key)
    if (known !== undefined) return known
    if (this.#size >= MAX_SERIES && route !== OTHER) {
      warnOnce()
      return this.of(method, OTHER, status, values.map(() => OTHER))
    }
    this.#size++
    const added = this.histogram.labels(method, route, String(status), ...values)
    if (!this.#byRoute.has(route)) this.#byRoute.set(route, new Map())
    this.#byRoute.get(route).set(key, added)
    return added
  }
}

function warnOnce () {
  if (isWarned) return
  isWarned = true
  process.emitWarning(`metrics has ${MAX_SERIES} series: further routes and labels are counted as '${OTHER}'. Give own labels ` +
    `fewer values (${manual('metrics')})`, { code: 'KONE_METRICS_SERIES' })
}
