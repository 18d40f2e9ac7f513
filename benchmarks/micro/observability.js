'use strict'

const fs = require('node:fs')
const path = require('node:path')
const { tracingChannel } = require('node:diagnostics_channel')
const kone = require('../lib/servers/kone')
const { conditions } = require('../lib/report/page')
const { lab } = require('../lib/run/lab')
const { markdown, ratio, short } = require('../lib/report/text')
const { versionOf } = require('../lib/servers/contenders')

/*
 * What it costs to watch an app: the same route with one thing more each, as its example has it. The lab starts
 * this file once per part.
 */

const PAGE = 'docs/api/observability.md'
const PLAIN = 'nothing'

const example = name => require(path.join(kone.root, 'examples', name))

// A part prepares the app before its route, or is an option of it.
const parts = {
  [PLAIN]: { what: PLAIN },

  'kone:request': {
    what: 'a subscriber of `kone:request`',
    prepare () {
      const spans = { ended: 0, failed: 0 }
      tracingChannel('kone:request').subscribe({
        asyncEnd () { spans.ended++ },
        error () { spans.failed++ }
      })
    }
  },

  asyncLocalStorage: { what: '`asyncLocalStorage: true`', options: { asyncLocalStorage: true } },

  metrics: {
    what: 'metrics by prom-client',
    prepare: app => app.use(kone('middleware/metrics')())
  },

  logs: {
    what: 'a line of JSON by pino, into /dev/null',
    prepare: app => app.use(kone('middleware/requestId')()).use(example('json-logs/logs'))
  },

  opentelemetry: {
    what: 'a span of OpenTelemetry, not sent',
    prepare (app) {
      const from = id => require(require.resolve(id, { paths: [kone.root] }))
      const { SimpleSpanProcessor } = from('@opentelemetry/sdk-trace-base')
      const { NodeTracerProvider } = from('@opentelemetry/sdk-trace-node')
      const exporter = { export: (spans, done) => done({ code: 0 }), shutdown: async () => {} }
      new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }).register()
      app.use(example('opentelemetry/telemetry'))
    }
  },

  'no-front': { what: 'no front, as beside a tool that patches node:http', options: { http1: false } }
}

const question = {
  workload: 'observability',
  request: { path: '/users/7', headers: { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' } },
  expected: { status: 200, type: 'application/json; charset=utf-8', body: '{"id":"7"}' },
  reference: PLAIN
}

lab(module, {
  name: 'observability',
  contenders: Object.keys(parts).map(name => ({ name, file: __filename, args: [name], version: versionOf('kone') })),
  options: { page: { help: `also write the table into ${PAGE}` } },
  probe: contender => ({ contender, ...question }),

  // In the contender's process the lab is not the main module: this is its app.
  start ([part]) {
    const { options, prepare = () => {} } = parts[part]
    const Kone = kone('.')
    const Router = kone('middleware/router')
    const app = new Kone(options)
    prepare(app)
    const router = new Router()
    router.get('/users/:id', ctx => { ctx.body = { id: ctx.params.id } })
    return app.use(router.routes())
  },

  async measure (lab) {
    const generator = lab.generator()
    const load = { generator, connections: 50, seconds: lab.options.quick ? 1 : 2 }
    await lab.group(lab.contenders, question, { [question.workload]: load })
    lab.result.derived.page = lab.options.page
  },

  view: { sections }
})

function sections (figures) {
  const { workload } = question
  const rows = Object.keys(parts).filter(name => figures.row(workload, name)).map(name =>
    [parts[name].what, short(figures.row(workload, name).median), name === PLAIN ? '1' : ratio(figures.ratio(workload, name, PLAIN))])
  const table = [['', 'CPU µs/request', `÷ ${PLAIN}`], ...rows]
  if (figures.result.derived.page) write(figures, table)
  return [{ heading: figures.load(workload), table, notes: figures.notes([workload]) }]
}

// Between the page's two marks.
function write (figures, table) {
  const { machine: { cpu, cores }, node, date, command, derived } = figures.result
  const file = path.join(kone.root, PAGE)
  const made = `\`${command}\`, ${figures.load(question.workload)}, ${derived.rounds} rounds, ${date.slice(0, 10)},\n` +
    `Node ${node.slice(1)}, ${cores} × ${cpu}; ${conditions(figures.result)}.`
  const marked = `<!-- cost -->\n${markdown(table)}\n\n${made}\n<!-- /cost -->`
  fs.writeFileSync(file, fs.readFileSync(file, 'utf8').replace(/<!-- cost -->[\s\S]*<!-- \/cost -->/, () => marked))
}
