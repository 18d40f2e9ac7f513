'use strict'

/*
 * Run by fallback.test.js: serve three requests with OpenTelemetry's http and koa instrumentations, and print the spans and
 * whether node:http has the connections. test/agents has more of it.
 * With `kone` as argument, kone is in koa's place.
 */

const { registerInstrumentations } = require('@opentelemetry/instrumentation')
const { HttpInstrumentation } = require('@opentelemetry/instrumentation-http')
const { KoaInstrumentation } = require('@opentelemetry/instrumentation-koa')
const { NodeTracerProvider } = require('@opentelemetry/sdk-trace-node')
const { InMemorySpanExporter, SimpleSpanProcessor } = require('@opentelemetry/sdk-trace-base')
const { inKoasPlace } = require('../../agents/place')

const exporter = new InMemorySpanExporter()
const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
provider.register()
registerInstrumentations({ tracerProvider: provider, instrumentations: [new HttpInstrumentation(), new KoaInstrumentation()] })

const http = require('node:http')
const Koa = inKoasPlace(process.argv[2])('koa')

const app = new Koa()
app.silent = true
app.use(async function first (ctx, next) { await next() })
app.use(function second (ctx) {
  if (ctx.path === '/error') ctx.throw(500, 'wrong')
  ctx.body = 'hello'
})

const sockets = []
const server = app.listen(0, '127.0.0.1', async () => {
  server.on('connection', socket => sockets.push(socket))
  const { port } = server.address()
  for (const target of ['/', '/error', '/']) await get(port, target)
  await provider.forceFlush()
  server.closeAllConnections()
  server.close()
  const spans = exporter.getFinishedSpans()
  const name = id => spans.find(span => span.spanContext().spanId === id)?.name
  const seen = spans.map(span => ({
    scope: span.instrumentationScope.name,
    name: span.name,
    kind: span.kind,
    status: span.status,
    parent: name(span.parentSpanContext?.spanId),
    attributes: Object.fromEntries(Object.entries(span.attributes).filter(([name]) => !/port|peer|host|url/.test(name)))
  }))
  console.log(JSON.stringify({ spans: seen, isNodes: sockets.map(socket => 'parser' in socket) }))
})

function get (port, target) {
  return new Promise((resolve, reject) => {
    http.get({ port, host: '127.0.0.1', path: target, agent: false }, res => res.resume().on('end', resolve)).on('error', reject)
  })
}
