'use strict'

const { after, before, describe, it } = require('node:test')
const assert = require('node:assert/strict')
const fs = require('node:fs')
const http = require('node:http')
const path = require('node:path')
const { PassThrough } = require('node:stream')
const zlib = require('node:zlib')
const { once } = require('node:events')
const temporary = require('../helpers/folder')
const until = require('../helpers/until')
const visitor = require('../helpers/visitor')

const ROOT = path.join(__dirname, '../..')
const MIGRATION = fs.readFileSync(path.join(ROOT, 'MIGRATION.md'), 'utf8')

/** The folder that the examples run in, with what they speak of. */
const FILES = {
  'views/user.html': '<h1>{{ title }} {{ user }}</h1>',
  'user.html': '<p>{{ 6 * 7 }}</p>',
  'hello.txt': 'hello',
  'test/fixtures/hello.txt': 'fixture',
  'public/favicon.ico': 'icon',
  'appender.js': 'exports.configure = () => event => globalThis.__log4js(event)',
  'config/locales/zh-CN.js': '{ "any key": "任何" }',
  'config/locales/en.js': '{ "any key": "any key!" }'
}

/** What the table of MIGRATION.md says: package → name of the middleware. */
const TABLE = new Map([...MIGRATION.matchAll(/^\| (@?koa[^|]+) \| (`\w+`(?:, `\w+`)*) \|/gm)].flatMap(([, packages, names]) => {
  const ours = names.replaceAll('`', '').split(', ')
  const theirs = [...packages.matchAll(/(?:@koa|koa)[/-][\w-]+/g)].map(([name]) => name)
  return theirs.map((name, i) => [name, ours[i] ?? ours[0]])
}))

/**
 * For each package the block of its README (or source) that holds `example`, what MIGRATION.md changes in it,
 * packages that it needs and nobody has, and what its app responds, to both where not said otherwise.
 */
