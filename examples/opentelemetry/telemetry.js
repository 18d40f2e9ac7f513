'use strict'

const { context, propagation, trace, SpanKind, SpanStatusCode } = require('@opentelemetry/api')

const tracer = trace.getTracer('kone')

/** A span per request, child of the caller's, named by its route. */
module.exports = async function telemetry (ctx, next) {
  const parent = propagation.extract(context.active(), ctx.headers)
  const span = tracer.startSpan(ctx.method, {
    kind: SpanKind.SERVER,
    attributes: { 'http.request.method': ctx.method, 'url.path': ctx.path }
  }, parent)
  ctx.onFinished(() => {
    const route = ctx._matchedRoute
    if (route) span.setAttribute('http.route', route).updateName(`${ctx.method} ${route}`)
    if (ctx.status >= 500) span.setStatus({ code: SpanStatusCode.ERROR })
    span.setAttribute('http.response.status_code', ctx.status).end()
  })
  try {
    await context.with(trace.setSpan(parent, span), next)
  } catch (err) {
    span.recordException(err)
    throw err
  }
}
