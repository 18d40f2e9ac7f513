'use strict'

const assert = require('node:assert/strict')
const Koa = require('koa')

const engines = require('./engines')
const Kone = require('./kone')

/** Of the connection, or of the version of HTTP. */
const HOP = ['connection', 'date', 'keep-alive', 'transfer-encoding']

/**
 * Test on every engine that apps send what they send on Koa 2 and node's servers: status, fields, body, and the errors
 * that the app reports.
 *
 *    besideKoa('koa-static', [{
 *      title: 'should serve files',
 *      set: app => app.use(serve('public')),
 *      requests: [['GET /a.txt'], ['POST /a.txt', { headers: { 'x-a': '1' }, body: 'x' }]]
 *    }])
 *
 * Cookies are kept from one request to the next. An entry may also have `options` of the app, `skip` as `it` of engines.js
 * has it, the `statuses` that are expected, `mask(text)`, which hides what differs each time in the fields, and `kone`: why
 * it differs from Koa 2.
 */
module.exports = function besideKoa (title, entries) {
  const onHttp1 = new Map() // entry → responses of Koa

  engines(title, ({ it, serve, engine }) => {
    const references = engine === 'http2' ? new Map() : onHttp1

    for (const entry of entries) {
      const http2 = entry.requests.some(([line]) => line.startsWith('HEAD')) && 'koa 2 does not end the response to HEAD'
      it(entry.title, { skip: { http2, ...entry.skip } }, async () => {
        if (!references.has(entry)) references.set(entry, await reference(entry, engine === 'http2' ? 'http2' : 'callback'))
        const errors = []
        const { ask, close } = await serve(app => prepare(app, entry, errors), entry.options)
        const found = await asked(ask, entry, errors)
        await close()
        assert.deepEqual(found, references.get(entry))
        if (entry.statuses) assert.deepEqual(found.responses.map(([, status]) => status), entry.statuses)
      })
    }
  })
}

/** The responses of Koa 2, or of kone in its place where they differ. */
async function reference (entry, engine) {
  const app = new (entry.kone ? Kone : Koa)(entry.options)
  app.silent = true
  const errors = []
  await prepare(app, entry, errors)
  const { ask, close } = await engines.connect(engine, app)
  const responses = await asked(ask, entry, errors)
  await close()
  return responses
}

function prepare (app, { set }, errors) {
  // kone says more of a secure cookie
  app.on('error', err => errors.push(err.message.replace(/: set app\.proxy behind a proxy.*$/, '')))
  return set(app)
}

async function asked (ask, { requests, mask = text => text }, errors) {
  const cookies = new Map()
  const responses = []
  for (const [line, { headers, body } = {}] of requests) {
    const cookie = Array.from(cookies, pair => pair.join('=')).join('; ')
    const res = await ask(line, { headers: { host: 'example.com', ...cookie && { cookie }, ...headers }, body })
    for (const text of res.headers['set-cookie'] ?? []) cookies.set(...text.split(';')[0].split(/=(.*)/s))
    const fields = Object.entries(res.headers).filter(([name]) => !HOP.includes(name)).sort()
    responses.push([line, res.status, mask(JSON.stringify(fields)), res.body.toString('latin1')])
  }
  return { responses, errors }
}