const EXAMPLES = {
  'koa-router': {
    from: 'lib/router.js',
    example: 'ctx.router available',
    name: '@koa/router',
    more: "router.get('/:id', ctx => { ctx.body = ctx.params })",
    async check (ask) { return [await ask('GET /x'), await ask('POST /'), await ask('OPTIONS /'), await ask('GET /')] }
  },
  '@koa/router': {
    example: "ctx.body = 'Hello World!'",
    changes: [['new Router()', 'new Router({ syntax: 8 })']],
    more: "router.get('/user{/:id}', ctx => { ctx.body = { id: ctx.params.id || 'all' } })",
    async check (ask) {
      const answers = [await ask('GET /'), await ask('GET /users/7'), await ask('GET /user'), await ask('GET /user/8')]
      assert.equal(answers[2].text, '{"id":"all"}')
      return [...answers, await ask('PUT /')]
    }
  },
  'koa-bodyparser': { example: "require('koa-bodyparser')", check: ask => bodies(ask) },
  '@koa/bodyparser': {
    example: '{ bodyParser } = require("@koa/bodyparser")',
    changes: [['bodyParser()', "bodyParser({ parsedMethods: ['POST', 'PUT', 'PATCH'] })"]],
    whole: true, // of the set: const { bodyParser } = require('kone/middleware')
    check: ask => bodies(ask)
  },
  'koa-session': {
    example: 'const CONFIG',
    changes: [['session(CONFIG, app)', 'session(CONFIG)']],
    // its own version 7 refuses null
    originally: [['sameSite: null', 'sameSite: undefined']],
    async check (ask, { app }) {
      app.proxy = true
      const ann = visitor((app, line, options) => ask(line, options), app)
      const answers = []
      for (let i = 0; i < 3; i++) answers.push(await ann('GET /', { headers: { 'x-forwarded-proto': 'https' } }))
      assert.deepEqual(answers.map(({ text }) => text), ['1 views', '2 views', '3 views'])
      assert.match(answers[0].setCookie['koa.sess'], /; expires=.+; secure; httponly$/)
      assert.ok(answers[0].setCookie['koa.sess.sig'])
      assert.ok(!('koa.sess' in ann.cookies) || !answers[0].setCookie['koa.sess'].includes('samesite'))
      const forged = { 'koa.sess': ann.cookies['koa.sess'] }
      const thief = visitor((app, line, options) => ask(line, options), app, forged)
      assert.equal((await thief('GET /', { headers: { 'x-forwarded-proto': 'https' } })).text, '1 views')
      return answers.map(({ status, text }) => ({ status, text }))
    }
  },
  'koa-session-minimal': {
    example: 'redisStore()',
    stubs: { 'koa-redis': () => redisStore() },
    async check (ask, { app }) {
      const ann = visitor((app, line, options) => ask(line, options), app)
      const answers = []
      for (const target of ['/add', '/add', '/', '/add']) answers.push(await ann(`GET ${target}`))
      assert.deepEqual(answers.map(({ text }) => text), ['1', '2', '2', '3'])
      return answers.map(({ status, text }) => ({ status, text }))
    }
  },
  'koa-views': {
    example: "map: {html: 'nunjucks' }",
    app: true,
    async check (ask) {
      const res = await ask('GET /')
      assert.equal(res.text, '<p>42</p>')
      return [res]
    }
  },
  'koa-static': {
    example: "app.use(serve('.'))",
    async check (ask) {
      const answers = [await ask('GET /hello.txt'), await ask('GET /user.html'), await ask('GET /none'), await ask('HEAD /hello.txt')]
      assert.deepEqual(answers.map(({ text }) => text), ['hello', FILES['user.html'], 'Not Found', ''])
      return answers
    }
  },
  'koa-logger': {
    example: 'transporter: (str, args)',
    changes: [['// ...', 'printed.push(str.replace(/\\x1b\\[\\d+m/g, ""))']],
    originally: [['// ...', 'printed.push(str.replace(/\\x1b\\[\\d+m/g, ""))']],
    app: true,
    async check (ask, { printed }) {
      await ask('GET /a')
      const line = printed.at(-1).replace(/\d+ms/, 'ms').trim()
      assert.equal(line, '--> GET /a 404 ms 9b')
      return [line]
    }
  },
  'koa-log4': {
    example: 'log4js.koaLogger(log4js.getLogger("http")',
    changes: [["require('koa-log4')", "require('log4js')"], ['log4js.koaLogger(', "require('koa-log4')("]],
    app: true,
    prepare: recordLog4js,
    async check (ask, { prepared: events }) {
      await ask('GET /a', { headers: { 'user-agent': 'x' } })
      await until(() => events.length > 0)
      assert.equal(events[0].level, 'ERROR')
      assert.match(events[0].text, /"GET \/a HTTP\/1\.1" 404 (?:9|-) "" "x"/)
      return [events[0].level]
    }
  },
  '@koa/cors': {
    example: 'app.use(cors())',
    async check (ask) {
      const preflight = { headers: { origin: 'https://a.example', 'access-control-request-method': 'PUT' } }
      const answers = [await ask('GET /', { headers: { origin: 'https://a.example' } }), await ask('OPTIONS /', preflight)]
      assert.equal(answers[0].headers['access-control-allow-origin'], '*')
      return answers
    }
  },
  'koa-helmet': {
    example: 'ctx.body = "Hello World"',
    async check (ask) {
      const res = await ask('GET /')
      assert.ok(res.headers['content-security-policy'])
      return [res]
    }
  },
  'koa-csrf': {
    example: 'app.use(new CSRF())',
    stubs: { 'koa-generic-session': () => () => require('koa-session-minimal')({ store: redisStore()() }) },
    async check (ask, { app }) {
      const ann = visitor((app, line, options) => ask(line, options), app)
      const { text: token } = await ann('GET /')
      const form = body => ({ headers: { 'content-type': 'application/x-www-form-urlencoded' }, body })
      const answers = [await ann('POST /', form(`_csrf=${token}`)), await ann('POST /', form('_csrf=x')), await ann('POST /')]
      assert.deepEqual(answers.map(({ status }) => status), [200, 403, 403])
      return answers.map(({ status, text }) => ({ status, text }))
    }
  },
  'koa-compress': {
    example: 'filter(content_type)',
    more: "app.use(ctx => { ctx.type = ctx.path.slice(1); ctx.body = Buffer.alloc(5000, 'x') })",
    async check (ask) {
      const answers = []
      for (const path of ['/html', '/png']) {
        const { status, headers, body } = await ask(`GET ${path}`, { headers: { 'accept-encoding': 'br, gzip' } })
        const encoding = headers['content-encoding']
        answers.push([status, encoding, (encoding ? zlib.gunzipSync(body) : body).length])
      }
      assert.deepEqual(answers, [[200, 'gzip', 5000], [200, undefined, 5000]])
      return answers
    }
  },
  'koa-etag': { example: 'app.use(etag())', check: conditional },
  'koa-conditional-get': { example: "species: 'ferret'", check: conditional },
  'koa-favicon': {
    example: "favicon(__dirname + '/public/favicon.ico')",
    async check (ask) {
      const answers = [await ask('GET /favicon.ico'), await ask('POST /favicon.ico'), await ask('GET /other')]
      assert.deepEqual(answers.map(({ status }) => status), [200, 405, 404])
      return answers.map(({ status, text, headers }) => ({ status, text, type: headers['content-type'] }))
    }
  },
  'koa-i18n': {
    example: "directory: './config/locales'",
    stubs: { 'koa-swig': () => function () {} },
    // what comes after the page that has responded
    changes: [['function() {}', 'function () { return undefined }']],
    originally: [['function() {}', "function () { return 'zh-CN' }"], ["directory: './config/locales'", 'devMode: false, directory: "./config/locales"']],
    async check (ask) {
      const answers = []
      for (const [target, headers] of [['/', {}], ['/?locale=en', {}], ['/', { 'accept-language': 'en' }], ['/en', {}]]) {
        answers.push((await ask(`GET ${target}`, { headers })).text)
      }
      assert.deepEqual(answers, ['任何', 'any key!', 'any key!', 'any key!'])
      return answers
    }
  },
  'koa-jsonp': {
    example: 'json-array-stream',
    app: true,
    needs: { mount: require('koa-mount'), JSONStream: { parse: () => new PassThrough() } },
    stubs: {
      nano: () => () => ({ view: () => new PassThrough().end('[1,2]') }),
      'json-array-stream': () => () => new PassThrough()
    },
    async check (ask) {
      const answers = []
      for (const target of ['/users', '/users?callback=cb', '/dow', '/dow?callback=cb']) {
        const { status, text, headers } = await ask(`GET ${target}`)
        answers.push([status, text.replace(/^(?:\/\*\*\/|;)/, '').replace(/;$/, ''), headers['content-type']])
      }
      assert.deepEqual(answers.map(([, text]) => text), ['[1,2]', 'cb([1,2])', DAYS, `cb(${DAYS})`])
      return answers
    }
  },
  'koa-ratelimit': {
    example: 'const db = new Map()',
    async check (ask) {
      const answers = []
      for (let i = 0; i < 101; i++) answers.push(await ask('GET /'))
      const last = answers.at(-1)
      assert.deepEqual([answers[99].status, last.status, last.text], [200, 429, 'Sometimes You Just Have to Slow Down.'])
      assert.equal(answers[0].headers['rate-limit-remaining'], '99')
      return answers.map(({ status, text, headers }) => [status, text, headers['rate-limit-remaining'], headers['rate-limit-total']])
    }
  },
  'koa-requestid': {
    example: 'app.use(requestId())',
    changes: [['requestId()', "requestId({ header: 'Request-Id', expose: 'Request-Id' })"]],
    async check (ask) {
      const res = await ask('GET /')
      assert.equal(res.headers['request-id'], res.text)
      return [(await ask('GET /', { headers: { 'request-id': 'foobar' } })).text, (await ask('GET /?requestId=q')).text]
    }
  },
  '@koa/multer': {
    example: "upload.single('avatar')",
    refused: /^upload: there is no upload\(\)\.fields\(\): one app\.use\(upload\(\)\) takes every file of a form, .*ctx\.request\.files \(kone\/middleware\/upload\/README\.md\)$/
  }
}
const DAYS = '["Mon","Tue","Wed","Thu","Fri","Sat"]'

