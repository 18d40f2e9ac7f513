'use strict'

const assert = require('node:assert/strict')
const { once } = require('node:events')
const fs = require('node:fs')
const http = require('node:http')
const path = require('node:path')
const { after, describe, it } = require('node:test')

/*
 * Tables of a page as tests: each row has what makes it true, in all of its columns.
 */

const ROOT = path.join(__dirname, '../..')
const servers = new Set()
after(() => {
  for (const server of servers) {
    server.close()
    server.closeAllConnections()
  }
})

/**
 * A test for each row of a table, and none that is left over.
 *
 *    table('MIGRATION.md', '### What is different', { '`ctx.host` with junk in Host': (koa, kone) => { … } })
 *
 * @param {string} page
 * @param {string} heading of the section
 * @param {Object<string, Function>} tests by the first cell of the row; each gets the others
 * @param {number} [index] of the table in its section
 */
exports.table = function (page, heading, tests, index = 0) {
  describe(`${page}, ${heading.replace(/^#+ /, '')}`, () => {
    const rows = rowsOf(page, heading)[index]
    it('should have a test for each row', () => assert.deepEqual(Object.keys(tests), [...rows.keys()]))
    for (const [first, test] of Object.entries(tests)) it(`should be true: ${first}`, () => test(...rows.get(first)))
  })
}

// The tables of a section: first cell → the others.
function rowsOf (page, heading) {
  const text = `\n${fs.readFileSync(path.join(ROOT, page), 'utf8')}`
  const section = text.split(`\n${heading}\n`)[1].split(/\n#{1,4} /)[0]
  return section.split(/\n(?!\|)/).map(part => part.split('\n').filter(line => line.startsWith('|')).slice(2))
    .filter(lines => lines.length)
    .map(lines => new Map(lines.map(line => line.split('|').slice(1, -1).map(cell => cell.trim())).map(([first, ...others]) => [first, others])))
}

/** A server of an app that listens, closed at the end. */
const serve = exports.serve = async function (listener) {
  const server = listener.listen(0, '127.0.0.1')
  servers.add(server)
  await once(server, 'listening')
  return server
}

/**
 * The response of an app to one request, over a socket.
 *
 * @param {Function} App
 * @param {(app: object) => void} setup
 * @param {{ method?: string, url?: string, headers?: object, body?: string, options?: object }} [request] options: of the app
 * @return {Promise<{ status: number, message: string, headers: object, text: string }>}
 */
const ask = exports.ask = async function (App, setup, { method = 'GET', url = '/', headers = {}, body, options } = {}) {
  const app = new App(options)
  app.silent = true
  await setup(app)
  const server = await serve(app)
  const req = http.request({ port: server.address().port, method, path: url, headers, agent: false })
  req.end(body)
  const [res] = await once(req, 'response')
  const text = String(Buffer.concat(await res.toArray()))
  server.close()
  return { status: res.statusCode, message: res.statusMessage, headers: res.headers, text }
}

/** An app of these middleware. */
const uses = exports.uses = (...fns) => app => { for (const fn of fns) app.use(fn) }

/** The response of one handler. */
const ends = exports.ends = (App, handler, request) => ask(App, uses(handler), request)

/** What a handler finds. */
exports.seen = async function (App, look, request) {
  const { status, text } = await ends(App, ctx => { ctx.body = JSON.stringify({ value: look(ctx) }) }, request)
  return status === 200 ? JSON.parse(text).value : status
}

/** The message that a call throws; undefined if it throws nothing. */
exports.thrown = function (fn) {
  try {
    fn()
  } catch (err) {
    return err.message
  }
}
