'use strict'

const { ask } = require('../../lib/run/verify')

const hello = { status: 200, type: 'text/plain; charset=utf-8', body: 'Hello World' }
const text = body => ({ ...hello, body })

/**
 * What grows. `at`: how much work, in few steps, because each takes a minute; --quick takes the least, the middle and
 * the most of it, or of `few`. `takes`: how long it takes beside the others. `request`, `expected`, `connections` are
 * functions of n.
 */
module.exports = {
  middleware: { unit: 'middleware', at: [0, 5, 20, 100], expected: () => hello },
  routes: {
    unit: 'routes, the last one asked for',
    at: [1, 100, 1000, 10_000],
    log: true,
    logY: true,
    request: n => ({ path: `/kind-${n}/4711` }),
    expected: () => text('4711')
  },
  schema: {
    unit: 'fields of a response with a schema',
    at: [1, 10, 100],
    log: true,
    expected: n => ({
      status: 200,
      type: 'application/json; charset=utf-8',
      body: body => body.startsWith('{"hello":"world"') && Object.keys(JSON.parse(body)).length === n
    })
  },
  headers: {
    unit: 'request headers',
    at: [2, 20, 100],
    request: n => ({ headers: Object.fromEntries(Array.from({ length: n - 1 }, (_, i) => [`x-header-${i}`, `value ${i}`])) }),
    expected: () => hello
  },
  body: {
    unit: 'bytes of request body',
    takes: 2,
    at: [100, 1e4, 1e6, 1e8],
    log: true,
    logY: true,
    request: n => ({ method: 'POST', size: n }),
    expected: n => text(String(n)),
    connections: n => Math.max(1, Math.min(50, Math.floor(1e7 / n)))
  },
  connections: {
    unit: 'connections',
    at: [1, 100, 1000, 10_000],
    few: [1, 100, 1000],
    log: true,
    expected: () => hello,
    connections: n => n
  },
  response: {
    unit: 'bytes of response',
    at: [100, 1e4, 1e6, 1e7],
    log: true,
    logY: true,
    request: n => ({ path: `/?n=${n}` }),
    expected: n => ({ status: 200, type: 'application/octet-stream', body: body => body === 'x'.repeat(n) }),
    connections: n => Math.max(4, Math.min(50, Math.floor(1e7 / n)))
  },
  session: {
    unit: 'bytes in the session, in memory',
    at: [10, 1e3, 1e5],
    log: true,
    request: () => async ({ port }) => {
      const { headers } = await ask(port, { path: '/login' })
      return { headers: { cookie: headers['set-cookie'].map(line => line.split(';')[0]).join('; ') } }
    },
    expected: n => text(String(n))
  },
  template: {
    unit: 'list items in a nunjucks template',
    at: [1, 100, 1000],
    log: true,
    logY: true,
    request: n => ({ path: `/?n=${n}` }),
    expected: n => ({
      status: 200,
      type: 'text/html; charset=utf-8',
      body: body => body.split('<li>').length === n + 1 && body.includes('<li>item &lt;0&gt;</li>')
    })
  }
}