describe('MIGRATION.md', () => {
  it('should have an example here for every package of its table', () => {
    assert.deepEqual([...TABLE.keys()].sort(), [...Object.keys(EXAMPLES), 'koa-locale'].sort())
  })

  for (const [name, example] of Object.entries(EXAMPLES)) {
    const { check, changes = [], originally = [], refused } = example
    const run = async change => {
      const running = await start(name, example, change)
      try {
        return simple(await check(running.ask, running))
      } finally {
        running.close()
      }
    }

    if (refused) {
      it(`should refuse the README example of ${name} and say what to use`, async () => {
        await assert.rejects(start(name, example, { changes, migrated: true }), { name: 'TypeError', message: refused })
      })
      continue
    }

    it(`should migrate the README example of ${name}`, async () => {
      assert.deepEqual(await run({ changes, migrated: true }), await run({ changes: originally, migrated: false }))
    })
  }
})

const cwd = process.cwd()
after(() => process.chdir(cwd))
const folder = temporary(FILES)
before(() => process.chdir(folder))

/** Evaluate the example and serve its app: with the packages that it names, or with those of the table. */
async function start (name, { from, example, more = '', app: hasNoApp, stubs = {}, needs = {}, whole, prepare }, { changes, migrated }) {
  const source = sourceOf(name, from, example)
  let code = source.replace(/^import (.+?) from (['"][^'"]+['"])/gm, 'const $1 = require($2)')
    .replace(/^ *views\(/gm, 'views(')
  for (const [what, by] of changes) {
    assert.ok(code.includes(what), `${name} has no ${what} any more`)
    code = code.replace(what, by)
  }

  const prepared = prepare?.(migrated)
  const apps = []
  const printed = []
  const Base = migrated ? require('kone') : require('koa')
  class Koa extends Base {
    constructor (...args) {
      super(...args)
      this.silent = true
      apps.push(this)
    }

    listen () { return this }
  }
  const load = wanted => {
    if (wanted === 'koa') return Koa
    if (wanted in stubs) return stubs[wanted]()
    if (migrated && whole && wanted === name) return require('kone/middleware')
    if (migrated && TABLE.has(wanted) && wanted !== 'koa-locale') return require(`kone/middleware/${TABLE.get(wanted)}`)
    const asked = wanted === '@koa/router' && name === 'koa-router' ? 'koa-router' : wanted
    const found = require(asked)
    return typeof found === 'function' || whole ? found : found.default ?? found
  }
  const scope = {
    require: load,
    console: { log () {} },
    __dirname: folder,
    printed,
    ...needs,
    ...(hasNoApp && { app: new Koa() }),
    ...(!/\b(?:const|var) views\b/.test(code) && hasNoApp && name === 'koa-views' && { views: load('koa-views') }),
    ...(name === 'koa-logger' && { logger: load('koa-logger') })
  }
  const fn = new Function(...Object.keys(scope), `${code}\n;${more}`) // eslint-disable-line no-new-func
  fn(...Object.values(scope))

  const [app] = apps
  const server = http.createServer(app.callback()).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    app,
    printed,
    prepared,
    ask: (line, options) => request(server.address().port, line, options),
    close () {
      server.close()
      server.closeAllConnections()
    }
  }
}

