'use strict'

const assert = require('node:assert/strict')
const { once } = require('node:events')
const http = require('node:http')
const http2 = require('node:http2')
const { Readable } = require('node:stream')
const { after, before, describe } = require('node:test')
const nunjucks = require('nunjucks')
const set = require('kone/middleware')

const folder = require('../helpers/folder')
const frameworks = require('../helpers/frameworks')
const { missing, need } = require('../helpers/programs')
const { random } = require('../helpers/random')
const startRedis = require('../helpers/redis')
const storeOf = require('../helpers/sessions')
const share = require('../helpers/share')
const until = require('../helpers/until')

/*
 * Effects at another time than expected: what waits × when the session changes × store × body, at random. What the client
 * holds and what the store has agree afterwards: nobody is signed out, nobody is somebody else, nothing is sent late.
 */

const KEY = 'koa:sess'
const root = folder({ 'page.html': '<p>{{ 1 | later }}' })
const turns = async n => { for (; n > 0; n--) await new Promise(setImmediate) }

/** Promises, which take turns of the event loop; `fails` is a method that rejects. */
function slowStore (rnd, fails) {
  const store = Object.assign(storeOf(async (name, id, work) => {
    store.pending++
    try {
      await turns(rnd.int(4))
      if (name === fails && store.isBroken) throw new Error('down')
      const result = work()
      await turns(rnd.int(4))
      return result
    } finally {
      store.pending--
    }
  }), { pending: 0, isBroken: false })
  return store
}

const STORES = {
  memory: () => set.session.memory(),
  promises: rnd => slowStore(rnd),
  'failing set': rnd => slowStore(rnd, 'set'),
  'failing destroy': rnd => slowStore(rnd, 'destroy')
}

/** A client of Redis for rateLimit, as slow as one. */
const counter = rnd => {
  const wait = async value => { await turns(rnd.int(4)); return value }
  return { get: () => wait(null), set: () => wait(), del: () => wait(), eval: () => wait([1, 1000]) }
}

/** Middleware that waits or reads the session, and what the handler does for it. */
const WAITS = {
  nothing: { use: () => [] },
  rateLimit: { use: ({ rnd }) => [set.rateLimit({ db: counter(rnd) })] },
  i18n: { use: ({ app, rnd }) => [set.i18n(app, { locales: { en: {} }, modes: [() => turns(rnd.int(3)).then(() => 'en')] })] },
  openapi: { use: ({ app }) => [set.openapi(app, { info: { title: 'a', version: '1' } })] },
  csrf: { use: () => [set.csrf()], handle: async ctx => ctx.state._csrf },
  template: {
    use: () => [set.template(root, { autoRender: false, options: { nunjucksEnv: asyncEnv() } })],
    handle: ctx => ctx.render('page')
  }
}

function asyncEnv () {
  return new nunjucks.Environment([]).addFilter('later', (text, done) => setImmediate(done, null, text), true)
}

const ACTS = {
  async 'sign in' (ctx, mark) {
    ctx.session.user = 'ada'
    ctx.session.mark = mark
    await ctx.session.regenerate()
  },
  'sign in at the end' (ctx, mark) {
    ctx.session.user = 'ada'
    ctx.session.mark = mark
    ctx.sessionHandler.regenerateId()
  },
  async 'sign in twice' (ctx, mark) {
    await ACTS['sign in'](ctx, mark)
    await ACTS['sign in'](ctx, mark)
  },
  async write (ctx, mark) {
    ctx.session.mark = mark
    await ctx.session.save()
  },
  async 'sign out' (ctx) {
    ctx.session = null
    await ctx.sessionHandler.save()
  }
}

const WHEN = ['before', 'during', 'after', 'sent', 'limit', 'left', 'thrown']

const BODIES = {
  text: () => '{"a":"text"}'.padEnd(3000),
  stream: () => Readable.from([Buffer.from('{"a":1}'.padEnd(3000))]),
  'a stream that fails at once': () => {
    const stream = new Readable({ read () {} })
    setImmediate(() => stream.destroy(new Error('of the body')))
    return stream
  },
  'a stream that fails when it is read': () => new Readable({ read () { this.destroy(new Error('of the body')) } }),
  'a stream that fails after a chunk': () => Readable.from((async function * () {
    yield Buffer.from('{"a":1}'.padEnd(3000))
    await turns(2)
    throw new Error('of the body')
  })())
}

const OF_KOA = 'ERR_STREAM_UNABLE_TO_PIPE' // it pipes into a response of HTTP/2 whose client has left
const KNOWN = ['of the body', 'ERR_HTTP_HEADERS_SENT', 'KONE_ERR_SESSION_STORE', 'KONE_ERR_TIMEOUT', 'thrown']

