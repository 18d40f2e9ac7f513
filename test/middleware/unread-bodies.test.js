'use strict'

const assert = require('node:assert/strict')
const { Readable, Stream } = require('node:stream')
const { it } = require('node:test')
const { Registry } = require('prom-client')
const set = require('kone/middleware')

const { names } = require('../../tools/middleware-index')
const folder = require('../helpers/folder')
const frameworks = require('../helpers/frameworks')

const root = folder({ 'icon.ico': 'icon' })
const schema = { '~standard': { version: 1, vendor: 'test', validate: value => ({ value }) } }
const routed = (fn, path = '/') => new set.router().get(path, fn).routes() // eslint-disable-line new-cap

/** Each of the set around a handler that sets a body, and the same for `app.final`. */
const AROUND = {
  ...Object.fromEntries(['bodyParser', 'conditionalGet', 'cors', 'csrf', 'etag', 'health', 'helmet', 'isolate', 'overload', 'rateLimit',
    'requestId', 'rpc', 'session', 'sse', 'upload'].map(name => [name, () => set[name]()])),
  compress: () => set.compress({ threshold: 0 }),
  favicon: () => set.favicon(`${root}/icon.ico`),
  i18n: app => set.i18n(app, { locales: { en: {} } }),
  jsonp: () => set.jsonp(),
  logger: () => set.logger(() => {}),
  metrics: () => set.metrics({ register: new Registry(), defaults: false }),
  openapi: app => set.openapi(app, { info: { title: 'a', version: '1' } }),
  router: () => routed((ctx, next) => next()),
  rpc: () => set.rpc({}),
  static: () => set.static(root),
  template: () => set.template(root),
  timeout: () => set.timeout(60_000),
  validate: () => set.validate({ query: schema, response: schema }),
  views: () => set.views(root),
  websocket: () => routed(set.websocket(() => {}), '/socket')
}

const FINAL_ARGS = { compress: [{ threshold: 0 }], logger: [() => {}], static: [root] }
const FINALS = names().filter(name => typeof set[name].final === 'function')

/** Streams of JSON that record whether somebody reads. */
const BODIES = {
  'a stream': read => new Readable({ read () { read(); this.push('{"a":1}'); this.push(null) } }),
  'a stream that fails': read => new Readable({ read () { read(); this.destroy(new Error('of the body')) } }),
  'an old stream': read => {
    const stream = Object.assign(new Stream(), { readable: true, resume: read, pause () {}, destroy () {} })
    stream.pipe = (...args) => { read(); setImmediate(() => stream.emit('end')); return Stream.prototype.pipe.apply(stream, args) }
    return stream
  },
  'a web stream': read => new ReadableStream({
    pull (controller) { read(); controller.enqueue(Buffer.from('{"a":1}')); controller.close() }
  }, { highWaterMark: 0 })
}

frameworks('a body', ({ it, Koa, ask, name: framework }) => {
  const isKone = framework.startsWith('kone')
  const bodies = Object.entries(BODIES).filter(([what]) => isKone || what !== 'a web stream')

  async function check (use, [what, make], accept) {
    let reads = 0
    let before
    const app = new Koa()
    app.on('error', () => {})
    const wait = async () => {
      for (let i = 0; i < 3; i++) await new Promise(setImmediate)
      before = reads
    }
    app.use((ctx, next) => next().then(wait))
    use(app)
    app.final?.(wait)
    app.use(ctx => {
      ctx.body = make(() => reads++)
      ctx.type = 'json'
    })
    const { status } = await ask(app, 'GET /?callback=cb', { headers: { 'accept-encoding': accept } })
    assert.deepEqual({ what, accept, before, status }, { what, accept, before: 0, status: what === 'a stream that fails' ? 500 : 200 })
    assert.ok(reads > 0)
  }

  for (const [name, make] of Object.entries(AROUND)) {
    it(`should not be read by ${name} before the response is sent`, async () => {
      for (const body of bodies) await check(app => app.use(make(app)), body, 'gzip')
    })
  }

  it('should not be read by several before the response is sent', async () => {
    for (const accept of ['br', 'deflate']) {
      for (const body of bodies) {
        await check(app => { for (const name of ['compress', 'etag', 'jsonp', 'jsonp']) app.use(AROUND[name](app)) }, body, accept)
      }
    }
  })

  if (!isKone) return
  for (const name of FINALS) {
    it(`should not be read by the final of ${name} before the response is sent`, async () => {
      for (const body of bodies) {
        await check(app => {
          app.final(set[name].final(...FINAL_ARGS[name] ?? []))
          if (name === 'session') app.use(set.session())
        }, body, 'gzip')
      }
    })
  }
}, ['koa 2', 'kone on node:http', 'kone'])

it('should be tried with each middleware of the set', () => {
  assert.deepEqual(Object.keys(AROUND).sort(), names().sort())
})
