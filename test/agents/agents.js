'use strict'

/*
 * How each agent is started in a process of its own, as its manual says, and how what it has seen is fetched at the end.
 * Real ones send it to `url`, where agents.long.test.js has a collector.
 *
 * `start({ require, url })` → `{ ready, flush, mark }`: ready resolves when the agent has begun; flush() sends all that is
 * left; mark() is what the agent says of the request under way, which the app puts into a response.
 */

const later = ms => new Promise(resolve => setTimeout(resolve, ms))

const openTelemetry = (...names) => ({
  start ({ require, url }) {
    const api = require('@opentelemetry/api')
    const { registerInstrumentations } = require('@opentelemetry/instrumentation')
    const { NodeTracerProvider } = require('@opentelemetry/sdk-trace-node')
    const { InMemorySpanExporter, SimpleSpanProcessor } = require('@opentelemetry/sdk-trace-base')
    const { AggregationTemporality, InMemoryMetricExporter, MeterProvider, PeriodicExportingMetricReader } =
      require('@opentelemetry/sdk-metrics')

    const spans = new InMemorySpanExporter()
    const tracerProvider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] })
    tracerProvider.register()
    const metrics = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
    const reader = new PeriodicExportingMetricReader({ exporter: metrics, exportIntervalMillis: 3600_000 })
    const meterProvider = new MeterProvider({ readers: [reader] })
    registerInstrumentations({
      tracerProvider,
      meterProvider,
      instrumentations: names.map(([name, Class]) => new (require(name)[Class])())
    })
    return {
      mark: () => api.trace.getActiveSpan()?.attributes['http.target'] ?? api.trace.getActiveSpan()?.name,
      async flush () {
        await tracerProvider.forceFlush()
        await meterProvider.forceFlush()
        const seen = { spans: spans.getFinishedSpans().map(spanOf), metrics: metrics.getMetrics().flatMap(metricsOf) }
        await fetch(url, { method: 'POST', body: JSON.stringify(seen) })
      }
    }
  }
})

const HTTP = ['@opentelemetry/instrumentation-http', 'HttpInstrumentation']
const KOA = ['@opentelemetry/instrumentation-koa', 'KoaInstrumentation']

function spanOf (span) {
  return {
    id: span.spanContext().spanId,
    parent: span.parentSpanContext?.spanId,
    scope: span.instrumentationScope.name,
    name: span.name,
    kind: span.kind,
    status: span.status,
    events: span.events.map(({ name }) => name),
    attributes: span.attributes,
    start: span.startTime,
    end: span.endTime
  }
}

function metricsOf ({ scopeMetrics }) {
  return scopeMetrics.flatMap(({ metrics }) => metrics.flatMap(({ descriptor, dataPoints }) => dataPoints.map(point => ({
    name: descriptor.name,
    attributes: point.attributes,
    count: point.value.count ?? point.value
  }))))
}

module.exports = {
  'OpenTelemetry, http alone': openTelemetry(HTTP),

  'OpenTelemetry, http and koa': openTelemetry(HTTP, KOA),

  'dd-trace': {
    start ({ require, url, flushInterval = 0 }) {
      Object.assign(process.env, {
        DD_TRACE_AGENT_URL: url,
        DD_SERVICE: 'app',
        DD_INSTRUMENTATION_TELEMETRY_ENABLED: 'false',
        DD_REMOTE_CONFIGURATION_ENABLED: 'false',
        DD_TRACE_STARTUP_LOGS: 'false'
      })
      const tracer = require('dd-trace').init({ flushInterval, plugins: true })
      return { mark: () => Boolean(tracer.scope().active()), flush: () => later(500) }
    }
  },

  newrelic: {
    isSecure: true,
    start ({ require, url }) {
      const { hostname, port } = new URL(url)
      Object.assign(process.env, {
        NEW_RELIC_NO_CONFIG_FILE: 'true',
        NEW_RELIC_APP_NAME: 'app',
        NEW_RELIC_LICENSE_KEY: 'a'.repeat(40),
        NEW_RELIC_HOST: hostname,
        NEW_RELIC_PORT: port,
        NEW_RELIC_LOG_ENABLED: 'false',
        NEW_RELIC_DISTRIBUTED_TRACING_ENABLED: 'true',
        NEW_RELIC_UTILIZATION_DETECT_AWS: 'false',
        NEW_RELIC_UTILIZATION_DETECT_AZURE: 'false',
        NEW_RELIC_UTILIZATION_DETECT_GCP: 'false',
        NEW_RELIC_UTILIZATION_DETECT_PCF: 'false',
        NEW_RELIC_UTILIZATION_DETECT_DOCKER: 'false',
        NEW_RELIC_UTILIZATION_DETECT_KUBERNETES: 'false'
      })
      Object.assign(process.env, { NODE_TLS_REJECT_UNAUTHORIZED: '0' }) // the collector's certificate is its own
      const newrelic = require('newrelic')
      const { agent } = newrelic
      return {
        ready: agent._state === 'started' || new Promise(resolve => agent.once('started', resolve)),
        mark: () => Boolean(newrelic.getTransaction()),
        flush: () => new Promise(resolve => newrelic.shutdown({ collectPendingData: true, timeout: 5000 }, resolve))
      }
    }
  },

  '@sentry/node': {
    start ({ require, url }) {
      const Sentry = require('@sentry/node')
      const { host } = new URL(url)
      Sentry.init({ dsn: `http://key@${host}/1`, tracesSampleRate: 1, registerEsmLoaderHooks: false })
      return { mark: () => Boolean(Sentry.getActiveSpan()), flush: () => Sentry.flush(5000) }
    }
  },

  'elastic-apm-node': {
    start ({ require, url }) {
      const agent = require('elastic-apm-node').start({
        serverUrl: url,
        serviceName: 'app',
        centralConfig: false,
        cloudProvider: 'none',
        metricsInterval: '0s',
        logLevel: 'off',
        apiRequestTime: '1s'
      })
      return {
        mark: () => Boolean(agent.currentTransaction),
        flush: () => new Promise(resolve => agent.flush(resolve))
      }
    }
  }
}
