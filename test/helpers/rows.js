'use strict'

const assert = require('node:assert/strict')
const { before, describe, it } = require('node:test')
const Koa = require('koa')

const context = require('./context')
const engines = require('./engines')
const Kone = require('./kone')

/** A request may change these; the next one begins with them. */
const SETTINGS = { proxy: false, proxyIpHeader: 'X-Forwarded-For', maxIpsCount: 0, subdomainOffset: 2 }

/**
 * Test one property by a table. Each row runs over the fakes that users write in their unit tests, over the same fakes
 * on Koa 2, and over a request on every engine. All have to give the value of the row.
 *
 *    rows('ctx.path', ctx => ctx.path, [
 *      ['should be the target without its query', '/login?next=/dashboard', '/login'],
 *      ['should follow the app', { host: 'a', 'x-forwarded-host': 'b' }, 'b', { app: { proxy: true } }]
 *    ])
 *
 *    rows('ctx.etag=', [['should quote', ctx => { ctx.etag = 'a'; return ctx.etag }, '"a"']])
 *
 * A row is a title, the request (a target, or its headers) or in a table without `read` a function `(ctx) => value`,
 * the value (or the class of the error that is thrown), and options:
 * - `app`: options of the app; `method`, `url`, `body`: of the request
 * - `req`, `res`: fields of the fakes; such a row has no request on an engine
 * - `koa`: why Koa 2 gives another value; `skip`: engine → why it cannot have this request
 */
module.exports = function rows (title, read, table = read) {
  const cases = table.map(([title, given, expected, options = {}]) => {
    const row = { title, expected, read: typeof given === 'function' ? given : read, ...options }
    if (typeof given === 'string') row.url = given
    else if (typeof given === 'object') row.headers = given
    return row
  })

  describe(title, () => {
    for (const row of cases) {
      it(row.title, () => assert.deepEqual(onFakes(Kone, row), outcome(row.expected)))
      it(`${row.title}, as in Koa 2`, () => {
        if (row.koa) assert.notDeepEqual(onFakes(Koa, row), outcome(row.expected), `Koa 2 does the same: ${row.koa}`)
        else assert.deepEqual(onFakes(Koa, row), outcome(row.expected))
      })
    }
  })

  const sent = cases.filter(({ req, res }) => !req && !res)
  if (sent.length === 0) return
  engines(title, ({ it, serve }) => {
    let read, seen, server

    before(async () => {
      server = await serve(app => app.use(ctx => {
        seen = outcomeOf(() => read(ctx))
        ctx.body = ''
      }))
    })

    for (const row of sent) {
      it(row.title, { skip: row.skip }, async () => {
        const { app, body, expected, headers, method = 'GET', url = '/' } = row
        ;({ read } = row)
        Object.assign(server.app, SETTINGS, app)
        await server.ask(`${method} ${url}`, { body, headers })
        assert.deepEqual(seen, outcome(expected))
      })
    }
  })
}

function onFakes (App, { app, headers = {}, method = 'GET', url = '/', read, req, res }) {
  return outcomeOf(() => read(context({ headers: { ...headers }, method, url, ...req }, res, new App(app))))
}

/** The value, or the name of the error that was thrown. */
function outcomeOf (read) {
  try {
    return { value: read() }
  } catch (err) {
    return { threw: err.name }
  }
}

/** What outcomeOf() has to give. */
function outcome (expected) {
  return typeof expected === 'function' ? { threw: expected.name } : { value: expected }
}
