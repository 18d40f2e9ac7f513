'use strict'

const { figure, ratio, table } = require('../markdown')
const { ratios } = require('../drawn')

// The short names of the workloads, and what they are.
const ABOUT = {
  'ctx.res.setHeader': '`ctx.res.setHeader()`, a string body',
  "ctx.res.once('finish')": '`ctx.res.once(\'finish\')`, a string body',
  API: 'koa-helmet, @koa/cors, koa-bodyparser, @koa/router, JSON',
  'API, POST': 'the same, POST of 200 bytes of JSON',
  'pino-http': 'pino-http to a file, JSON',
  page: 'koa-helmet, koa-conditional-get, koa-etag, koa-session, koa-static without such a file, 2 KB of HTML',
  'koa-static, 1 KB': 'koa-static, a file of 1 KB',
  'koa-static, 64 KB': 'koa-static, a file of 64 KB',
  'Readable.from': '`Readable.from()`, four chunks of 4 KB',
  OpenTelemetry: 'OpenTelemetry with instrumentation-http, the API',
  pm2: '`pm2 start app.js -i 1`, a string body',
  https: '`https`, JSON'
}
const TOUCHED = 'ctx.res touched'

module.exports = {
  lab: 'dropin',
  title: 'Unmodified packages',
  what: 'What a Koa user gets by changing one line: the same app with the same published packages, unmodified, once ' +
    'on Koa 2 and once on kone. `node` is a bare `node:http` handler with the same response by hand, where there is ' +
    'one, for scale.',
  run: 'make bench-dropin',
  method: 'Responses of both sides are compared first. wrk with 50 connections; what counts is the server’s CPU time ' +
    'per request. A ratio is paired round by round.',

  trend: ['API', 'page', 'Readable.from', 'OpenTelemetry', 'pm2'].map(workload => (
    { what: workload, of: figures => figures.ratio(workload, 'kone', 'koa') })),

  charts: figures => [ratios(figures, compared(figures), {
    name: 'dropin',
    title: 'Unmodified packages: kone ÷ Koa 2',
    to: 'koa',
    label: 'Koa 2'
  })],

  sections: (figures, { others }) => [rows(figures), versions([figures, ...others]), touched([figures, ...others])]
}

const compared = figures => figures.workloads.filter(workload => figures.ratio(workload, 'kone', 'koa'))

function rows (figures) {
  const workloads = compared(figures)
  if (!workloads.length) return null
  return {
    heading: `Measured on Node ${figures.major}`,
    body: table(['server CPU per request, µs', 'Koa 2', 'kone', 'kone ÷ Koa', '`node:http` by hand', 'kone ÷ `node:http`'], workloads.map(workload => [
      ABOUT[workload] ?? workload,
      ...['koa', 'kone'].map(name => figure(figures.row(workload, name))),
      ratio(figures.ratio(workload, 'kone', 'koa')),
      figure(figures.row(workload, 'node')),
      ratio(figures.ratio(workload, 'kone', 'node'))
    ]))
  }
}

function versions (all) {
  if (all.length < 2) return null
  return {
    heading: 'By version of Node',
    body: table(['kone ÷ Koa', ...all.map(({ major }) => `Node ${major}`)], compared(all[0]).map(workload =>
      [workload, ...all.map(figures => ratio(figures.ratio(workload, 'kone', 'koa')))]))
  }
}

function touched (all) {
  const lines = all.filter(figures => figures.row(TOUCHED, 'kone'))
  if (!lines.length) return null
  return {
    heading: 'ctx.res read, and nothing else',
    body: [
      'As soon as an app reads `ctx.req` or `ctx.res`, kone makes the real objects of `node:http`. What that costs ' +
      'beside kone on `node:http` altogether:',
      table(['Node', 'kone, CPU µs', 'kone on `node:http`, CPU µs', 'ratio'], lines.map(figures => [
        figures.node, figure(figures.row(TOUCHED, 'kone')), figure(figures.row(TOUCHED, 'kone-node')), ratio(figures.ratio(TOUCHED, 'kone', 'kone-node'))
      ]))
    ]
  }
}
