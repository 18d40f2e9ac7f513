'use strict'

// A span for each request, named by its route, that belongs to the trace of whoever sent it.
const { context, propagation } = require('@opentelemetry/api')
const { InMemorySpanExporter, SimpleSpanProcessor } = require('@opentelemetry/sdk-trace-base')
const { NodeTracerProvider } = require('@opentelemetry/sdk-trace-node')
const Kone = require('kone')
const Router = require('kone/middleware/router')
const telemetry = require('./telemetry')

const exporter = new InMemorySpanExporter() // in your app: an exporter that sends the spans to a collector
new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }).register() // W3C by default

const app = new Kone()
app.use(telemetry)

const router = new Router()
router.get('/users/:id', ctx => { ctx.body = { id: ctx.params.id, traceparent: ctx.get('traceparent') } })
router.get('/broken', () => { throw new Error('out of order') })
router.get('/through', async ctx => {
  const headers = {}
  propagation.inject(context.active(), headers) // adds traceparent
  ctx.body = await (await fetch(`http://localhost:${port}/users/7`, { headers })).json()
})
router.get('/spans', ctx => {
  ctx.body = exporter.getFinishedSpans().map(span => {
    const { name, attributes, status, parentSpanContext } = span
    const events = span.events.map(({ name }) => name)
    return { name, attributes, status, events, parent: parentSpanContext?.spanId, ...span.spanContext() }
  })
})
app.use(router.routes())

const port = process.env.PORT || 3000
app.listen(port, () => console.log(`http://localhost:${port}`))
