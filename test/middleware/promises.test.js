'use strict'

const assert = require('node:assert/strict')
const { setImmediate } = require('node:timers/promises')
const { Registry } = require('prom-client')
const set = require('kone/middleware')
const folder = require('../helpers/folder')
const frameworks = require('../helpers/frameworks')
const until = require('../helpers/until')
const { TABLES } = require('./options')

/*
 * A function of the options that is async and rejects: the middleware waits for it, or refuses it. Otherwise its
 * rejection would end the process, and its promise count as a value.
 */

const rejects = async () => {
  await null
  throw new Error('rejected')
}
const root = folder({ 'a.txt': 'a', 'en.json': '{}' })
const FORM = '--x\r\nContent-Disposition: form-data; name="a"; filename="a"\r\n\r\na\r\n--x--'
const FAILS = { '~standard': { version: 1, vendor: 'test', validate: () => ({ issues: [{ message: 'no' }] }) } }
const CODEC = { type: 'x/y', decode: () => [], encode: String }
const POST = (body, type) => ['POST /', { body, headers: { 'Content-Type': type } }]

/** Of each middleware: how it is made of the option, and what is requested. */
const MADE = {
  bodyParser: [option => [set.bodyParser(option)], ...POST('{', 'application/json')],
  compress: [option => [only(...Object.keys(option)), set.compress({ threshold: 0, ...option })], 'GET /'],
  cors: [option => [set.cors({ origin: 'http://a', ...option })], 'GET /', { headers: { Origin: 'http://a' } }],
  csrf: [option => [set.session(), set.csrf(option)], 'POST /'],
  health: [option => [set.health(option)], 'GET /readyz', { headers: { Accept: 'application/json' } }],
  i18n: [(option, app) => [set.i18n(app, { directory: root, locales: ['en'], ...option })], 'GET /'],
  logger: [option => [set.logger(() => {}, option)], 'GET /'],
  metrics: [option => [set.metrics({ register: new Registry(), defaults: false, ...option })], 'GET /'],
  rateLimit: [option => [set.rateLimit({ max: 0, ...option })], 'GET /'],
  rpc: [option => [set.rpc({ one: () => 1 }, option)], 'POST /rpc/one', POST('a', 'x/y')[1]],
  session: [option => [set.session({ ...option })], 'GET /'],
  static: [option => [set.static(root, option)], 'GET /a.txt'],
  upload: [option => [set.upload(option)], ...POST(FORM, 'multipart/form-data; boundary=x')],
  validate: [option => [set.validate({ query: FAILS, ...option })], 'GET /']
}

const only = option => (ctx, next) => {
  ctx.req.headers['accept-encoding'] = ['br', 'deflate'].includes(option) ? option : 'gzip'
  return next()
}

function handle (ctx) {
  if (ctx.session) ctx.session.user = 'ann'
  ctx.body = 'hi'
}

/** Not called by one such request: session.koa-session, health and websocket.test.js call them, and zstd is like gzip. */
const OTHERS = ['websocket.origins', 'websocket.protocols', 'session.valid', 'health.beforeShutdown', 'health.afterShutdown', 'compress.zstd']

const takesFunction = ({ type, sentence, test }) => /=>|\(err, ctx\)/.test(type + sentence) && test(rejects)
const OPTIONS = Object.entries(TABLES).flatMap(([name, { rule }]) => {
  const ofFunctions = Object.entries(rule.members ?? {}).filter(([, one]) => takesFunction(one))
  return ofFunctions.map(([option]) => [`${name}.${option}`, name, { [option]: rejects }])
}).filter(([title]) => !OTHERS.includes(title))

const CASES = [
  ...OPTIONS,
  ['logger.tokens', 'logger', { format: ':x', tokens: [{ token: ':x', content: rejects }] }],
  ['metrics.labels', 'metrics', { labels: { x: rejects } }],
  ['i18n.modes', 'i18n', { modes: [rejects] }],
  ...['decode', 'encode'].map(name => [`rpc.codecs ${name}`, 'rpc', { codecs: [{ ...CODEC, [name]: rejects }] }])
]

frameworks('an async function of the options that rejects', ({ it, Koa, ask, errors }) => {
  for (const [title, name, option] of CASES) {
    it(`should fail what it is called for: ${title}`, async () => {
      const [make, line, request] = MADE[name]
      const before = errors.length
      const app = new Koa()
      app.keys = ['key']
      try {
        for (const fn of make(option, app)) app.use(fn)
      } catch (err) {
        assert.match(err.message, /must not be async/)
        return
      }
      await ask(app.use(handle), line, request)
      await until(() => errors.length > before)
      assert.match(errors[before].message, /^rejected$|must not be async/)
      await setImmediate() // an unhandled rejection would fail the test
      assert.equal(errors.length, before + 1)
    })
  }

  it('should be reported where a log rejects', async () => {
    for (const log of [rejects, { info: rejects }]) {
      const before = errors.length
      await ask([set.logger(log), handle], 'GET /')
      await until(() => errors.length > before)
      assert.equal(errors[before].message, 'rejected')
    }
  })
})
