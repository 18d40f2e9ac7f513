'use strict'

const { AGENTS } = require('./agents')
const { CHUNKS, PAGE, USER, text } = require('./app')

/*
 * The rows of the lab; what kone ÷ koa shall be at most is in lib/report/claims.json. `contenders` is who takes part.
 * The request is sent by wrk over 50 connections.
 */

const ALL = ['kone', 'koa', 'node']
const BODY = JSON.stringify({
  id: 4711,
  name: 'a guest of the house',
  tags: ['web', 'framework', 'http', 'server'],
  note: 'Two hundred bytes are what a small form or an everyday call to an API weighs.'.padEnd(106, '.')
})

const hello = { status: 200, type: 'text/plain; charset=utf-8', body: 'Hello World' }
const json = body => ({ status: 200, type: 'application/json; charset=utf-8', body })
const file = bytes => ({ status: 200, type: 'text/html; charset=utf-8', body: text(bytes) })

module.exports = [
  {
    workload: 'ctx.res.setHeader',
    about: 'ctx.res.setHeader(), a string body',
    expected: { ...hello, headers: { 'x-response-id': '4711' } }
  },
  {
    workload: "ctx.res.once('finish')",
    about: "ctx.res.once('finish'), a string body",
    expected: hello
  },
  {
    workload: 'API',
    about: 'API: koa-helmet, @koa/cors, koa-bodyparser, @koa/router, JSON',
    request: { path: '/users/4711' },
    expected: json(JSON.stringify(USER))
  },
  {
    workload: 'API, POST',
    about: 'API, POST of 200 bytes of JSON',
    request: { method: 'POST', path: '/users', headers: { 'content-type': 'application/json' }, body: BODY },
    expected: json(BODY)
  },
  {
    workload: 'pino-http',
    about: 'pino-http to a file, JSON',
    expected: json(JSON.stringify(USER))
  },
  {
    workload: 'page',
    about: 'page: koa-helmet, koa-conditional-get, koa-etag, koa-session, koa-static, 2 KB of HTML',
    request: { path: '/articles' },
    expected: { status: 200, type: 'text/html; charset=utf-8', body: PAGE },
    contenders: ['kone', 'koa']
  },
  {
    workload: 'koa-static, 1 KB',
    about: 'koa-static, a file of 1 KB',
    request: { path: '/1k.html' },
    expected: file(1024),
    floor: { file: '1k.html' }
  },
  {
    workload: 'koa-static, 64 KB',
    about: 'koa-static, a file of 64 KB',
    request: { path: '/64k.html' },
    expected: file(65_536),
    floor: { file: '64k.html' }
  },
  {
    workload: 'Readable.from',
    about: 'ctx.body = Readable.from(), four chunks of 4 KB',
    expected: { ...hello, body: CHUNKS.join('') },
    floor: { writes: CHUNKS.length }
  },
  {
    workload: 'OpenTelemetry',
    about: 'the API under OpenTelemetry (instrumentation-http)',
    request: { path: '/users/4711' },
    expected: json(JSON.stringify(USER))
  },
  ...AGENTS.map(agent => ({
    workload: agent,
    about: `the API under ${agent}`,
    request: { path: '/users/4711' },
    expected: json(JSON.stringify(USER)),
    contenders: ['kone', 'koa']
  })),
  {
    workload: 'pm2',
    about: 'pm2 start app.js -i 1, a string body',
    expected: hello
  },
  {
    workload: 'https',
    about: 'https, JSON',
    request: { protocol: 'https' },
    expected: json(JSON.stringify(USER))
  },
  {
    workload: 'ctx.res touched',
    about: 'ctx.res read, a string body: kone ÷ kone on node:http',
    expected: hello,
    contenders: ['kone', 'kone-node'],
    to: 'kone-node'
  }
].map(one => ({ request: {}, contenders: ALL, to: 'koa', ...one }))
