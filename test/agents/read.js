'use strict'

const { install } = require('../helpers/area')

/*
 * What of an agent's own protocol is compared: all that is not a time, an id, a version or a place in a file. The order
 * of what an agent sends together is kept.
 */

/** Keys whose values differ from one process to the next. */
const MASKED = new RegExp(`^(?:${[
  '.*(?:port|peer|stack|stacktrace|trace_?id|span_?id|parent_?id|segment\\.id|event_id|runtime|runtime-id|process_?id)',
  '.*(?:pid|guid|duration|timestamp|_at|sample_rand)', '_dd\\.p\\.tid', '_dd\\.tags\\.process', '(?:app|culture|device|os)\\.\\w+',
  'thread\\.id', 'id', 'start', 'end', 'date', 'parent'
].join('|')})$`, 'i')

const SENTRY = new RegExp(`${MASKED.source}|^(?:contexts|modules|server_name)$`, 'i')
const NEWRELIC = new RegExp(`${MASKED.source}|^(?:webDuration|totalTime|priority|timestamp|nr_exclusive.*|transactionId|traceId)$`, 'i')

function masked (value, port, drop = MASKED) {
  if (typeof value === 'string') return value.replaceAll(port, 'PORT').replace(/\b[0-9a-f]{16,32}\b/g, 'ID')
  if (Array.isArray(value)) return value.map(one => masked(one, port, drop))
  if (value === null || typeof value !== 'object') return typeof value === 'bigint' ? 'ID' : value
  const entries = Object.entries(value).filter(([key]) => !drop.test(key))
  return Object.fromEntries(entries.map(([key, one]) => [key, masked(one, port, drop)]))
}

const json = ({ body }) => JSON.parse(body)
const lines = ({ body }) => String(body).trim().split('\n').map(line => JSON.parse(line))

/** What is sent separately may arrive in another order. */
const sorted = list => list.map(one => JSON.stringify(one)).sort().map(text => JSON.parse(text))

/** Spans with the name of their parent. Their order is that in which they ended. */
function linked (spans, id, parent) {
  const names = new Map(spans.map(span => [String(span[id]), span.name]))
  return spans.map(span => ({ ...span, under: names.get(String(span[parent])) }))
}

const otel = {
  read (received, port) {
    const { spans, metrics } = json(received[0])
    return masked([...linked(spans, 'id', 'parent').map(({ parent, ...rest }) => rest), ...metrics], port)
  }
}

module.exports = {
  'OpenTelemetry, http alone': otel,
  'OpenTelemetry, http and koa': otel,

  'dd-trace': {
    read (received, port) {
      const { decode } = install('agents').require('@msgpack/msgpack')
      const traces = received.filter(({ url }) => url.endsWith('/traces')).flatMap(({ body }) => decode(body, { useBigInt64: true }))
      return sorted(traces.map(spans => masked(linked(spans, 'span_id', 'parent_id'), port)))
    }
  },

  newrelic: {
    respond ({ url }) {
      const method = new URL(url, 'http://a').searchParams.get('method')
      const value = method === 'connect' ? { agent_run_id: '1', sampling_target: 1000, sampling_target_period_in_seconds: 60 } : {}
      return JSON.stringify({ return_value: value })
    },
    read (received, port) {
      const of = name => received.filter(({ url }) => url.includes(`method=${name}&`)).map(json)
      const transactions = of('analytic_event_data').flatMap(([, , events]) => events)
      const spans = linked(of('span_event_data').flatMap(([, , events]) => events)
        .map(([intrinsic, own, agent]) => ({ ...intrinsic, own, agent })), 'guid', 'parentId')
      const errors = of('error_data').flatMap(([, list]) => list.map(([, name, message, type, { agentAttributes }]) =>
        ({ name, message, type, agentAttributes })))
      // It sends what it has a second after it connected, which a busy machine can make the middle of the requests.
      const counts = new Map()
      for (const [{ name, scope }, [count]] of of('metric_data').flatMap(([, , , list]) => list)) {
        if (!/^(?:WebTransaction|HttpDispatcher|Nodejs\/Middleware|Errors)/.test(name)) continue
        const key = JSON.stringify({ name, scope })
        counts.set(key, (counts.get(key) ?? 0) + count)
      }
      const metrics = Array.from(counts, ([key, count]) => ({ ...JSON.parse(key), count }))
      // kept in an order of chance
      return [transactions, spans, errors, metrics].map(list => sorted(masked(list, port, NEWRELIC)))
    }
  },

  '@sentry/node': { read (received, port) { return sorted(masked(received.map(lines), port, SENTRY)) } },

  'elastic-apm-node': {
    read (received, port) {
      const [{ metadata }, ...records] = received.filter(({ body }) => body.length > 0).flatMap(lines)
      return [metadata.service.framework.name, ...masked(records, port)]
    }
  }
}