function sourceOf (name, from, example) {
  const home = path.join(ROOT, 'node_modules', name)
  const file = from ?? fs.readdirSync(home).find(file => /^readme\.md$/i.test(file))
  const text = fs.readFileSync(path.join(home, file), 'utf8').replace(/^ +\* ?/gm, from ? '' : '$&')
  const place = text.indexOf(example)
  assert.ok(place !== -1, `the README of ${name} has no ${example} any more`)
  // the fence around it: strangers' blocks are not always closed as ours are
  const begin = text.indexOf('\n', text.lastIndexOf('```', place))
  return text.slice(begin, text.indexOf('```', place))
}

async function request (port, line, { headers = {}, body } = {}) {
  const [method, path] = line.split(' ')
  const req = http.request({ host: '127.0.0.1', port, method, path, headers, agent: false })
  req.end(body)
  const [res] = await once(req, 'response')
  const bytes = Buffer.concat(await res.toArray())
  return { status: res.statusCode, headers: res.headers, body: bytes, text: bytes.toString() }
}

/** What is the same at any time and in any process. */
function simple (answers) {
  return answers.map(answer => {
    if (!answer?.headers) return answer
    const { date, connection, 'keep-alive': alive, etag, vary, 'last-modified': modified, ...headers } = answer.headers
    for (const name of ['cache-control', 'accept-ranges', 'transfer-encoding']) delete headers[name]
    if (headers.allow) headers.allow = headers.allow.split(', ').sort().join(', ')
    return { status: answer.status, headers, text: answer.text }
  })
}

async function bodies (ask) {
  const json = { 'content-type': 'application/json' }
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  const answers = [
    await ask('POST /', { headers: json, body: '{"a":[1]}' }),
    await ask('PUT /', { headers: form, body: 'a[b]=c&d=e' }),
    await ask('POST /', { headers: json, body: '{' }),
    await ask('POST /', { headers: { 'content-type': 'text/plain' }, body: 'x' }),
    await ask('PATCH /')
  ]
  assert.deepEqual(answers.map(({ status }) => status), [200, 200, 400, 200, 200])
  return answers.map(({ status, text }) => [status, status === 400 ? '' : text])
}

async function conditional (ask) {
  const first = await ask('GET /')
  const again = await ask('GET /', { headers: { 'if-none-match': first.headers.etag } })
  assert.deepEqual([first.status, again.status, again.text], [200, 304, ''])
  return [first.text, again.status]
}

/** koa-redis' interface over a Map. */
function redisStore () {
  const sessions = new Map()
  return () => ({
    get: async id => JSON.parse(sessions.get(id) ?? 'null'),
    set: async (id, session) => { sessions.set(id, JSON.stringify(session)) },
    destroy: async id => { sessions.delete(id) }
  })
}

/** koa-log4 brings a log4js of its own, of a version that takes the name of an appender's module only. */
function recordLog4js (migrated) {
  const events = []
  globalThis.__log4js = ({ level, data }) => events.push({ level: level.levelStr, text: data.join(' ') })
  require(migrated ? 'log4js' : 'koa-log4').configure({
    appenders: { memory: { type: path.join(folder, 'appender.js') } },
    categories: { default: { appenders: ['memory'], level: 'info' } }
  })
  return events
}
