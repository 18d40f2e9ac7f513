'use strict'

const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const http = require('node:http')
const { PassThrough } = require('node:stream')
const { describe, it } = require('node:test')
const original = require('koa-log4').koaLogger
const log4js = require('log4js')
const pino = require('pino')
const logger = require('kone/middleware/logger')
const requestId = require('kone/middleware/requestId')
const frameworks = require('../helpers/frameworks')
const until = require('../helpers/until')

const HANDLERS = {
  '/text': ctx => { ctx.body = 'hello' },
  '/json': ctx => { ctx.body = { a: 1 } },
  '/moved': ctx => ctx.redirect('/text'),
  '/none': ctx => { ctx.status = 204 },
  '/refused': ctx => ctx.throw(403, 'no'),
  '/broken': () => { throw new Error('broken') }
}

frameworks('logger', ({ it, Koa, ask, listen }) => {
  const handle = ctx => HANDLERS[ctx.path]?.(ctx)
  const serve = (...middleware) => {
    const app = new Koa()
    for (const fn of middleware) app.use(fn)
    app.use(handle)
    return app
  }
  const lineOf = async (options, line, request, ...before) => {
    const lines = []
    await ask(serve(...before, logger(collector(lines), options)), line, request)
    await until(() => lines.length > 0)
    return lines[0].line
  }

  /** What the GETs of these paths log, when there are so many lines. */
  const linesOf = async (options, paths, count, show = ({ line }) => line) => {
    const lines = []
    const app = serve(logger(collector(lines), options))
    for (const path of paths) await ask(app, `GET ${path}`)
    await until(() => lines.length >= count)
    return lines.map(show)
  }

  it('should log as koa-log4 does', async () => {
    const lines = []
    const theirs = []
    const headers = { 'User-Agent': 'test/1.0', Referer: 'http://a.example/x' }
    for (const format of [
      // what koa-log4 takes for its default
      ':remote-addr - - ":method :url HTTP/:http-version" :status :content-length ":referrer" ":user-agent"',
      ':method :url :status :http-version :protocol :hostname',
      '[:req[x-test]] :referrer|:user-agent|:remote-addr',
      ':content-length bytes'
    ]) {
      const ours = serve(logger(collector(lines), { format }))
      const koa = new (require('koa'))()
      koa.use(original(fake(theirs), { format }))
      koa.use(handle)
      for (const target of ['/text', '/json?a=1&b=%20', '/moved', '/text?x=:method']) {
        const request = { headers: { ...headers, Host: 'h.example:81', 'X-Test': 'value' } }
        await ask(ours, `GET ${target}`, request)
        await ask(koa, `GET ${target}`, request)
        await until(() => lines.length === theirs.length)
        // intentional difference: it expands what the client writes
        const expected = theirs.at(-1).replace('x=GET', 'x=:method')
        assert.equal(lines.at(-1).line.replace('::ffff:', ''), expected.replace('::ffff:', ''), `${format} ${target}`)
      }
    }
  })

  it('should say when it was and how long it took, without a format', async t => {
    const headers = { 'User-Agent': 'test/1.0', Referer: 'http://a.example/x' }
    const line = await lineOf({}, 'GET /text?a=1', { headers })
    const [, date, rest, ms] = /^(?:::ffff:)?127\.0\.0\.1 - - \[(.+ GMT)\] (.*) (\d+) ms$/.exec(line)
    assert.equal(rest, '"GET /text?a=1 HTTP/1.1" 200 5 "http://a.example/x" "test/1.0"')
    assert.ok(Math.abs(Date.now() - new Date(date)) < 60_000, date)
    assert.ok(ms >= 0)
    t.mock.timers.enable({ apis: ['Date'], now: Date.UTC(2026, 0, 2, 3, 4, 5) })
    const lines = []
    const app = serve(logger(collector(lines)), (ctx, next) => { t.mock.timers.tick(7); return next() })
    await ask(app, 'GET /text')
    await until(() => lines.length > 0)
    assert.match(lines[0].line, / - - \[Fri, 02 Jan 2026 03:04:05 GMT\] "GET \/text HTTP\/1\.1" 200 5 "" "-" 7 ms$/)
  })

  it('should log thrown requests once, with the status that was sent', async () => {
    const expected = ['/refused 403', '/broken 500', '/missing 404', '/none 204']
    assert.deepEqual(await linesOf({ format: ':url :status' }, ['/refused', '/broken', '/missing', '/none'], 4), expected)
  })

  it('should log a request whose client left, with an address', async () => {
    const lines = []
    let reached = false
    const app = serve(logger(collector(lines)), async ctx => {
      reached = true
      await until(() => lines.length > 0)
      ctx.body = 'too late'
    })
    const { port } = await listen(app)
    const req = http.get({ host: '127.0.0.1', port, path: '/gone', agent: false })
    req.on('error', () => {})
    await until(() => reached)
    req.destroy()
    await until(() => lines.length > 0)
    assert.match(lines[0].line, /^(::ffff:)?127\.0\.0\.1 - - \[[^\]]+\] "GET \/gone HTTP\/1\.1" 499 - /)
  })

  it('should log a response that was cut off while it was streamed', async () => {
    const lines = []
    const app = serve(logger(line => lines.push(line)), ctx => {
      ctx.body = new PassThrough()
      ctx.body.write('begun')
    })
    const { port } = await listen(app)
    const req = http.get({ host: '127.0.0.1', port, agent: false }, res => {
      res.on('error', () => {}).once('data', () => req.destroy())
    })
    req.on('error', () => {})
    await until(() => lines.length > 0)
    assert.match(lines[0], /^ {2}-x- GET \/ 200 \d+ms -$/)
  })

  it('should know the level of a status', async () => {
    const lines = await linesOf({ level: 'auto', format: ':status' }, ['/text', '/moved', '/refused', '/broken'], 4,
      ({ level, line }) => `${level} ${line}`)
    assert.deepEqual(lines, ['info 200', 'warn 302', 'error 403', 'error 500'])
  })

  it('should leave out what nolog names', async () => {
    for (const nolog of ['\\.gif|\\.jpg$', /\.(gif|jpe?g)/, ['\\.gif', /\.jpg$/], /\.(gif|jpg)/g, /\.(GIF|JPG)/i, [/\.GIF/i, /\.jpg/]]) {
      assert.deepEqual(await linesOf({ nolog, format: ':url' }, ['/a.gif', '/a.gif', '/b.jpg', '/agif'], 1), ['/agif'], String(nolog))
    }
  })

  it('should write one line when it is registered twice', async () => {
    const lines = []
    const log = collector(lines)
    const app = serve(logger(log, ':url'), logger(log, ':url'))
    await ask(app, 'GET /text?1')
    await ask(app, 'GET /text?2')
    await until(() => lines.at(-1)?.line === '/text?2')
    assert.deepEqual(lines.map(({ line }) => line), ['/text?1', '/text?2'])
  })

  it('should expand tokens of the app', async () => {
    const line = await lineOf({
      format: ':app :short :num7 :name ":q"',
      tokens: [
        { token: ':app', replacement: 'kone' },
        { token: ':short', replacement: ':method :status' },
        { token: /:num(\d)/, replacement: (match, digit) => digit * 2 },
        { token: ':name', content: ctx => ctx.path },
        { token: ':q', content: ctx => ctx.query.q }
      ]
    }, 'GET /text?q=%22%0a:url')
    assert.equal(line, 'kone GET 200 14 /text "\\"\\x0a:url"')
  })

  it('should take a format alone, and a function', async () => {
    assert.equal(await lineOf(':method', 'GET /text'), 'GET')
    const format = (ctx, expand) => `<${expand(':method :url')}> ${ctx.query.q}`
    assert.equal(await lineOf({ format }, 'GET /text?q=a%0Ab'), '<GET /text?q=a%0Ab> a\\x0ab')
    assert.equal(await lineOf(format, 'GET /text?q=1'), '<GET /text?q=1> 1')
  })

  it('should skip what a format function has no line for', async () => {
    assert.deepEqual(await linesOf(ctx => ctx.path !== '/none' && ctx.path, ['/none', '/text'], 1), ['/text'])
  })

  it('should tell the time, the date and the fields of the response', async () => {
    const line = await lineOf({ format: ':response-time|:date|:res[content-type]|:res[x-none]' }, 'GET /text')
    assert.match(line, /^\d+\|\w{3}, \d\d \w{3} \d{4} [\d:]{8} GMT\|text\/plain; charset=utf-8\|-$/)
  })

  it('should add the id of the request', async () => {
    const request = { headers: { 'X-Request-Id': 'id-1', 'User-Agent': 'u' } }
    assert.match(await lineOf(undefined, 'GET /text', request, requestId()), / "u" \d+ ms id-1$/)
    assert.equal(await lineOf(':id', 'GET /text', request, requestId()), 'id-1')
    assert.equal(await lineOf(':id', 'GET /text'), '-')
  })

  it('should escape what a client says, whatever the logger', async () => {
    const evil = 'a"b\\c\u0085\u009bd'
    const headers = { 'User-Agent': evil, Referer: ':status :method', 'X-A': evil }
    const pattern = /^.*"GET \/text\?q="\\x5c:url HTTP\/1\.1" 200 5 ":status :method" "a\\"b\\\\c\\x85\\x9bd" \d+ ms$/
    const expected = new RegExp(pattern.source.replace('q="\\\\x5c', 'q=\\\\"\\\\\\\\'))
    const request = { headers }
    assert.match(await lineOf(undefined, 'GET /text?q="\\:url', request), expected)
    assert.equal(await lineOf(':req[x-a]', 'GET /text', request), 'a\\"b\\\\c\\x85\\x9bd')
    const calls = []
    await ask(serve(logger((line, args) => calls.push(line, ...args))), 'GET /text?q="\\', request)
    await until(() => calls.length > 0)
    assert.equal(calls.filter(text => text === '/text?q=\\"\\\\').length, 1)
    assert(!calls.some(text => /[^\\]"/.test(text)))
  })

  it('should trust X-Forwarded-For only as far as the app does', async () => {
    const request = { headers: { 'X-Forwarded-For': '6.6.6.6"\u009b' } }
    assert.match(await lineOf(':remote-addr', 'GET /text', request), /127\.0\.0\.1$/)
    const lines = []
    const app = serve(logger(collector(lines), ':remote-addr'))
    app.proxy = true
    await ask(app, 'GET /text', request)
    await until(() => lines.length > 0)
    assert(!/["\u009b]/.test(lines[0].line.replace('\\"', '')))
  })

  for (const [token, field] of [[':remote-addr', 'X-Forwarded-For'], [':protocol', 'X-Forwarded-Proto'], [':hostname', 'X-Forwarded-Host']]) {
    it(`should escape what a trusted client says: ${token}`, async () => {
      const lines = []
      const app = serve(logger(collector(lines), { format: `[${token}]` }))
      app.proxy = true
      await ask(app, 'GET /text', { headers: { [field]: 'a"\u009bb' } })
      await until(() => lines.length > 0 || field === 'X-Forwarded-Host') // which is a 400 of kone's
      assert(!/["\u009b]/.test((lines[0]?.line ?? '').replace('\\"', '')), lines[0]?.line)
    })
  }

  it('should call back a function or a transporter as koa-logger does', async () => {
    for (const make of [fn => logger(fn), fn => logger({ transporter: fn })]) {
      const calls = []
      await ask(serve(make((line, args) => calls.push([line, args]))), 'GET /text?a=1')
      await until(() => calls.length > 0)
      assert.equal(calls.length, 1)
      const [[line, args]] = calls
      assert.match(line, /^ {2}--> GET \/text\?a=1 200 \d+ms 5b$/)
      assert.deepEqual([args[0], args[1], args[2], args[3], args[5]],
        ['  --> %s %s %s %s %s', 'GET', '/text?a=1', 200, '5b'])
    }
  })

  it('should write to log4js', async () => {
    const appended = []
    log4js.configure({
      appenders: { memory: { type: { configure: () => event => appended.push(event) } } },
      categories: { default: { appenders: ['memory'], level: 'info' } }
    })
    const app = serve(logger(log4js.getLogger('http'), { level: log4js.levels.WARN, format: '100% :url' }))
    await ask(app, 'GET /text')
    await until(() => appended.length > 0)
    assert.equal(appended[0].level.levelStr, 'WARN')
    assert.deepEqual(appended[0].data, ['100% /text'])
    await ask(serve(logger(log4js.getLogger(), { level: 'debug' })), 'GET /text')
    await ask(app, 'GET /text')
    await until(() => appended.length > 1)
    assert.deepEqual(appended.map(({ level }) => level.levelStr), ['WARN', 'WARN'])
  })

  it('should write to pino', async () => {
    const lines = []
    const log = pino({ base: null }, { write: line => lines.push(JSON.parse(line)) })
    await ask(serve(logger(log, { format: ':method :url %s', level: 'error' })), 'GET /text')
    await until(() => lines.length > 0)
    assert.deepEqual([lines[0].msg, lines[0].level], ['GET /text %s', 50])
  })

  it('should log as a final, failed requests too', { skip: !Koa.prototype.final && 'Koa has no app.final' }, async () => {
    const lines = []
    const app = new Koa()
    app.final(logger.final(collector(lines), { format: ':url :status :response-time', level: 'auto', nolog: 'none' }))
    app.use(handle)
    for (const path of ['/text', '/none', '/broken', '/refused']) await ask(app, `GET ${path}`)
    await until(() => lines.length >= 3)
    assert.deepEqual(lines.map(({ level, line }) => `${level} ${line}`),
      ['info /text 200 -', 'error /broken 500 -', 'error /refused 403 -'])
  })
})

describe('logger(log, options)', () => {
  it('should refuse a logger that cannot work', () => {
    for (const log of [5, 'info', { info () {} }]) assert.throws(() => logger(log, { level: 'auto' }), TypeError)
    assert.throws(() => logger('combined'), /^TypeError: logger: the logger must be .*, not 'combined'; a format is options\.format/)
  })

  it('should write to stdout without a logger, the last lines of a process included', () => {
    const { stdout } = spawnSync(process.execPath, ['-e', `
      const app = new (require('kone'))()
      app.use(require('kone/middleware/logger')({ format: ':method :url :status' }))
      app.use(ctx => { ctx.body = 'x'; if (ctx.path === '/2') ctx.onFinished(() => process.exit()) })
      app.listen(0, function () {
        const ask = path => require('http').get({ port: this.address().port, path, agent: false }, res => {
          res.resume().on('end', () => path === '/1' && ask('/2'))
        })
        ask('/1')
      })`], { cwd: __dirname, encoding: 'utf8' })
    assert.equal(stdout, 'GET /1 200\nGET /2 200\n')
  })

  it('should add one listener to the process for all loggers, and lose no line of any', () => {
    const { stdout, stderr } = spawnSync(process.execPath, ['-e', `
      const Kone = require('kone')
      const logger = require('kone/middleware/logger')
      const before = process.listenerCount('exit')
      const apps = Array.from({ length: 20 }, (_, i) => new Kone().use(logger({ format: i + ' :url' })).use(ctx => { ctx.body = 'x' }))
      console.log(process.listenerCount('exit') - before)
      let sent = 0
      for (const app of apps) app.fetch(new Request('http://localhost/')).then(() => ++sent === apps.length && process.exit())
    `], { cwd: __dirname, encoding: 'utf8' })
    assert.equal(stderr, '')
    assert.deepEqual(stdout.trim().split('\n'), ['1', ...Array.from({ length: 20 }, (_, i) => `${i} /`)])
  })
})

/** A logger that keeps its lines. */
function collector (lines) {
  const levels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal']
  return Object.fromEntries(levels.map(level => [level, line => lines.push({ level, line })]))
}

function fake (lines) {
  return { isLevelEnabled: () => true, log: (level, line) => lines.push(line) }
}