/** What of a body came: one that fails is cut. */
async function read (body) {
  const chunks = []
  try {
    for await (const chunk of body) chunks.push(chunk)
  } catch {}
  return Buffer.concat(chunks)
}

/** `ask(path, headers, whenLeft)`: one request; whenLeft gets what disconnects its client. */
const CLIENTS = {
  async 'HTTP/1.1' (app, { listen }) {
    const { port } = await listen(app)
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
    return {
      ask: (path, headers, whenLeft) => new Promise(resolve => {
        const req = http.get({ port, host: '127.0.0.1', agent, path, headers })
        req.on('error', err => resolve({ lost: err.code }))
        req.on('response', async res => resolve({ status: res.statusCode, cookies: res.headers['set-cookie'], body: await read(res) }))
        whenLeft(() => { req.destroy() })
      }),
      close () { agent.destroy() }
    }
  },

  async 'HTTP/2' (app) {
    const server = http2.createServer(app.callback()).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const session = http2.connect(`http://127.0.0.1:${server.address().port}`)
    return {
      ask: (path, headers, whenLeft) => new Promise(resolve => {
        const stream = session.request({ ':path': path, ...headers })
        let hasBegun = false
        stream.on('error', () => {}).on('close', () => { if (!hasBegun) resolve({ lost: stream.rstCode }) })
        stream.on('response', async fields => {
          hasBegun = true
          resolve({ status: fields[':status'], cookies: fields['set-cookie'], body: await read(stream) })
        })
        whenLeft(() => { stream.close(http2.constants.NGHTTP2_CANCEL) })
      }),
      close () {
        session.destroy()
        server.close()
      }
    }
  },

  async 'app.fetch()' (app) {
    return {
      async ask (path, headers, whenLeft) {
        const controller = new AbortController()
        whenLeft(() => { controller.abort() })
        try {
          const response = await app.fetch(new Request(`http://127.0.0.1${path}`, { headers, signal: controller.signal }), { ip: '127.0.0.1' })
          return { status: response.status, cookies: response.headers.getSetCookie(), body: await read(response.body ?? []) }
        } catch (err) {
          return { lost: err.name }
        }
      },
      close () {}
    }
  }
}

