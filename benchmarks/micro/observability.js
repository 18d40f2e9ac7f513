'use strict'

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { tracingChannel } = require('node:diagnostics_channel')
const kone = require('../lib/servers/kone')
const { addRatios, cpu, finish, ratio } = require('../lib/report/report')
const { run } = require('../lib/run/lab')
const { short } = require('../lib/report/text')
const { koneVersion } = require('../lib/servers/versions')
const { notes } = require('../lib/report/view')
const serve = require('../lib/servers/serve')

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
      const spans = { answered: 0, failed: 0 }
      tracingChannel('kone:request').subscribe({
        asyncEnd () { spans.answered++ },
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

if (process.send) watched(parts[process.argv[2]])
else run('micro/observability', { contenders: contenders(), argv: process.argv.slice(2), own: own() }, compare)

function watched ({ options, prepare = () => {} }) {
  const Kone = kone('.')
  const Router = kone('middleware/router')
  const app = new Kone(options)
  prepare(app)
  const router = new Router()
  router.get('/users/:id', ctx => { ctx.body = { id: ctx.params.id } })
  serve(app.use(router.routes()))
}

function contenders () {
  return Object.keys(parts).map(name => ({ name, file: __filename, args: [name], version: koneVersion }))
}

function own () {
  return { page: { help: `also write the table into ${PAGE}` } }
}

async function compare (lab) {
  const generators = lab.generators(['wrk', 'autocannon'])
  const generator = generators.wrk ? 'wrk' : 'autocannon'
  const servers = await lab.start(lab.contenders, question)
  const load = { ...question.request, generator, connections: 50, seconds: lab.options.quick ? 1 : 2 }
  await lab.measure(servers.map(server => ({ workload: question.workload, server, load })))

  addRatios(lab.result, [PLAIN])
  const rows = table(lab)
  const sections = [{ heading: `${generator}, 50 connections`, table: rows, notes: notes(lab.result, question.workload) }]
  finish(lab, { title: 'what it costs to watch an app', sections })
  if (lab.options.page) write(lab, generator, rows)
}

function table ({ result, contenders }) {
  const { workload } = question
  const lines = contenders.map(({ name: contender }) => {
    const row = cpu(result, workload, contender)
    if (!row) return null
    const compared = contender === PLAIN ? '1' : ratio(result, { workload, contender, to: PLAIN })
    return [parts[contender].what, short(row.median), compared]
  })
  return [['', 'CPU µs/request', `÷ ${PLAIN}`], ...lines.filter(Boolean)]
}

// Between the page's two marks.
function write ({ result, options }, generator, [head, ...rows]) {
  const { machine: { cpu, cores }, node, date, command } = result
  const file = path.join(kone.root, PAGE)
  const lines = [head, ['---', '--:', '--:'], ...rows].map(cells => `| ${cells.join(' | ')} |`)
  const made = `\`${command}\`, ${generator}, 50 connections, ${options.rounds} rounds, ${date.slice(0, 10)},\n` +
    `Node ${node.slice(1)}, ${cores} × ${cpu}, load average ${os.loadavg()[2].toFixed(1)} (idle is below 1).`
  const marked = `<!-- cost -->\n${lines.join('\n')}\n\n${made}\n<!-- /cost -->`
  fs.writeFileSync(file, fs.readFileSync(file, 'utf8').replace(/<!-- cost -->[\s\S]*<!-- \/cost -->/, () => marked))
}
