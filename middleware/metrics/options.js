'use strict'

const { Options, Rule, boolean, list, number, off, path, string, text } = require('../../lib/shared/options')
const OwnLabels = require('./labels')

const has = (...names) => value => Object(value) === value && names.every(name => typeof value[name] === 'function')

module.exports = new Options('metrics', {
  path: path.or(off).says('path that serves the metrics; `false`: no path', { default: '/metrics' }),
  prefix: string.says('put before the names of the metrics', { default: '', otherwise: 'none' }),
  buckets: list(number({ min: 0 }), 'seconds').says('upper bounds of the durations', {
    unit: 's',
    otherwise: '0.005 to 10',
    default: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
  }),
  defaults: boolean.says("add prom-client's own metrics of the process: event-loop lag, heap, CPU, garbage collection",
    { default: true }),
  labels: OwnLabels.rule.says('functions `ctx => value` by name: own labels of the durations; called after the response', {
    default: {}, otherwise: 'none', type: 'Record<string, (ctx: Kone.Context) => unknown>'
  }),
  exclude: list(new Rule('a path', value => typeof value === 'string' || value instanceof RegExp), 'paths and regular expressions')
    .says('paths, and regular expressions for paths, whose requests are not counted', { default: [], otherwise: 'none', type: 'Array<string | RegExp>' }),
  token: text.says('a client that reads the metrics must send it: `Authorization: Bearer …`'),
  client: new Rule('prom-client', has('Histogram', 'Gauge', 'Counter', 'collectDefaultMetrics')).says(
    'prom-client itself, if kone cannot require it', { otherwise: "`require('prom-client')`", type: 'Client' }),
  register: new Rule('a Registry of prom-client', has('metrics', 'getSingleMetric', 'registerMetric')).says(
    'the `Registry` of prom-client that holds the metrics', { otherwise: "the client's", type: 'Registry' })
})