/** One app, one request of ann that acts, and what she and the store have then. */
async function live (suite, { rnd, plan, makeStore }) {
  const { Koa } = suite
  const store = makeStore(rnd)
  const errors = []
  const app = new Koa()
  app.on('error', err => errors.push(err))
  let acting
  let enter
  let left
  const inside = new Promise(resolve => { enter = resolve })
  const isLeft = new Promise(resolve => { left = resolve })
  const begin = ctx => {
    acting = Promise.resolve().then(() => ACTS[plan.act](ctx, plan.mark))
    acting.then(() => { acting.isDone = true }, () => {})
    return acting
  }

  app.use(async (ctx, next) => {
    if (ctx.path !== '/act') return next()
    if (plan.when === 'sent') {
      const act = () => { if (acting === undefined) begin(ctx).catch(() => {}) }
      ctx.res.once('finish', act).once('close', act)
    }
    try {
      await next()
    } finally {
      if (plan.when === 'during') begin(ctx).catch(() => {})
      await turns(plan.turns)
      if (plan.when === 'after') begin(ctx).catch(() => {})
    }
  })
  const limited = set.timeout(1)
  const limit = (ctx, next) => ctx.path === '/act' && plan.when === 'limit' ? limited(ctx, next) : next()
  const encode = { jsonp: () => set.jsonp(), compress: () => set.compress({ threshold: 0 }) }
  const around = [set.session({ store }), limit, ...plan.encodes.map(name => encode[name]())]
  for (const fn of plan.order.map(i => around[i]).filter(Boolean)) app.use(fn)
  const { use, handle = () => {} } = WAITS[plan.waits]
  for (const fn of use({ app, rnd })) app.use(fn)
  app.use(async ctx => {
    if (ctx.path === '/in') ctx.session.user = ctx.query.as
    if (ctx.path !== '/act') {
      ctx.body = JSON.stringify(ctx.session)
      return
    }
    await handle(ctx)
    enter()
    if (plan.when === 'before') await begin(ctx)
    if (plan.when === 'limit') {
      if (!ctx.signal.aborted) await once(ctx.signal, 'abort')
      await begin(ctx)
    }
    if (plan.when === 'left') {
      await isLeft
      await until(() => plan.over === 'HTTP/2' ? ctx.res.stream.destroyed : !ctx.writable) // Koa's is true for ever over HTTP/2
      await begin(ctx)
    }
    ctx.body = BODIES[plan.body]()
    ctx.type = 'json'
    if (plan.when === 'thrown') {
      begin(ctx).catch(() => {})
      throw Object.assign(new Error('thrown'), { status: 400 })
    }
  })

  const client = await CLIENTS[plan.over](app, suite)
  const jars = { ann: undefined, bob: undefined }
  const ask = async (who, path) => {
    const cookie = jars[who] && `${KEY}=${jars[who]}`
    const headers = { 'accept-encoding': path.startsWith('/act') ? 'gzip' : 'identity', ...cookie && { cookie } }
    const whenLeft = plan.when === 'left' && path.startsWith('/act') ? leave => inside.then(leave).then(left) : () => {}
    const { status, cookies = [], body, lost } = await client.ask(path, headers, whenLeft)
    const line = cookies.find(line => line.startsWith(`${KEY}=`))
    if (line) jars[who] = /expires=Thu, 01 Jan 1970/.test(line) ? undefined : /=([^;]*)/.exec(line)[1]
    return { lost, status, isNew: Boolean(line), text: String(body) }
  }

  store.isBroken = false
  await ask('ann', '/in?as=ann')
  await ask('bob', '/in?as=bob')
  const id = jars.ann
  store.isBroken = true
  const seen = await ask('ann', '/act?callback=cb')
  await until(() => acting !== undefined).catch(err => { throw new Error(JSON.stringify(plan), { cause: err }) })
  await acting.catch(() => {})
  await turns(3)
  await until(() => !(store.pending > 0))
  await turns(6)
  await until(() => !(store.pending > 0))
  store.isBroken = false

  const held = jars.ann
  const [ann, bob] = [JSON.parse((await ask('ann', '/')).text), JSON.parse((await ask('bob', '/')).text)]
  await client.close()
  const reported = errors.map(err => err.code ?? err.message)
  const what = JSON.stringify({ ...plan, seen: { ...seen, text: undefined }, id, held, ann, done: acting.isDone, reported })

  assert.equal(bob.user, 'bob', what)
  assert.deepEqual(reported.filter(name => !KNOWN.includes(name) && !(name === OF_KOA && suite.name === 'koa 2')), [], what)
  const isNew = held !== id
  if (plan.act.startsWith('sign in')) {
    assert.deepEqual([ann.user, ann.mark], isNew ? ['ada', plan.mark] : ['ann', undefined], what)
    if (acting.isDone && plan.act !== 'sign in at the end' && plan.when !== 'left') assert.ok(isNew, what)
  } else if (plan.act === 'write') {
    assert.deepEqual([ann.user, ann.mark, isNew], ['ann', acting.isDone ? plan.mark : undefined, false], what)
  } else {
    assert.equal(ann.user, acting.isDone ? undefined : 'ann', what)
  }
  if (store.sessions !== undefined && !plan.store.startsWith('failing')) {
    assert.ok(store.sessions.size <= (ann.user === undefined ? 1 : 2), `${store.sessions.size} records: ${what}`)
  }
}

function planOf (rnd, store, framework) {
  const encodes = [[], ['compress'], ['jsonp'], ['jsonp', 'compress'], ['compress', 'jsonp']]
  return {
    act: rnd.pick(Object.keys(ACTS)),
    when: rnd.pick(WHEN),
    waits: rnd.pick(Object.keys(WAITS)),
    // Koa lets the client wait for ever if a body fails behind the headers
    body: rnd.pick(Object.keys(BODIES).filter(name => !framework.startsWith('koa') || name !== 'a stream that fails after a chunk')),
    encodes: rnd.pick(encodes),
    order: rnd.pick([[0, 1, 2, 3], [1, 0, 2, 3], [2, 0, 1, 3], [2, 3, 0, 1], [0, 2, 3, 1]]),
    turns: rnd.int(8),
    mark: rnd.int(1000),
    over: rnd.pick(Object.keys(CLIENTS).filter(name => name !== 'app.fetch()' || framework.startsWith('kone'))),
    store
  }
}

const SEEDS = share(27, 50, 100)

function suite (title, store, makeStore) {
  frameworks(title, suite => {
    suite.it('should leave what the client holds and what the store has in agreement', async () => {
      for (let seed = 1; seed <= SEEDS; seed++) {
        const rnd = random(seed)
        const plan = { seed, ...planOf(rnd, store, suite.name) }
        await live(suite, { rnd, plan, makeStore })
      }
    })
  }, share(['koa 2', 'kone'], ['koa 2', 'kone on node:http', 'kone']))
}

for (const [name, makeStore] of Object.entries(STORES)) suite(`late effects, ${name}`, name, makeStore)

describe('late effects, Redis', { skip: missing('redis-server') }, () => {
  let server, connected
  before(async () => {
    server = await startRedis(need('redis-server'))
    connected = await startRedis.CLIENTS.ioredis(server.port)
  })
  after(async () => {
    await connected?.stop()
    await server?.stop()
  })
  suite('late effects, Redis', 'Redis', () => set.session.redis(connected.client))
})
