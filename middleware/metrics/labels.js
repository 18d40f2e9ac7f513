'use strict'

const { Rule, fn, isObject, record } = require('../../lib/shared/options')
const { detach } = require('../../lib/shared/text')
const { report } = require('../../lib/shared/error-path')
const { noPromise } = require('../_shared/usage-error')

const RESERVED = ['method', 'route', 'status', 'le'] // `le` is a histogram's own
const MAX_VALUES = 100
const MAX_LENGTH = 100 // characters

const isLabel = name => /^[a-z_]\w*$/i.test(name) && !RESERVED.includes(name)

/**
 * The labels that an app adds. A value that is new after a hundred others becomes `other`, because Prometheus keeps a
 * series for each, and a client may choose them. Each bucket repeats a value, so that it is cut, too.
 */
module.exports = class OwnLabels {
  /** What the option must be. */
  static rule = new Rule('an object of functions by name of label',
    value => isObject(value) && Object.keys(value).every(isLabel), record(fn).inside)

  constructor (labels) {
    this.names = Object.keys(labels)
    this.labels = Object.values(labels).map(read => ({ read, known: new Set() }))
  }

  /** @return {string[]} in the order of the names */
  valuesOf (ctx) {
    return this.labels.map(({ read, known }) => {
      const value = valueOf(read, ctx)
      if (known.has(value)) return value
      if (known.size >= MAX_VALUES) return 'other'
      known.add(value)
      return value
    })
  }
}

/** The response was sent, and nothing else would catch an error. */
function valueOf (read, ctx) {
  try {
    return detach(String(noPromise('metrics', 'options.labels', read(ctx)) ?? 'none').slice(0, MAX_LENGTH))
  } catch (err) {
    report(ctx, err)
    return 'error'
  }
}
