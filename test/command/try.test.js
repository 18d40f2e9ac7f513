'use strict'

const { describe, it, before } = require('node:test')
const assert = require('node:assert/strict')
const { spawn } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const net = require('node:net')
const path = require('node:path')
const until = require('../helpers/until')
const { KONE, ROOT, project, scratch } = require('./project')

const { version } = require('kone/package.json')
const koa = require('koa/package.json').version

const { folder, write } = project(scratch())
for (const name of ['koa', 'koa3', '@koa/router']) {
  fs.mkdirSync(path.dirname(path.join(folder, 'node_modules', name)), { recursive: true })
  fs.symlinkSync(path.join(ROOT, 'node_modules', name), path.join(folder, 'node_modules', name), 'junction')
}

function begin (args, env) {
  return spawn(process.execPath, [KONE, 'try', ...args], {
    cwd: folder,
    env: { ...process.env, NODE_TEST_CONTEXT: undefined, NODE_OPTIONS: undefined, NODE_ENV: undefined, ...env }
  })
}

/** @return {Promise<{ code: number, out: string, err: string }>} */
async function tried (args, env) {
  const child = begin(args, env)
  const texts = [child.stdout, child.stderr].map(async stream => (await stream.setEncoding('utf8').toArray()).join(''))
  const [code] = await once(child, 'close')
  const [out, err] = await Promise.all(texts)
  return { code, out, err }
}

async function result (args) {
  const { code, out, err } = await tried([...args, '--json'])
  assert.notEqual(out, '', err)
  return { code, ...JSON.parse(out) }
}

const START = `
  const Koa = require('koa'), Router = require('@koa/router')
  const app = new Koa(), router = new Router(), isKone = typeof app.final === 'function'
`
const LISTEN = 'app.silent = true; app.use(router.routes()); app.listen(process.env.PORT || 3000)'

/* eslint-disable no-template-curly-in-string */
/** Path → a handler whose response is another on kone. */
const FAULTS = {
  '/status': 'ctx.status = isKone ? 201 : 200; ctx.body = "a"',
  '/reason': 'ctx.body = "a"; ctx.message = isKone ? "Okay" : "OK"',
  '/order': 'for (const name of isKone ? ["x-a", "x-b"] : ["x-b", "x-a"]) ctx.set(name, "1"); ctx.body = "a"',
  '/written': 'ctx.set(isKone ? "x-Field" : "X-Field", "1"); ctx.body = "a"',
  '/value': 'ctx.set("X-Field", isKone ? "1" : "2"); ctx.body = "a"',
  '/more': 'if (isKone) ctx.set("X-Field", "1"); ctx.body = "a"',
  '/less': 'if (!isKone) ctx.set("X-Field", "1"); ctx.body = "a"',
  '/twice': 'ctx.set("X-Field", isKone ? ["1"] : ["1", "2"]); ctx.body = "a"',
  '/byte': 'ctx.body = Buffer.from("some bytes" + (isKone ? "\\x01" : "\\x02"), "latin1")',
  '/large': 'ctx.body = Buffer.alloc(3e6, "a").fill(isKone ? "b" : "c", 2e6, 2e6 + 1)',
  '/member': 'ctx.body = { list: [1, { name: isKone ? "Ada" : "Bob", now: Date.now() }] }',
  '/members': 'ctx.body = isKone ? { a: 1, b: 2 } : { b: 2, a: 1 }',
  '/type': 'ctx.body = isKone ? { n: "1" } : { n: 1 }',
  '/word': 'ctx.body = `<p id="${Math.random()}">${isKone ? "hello" : "hallo"}</p>`',
  '/cookies': 'ctx.cookies.set("sid", String(Math.random())); if (!isKone) ctx.cookies.set("lang", "en"); ctx.body = "a"',
  '/cookie': 'ctx.cookies.set("lang", "en", { httpOnly: isKone }); ctx.body = "a"',
  '/late': 'if (isKone) setTimeout(() => ctx.set("X-Late", "1"), 5); else ctx.set("X-Late", "1"); ctx.body = "a"',
  '/closes': 'if (isKone) ctx.res.on("finish", () => ctx.req.socket.end()); ctx.body = "a"',
  '/cut': 'if (isKone) { ctx.respond = false; ctx.res.write("a"); setTimeout(() => ctx.res.destroy(), 5) } else ctx.body = require("stream").Readable.from(["a"])',
  '/location': 'ctx.redirect(isKone ? "/a" : "/b")'
}

/** Path → a handler whose responses change by themselves → what is not compared. */
const CHANGES = {
  '/counter': ['ctx.body = String(process.pid)', /place/],
  '/seconds': ['await new Promise(resolve => setTimeout(resolve, 50)); ctx.body = { at: Math.floor(Date.now() / 1000) }', /body\.at/],
  '/json-id': ['ctx.body = { id: Math.random().toString(36), fixed: 1 }', /body\.id/],
  '/html-id': ['ctx.type = "html"; ctx.body = `<i id="${Math.random()}">a</i><b>${new Date().toISOString()}</b>`', /place/],
  '/signed': ['app.keys = ["a"]; ctx.cookies.set("sid", String(Math.random()), { signed: true }); ctx.body = "a"', /cookie sid value, cookie sid\.sig value/],
  '/etag': ['ctx.etag = String(Math.random()); ctx.body = "a"', /field etag/],
  '/gzip': ['ctx.set("Content-Encoding", "gzip"); ctx.body = require("zlib").gzipSync(`now ${process.hrtime.bigint()}`)', /place/],
  '/shuffled': ['ctx.body = [1, 2, 3, 4, 5, 6, 7, 8].sort(() => Math.random() - 0.5)', /body/],
  '/lengths': ['ctx.body = { list: Array(1 + Math.floor(Math.random() * 50)).fill(0) }', /body\.list/],
  '/events': ['ctx.type = "text/event-stream"; const s = ctx.body = new (require("stream").PassThrough)(); s.write("data: 1\\n\\n")', null],
  '/download': ['ctx.body = require("stream").Readable.from((function * () { for (let i = 0; i < 100; i++) yield Buffer.alloc(1e6, i) })())', null]
}

/* eslint-enable no-template-curly-in-string */

const routes = handlers => Object.entries(handlers)
  .map(([path, code]) => `router.get(${JSON.stringify(path)}, async ctx => { ${code} })`).join('\n')

describe('kone try', { concurrency: 3 }, () => {
  before(() => {
    write('same.js', `${START}
      router.get('/', ctx => { ctx.body = { origin: ctx.origin, host: ctx.host } })
      router.get('/users/:id', ctx => { ctx.body = ctx.params })
      router.post('/users', ctx => { ctx.status = 201; ctx.body = { count: ++users } })
      let users = 0
      router.get('/moved', ctx => ctx.redirect('/'))
      router.get('/login', ctx => { ctx.cookies.set('user', 'ada'); ctx.body = ctx.cookies.get('user') ?? 'nobody' })
      router.get('/name', ctx => { ctx.body = ctx.cookies.get('user') ?? 'nobody' })
      ${LISTEN}`)
    write('faults.js', `${START} ${routes(FAULTS)}
      router.head('/head', ctx => { ctx.status = 200; if (isKone) { ctx.respond = false; ctx.req.socket.end('HTTP/1.1 200 OK\\r\\nContent-Length: 1\\r\\n\\r\\na') } else ctx.length = 1 })
      ${LISTEN}`)
    write('rubbish', Buffer.from([0, 1, 2, 255, 10, 200]))
    write('package.json', '{ "scripts": { "start": "node same.js" } }')
    write('changes.js', `${START} ${routes(Object.fromEntries(Object.entries(CHANGES).map(([path, [code]]) => [path, code])))}; ${LISTEN}`)
  })

  it('should say that an app responds the same', async () => {
    const { code, out } = await tried(['same.js'])
    const lines = out.split('\n')
    assert.equal(lines[0], `koa ${koa} and kone ${version} on Node ${process.versions.node}: 5 requests, each three times to both`)
    assert.equal(lines[1], '5 of 5 the same (200 ×3, 302, 404)')
    assert.match(out, /^not compared, because Koa differs from itself there: date$/m)
    assert.match(out, /\nwhat it saves: npx kone try --measure same\.js\n$/)
    assert.equal(code, 0)
  })

  it('should try any command', async () => {
    const { code, out } = await tried(['--', 'npm', 'start'])
    assert.match(out, /^5 of 5 the same/m)
    assert.match(out, /npx kone try --measure -- npm start\n$/)
    assert.equal(code, 0)
  })

  it('should try a command of one word', async () => {
    fs.writeFileSync(path.join(folder, 'start.sh'), '#!/bin/sh\nexec node same.js\n', { mode: 0o755 })
    const { code, out, err } = await tried(['--', './start.sh'])
    assert.match(out, /^5 of 5 the same/m, err)
    assert.match(out, /npx kone try --measure -- \.\/start\.sh\n$/)
    assert.equal(code, 0)
  })

  it('should find each of the faults', async () => {
    write('faults.txt', [...Object.keys(FAULTS).map(path => `GET ${path}`), 'HEAD /head', ''].join('\n'))
    const { code, requests, differences } = await result(['faults.js', '--requests', 'faults.txt'])
    const found = new Set(differences.map(({ request }) => request))
    assert.deepEqual([...Object.keys(FAULTS).map(path => `GET ${path}`), 'HEAD /head'].filter(request => !found.has(request)), [])
    assert.equal(requests, Object.keys(FAULTS).length + 1)
    assert.equal(code, 1)
    const { key, koa, kone } = differences.find(({ request }) => request === 'GET /member')
    assert.deepEqual([key, koa, kone], ['body.list[1].name', '"Bob"', '"Ada"'])
  })

  it('should find what comes with each tenth request alone', async () => {
    write('tenth.js', `${START} let n = 0; app.use((ctx, next) => { if (isKone && ++n % 10 === 0) ctx.status = 202; return next() })
      for (const path of ['/', '/a', '/b']) router.get(path, ctx => { ctx.body = 'a' })
      ${LISTEN}`)
    const { code, differences } = await result(['tenth.js'])
    assert.equal(code, 1)
    assert(differences.some(({ key, koa, kone }) => key === 'status' && koa === 200 && kone === 202))
  })

  it('should never find a difference in what changes by itself, and print what it did not compare', async () => {
    const { code, differences, masked } = await result(['changes.js'])
    assert.deepEqual(differences, [])
    assert.equal(code, 0)
    for (const [path, [, what]] of Object.entries(CHANGES)) {
      const names = masked.find(({ request }) => request === `GET ${path}`)?.what.join(', ') ?? ''
      if (what !== null) assert.match(names, what, path)
    }
  })

  it('should keep cookies, and send other methods with --all-methods alone', async () => {
    write('requests.txt', '# a comment\nGET /login\nGET /name\nPOST /users {"name":"Ada"}\n')
    const few = await tried(['same.js', '--requests', 'requests.txt'])
    assert.match(few.out, /^2 of 2 the same \(200 ×2\)$/m)
    assert.match(few.out, /^not sent: 1 request of other methods than GET and HEAD; --all-methods/m)
    const all = await result(['same.js', '--requests', 'requests.txt', '--all-methods'])
    assert.deepEqual(all.statuses, [200, 200, 201])
  })

  it('should send what a browser recorded', async () => {
    const entry = (method, url, more) => ({ request: { method, url, headers: [{ name: ':path', value: '/' }, { name: 'cookie', value: 'user=eve' }, { name: 'Host', value: 'x' }], ...more } })
    write('a.har', JSON.stringify({
      log: {
        entries: [
          entry('GET', 'http://localhost:3000/name?q=1'), entry('POST', 'http://localhost:3000/users', { postData: { text: '{}' } }), entry('GET', 'http://cdn.example/x.js')
        ]
      }
    }))
    assert.deepEqual((await result(['same.js', '--har', 'a.har', '--all-methods'])).statuses, [200, 201])
  })

  it('should advise to give a field if most responses refuse', async () => {
    write('guarded.js', `${START} app.use((ctx, next) => ctx.get('authorization') === 'let me in' ? next() : ctx.throw(401)); router.get('/', ctx => { ctx.body = 'a' }); ${LISTEN}`)
    assert.match((await tried(['guarded.js'])).out, /^most responses refuse the request, which proves little: give --header/m)
    const { out } = await tried(['guarded.js', '--header', 'authorization: let me in'])
    assert.match(out, /^2 of 2 the same \(200, 404\)$/m)
    assert(!out.includes('refuse'))
  })

  it('should choose one of two ports', async () => {
    write('ports.js', `${START} router.get('/', ctx => { ctx.body = 'a' }); ${LISTEN}; new Koa().listen(9100)`)
    const { code, err } = await tried(['ports.js'])
    assert.match(err, /^kone: the app on koa listens on 3000 and 9100: choose one with --port /)
    assert.equal(code, 2)
    assert.equal((await tried(['ports.js', '--port', '9100'])).code, 0)
  })

  for (const [name, code, message] of [
    ['an app that throws at its start', "throw new Error('no database')", /^kone: the app on koa ended before it listened \(exit code 1\).+\n[^]*no database/],
    ['an app that ends', "console.log('nothing to do')", /ended before it listened \(exit code 0\).+\n\n {2}nothing to do\n/],
    ['a file that only one process may hold', `${START} require('fs').writeFileSync('lock', '', { flag: 'wx' }); process.on('SIGTERM', () => { require('fs').rmSync('lock'); process.exit() }); ${LISTEN}`,
      /^kone: the app on koa again ended before it listened[^]*EEXIST/],
    ['an app of Koa 3', 'const app = new (require(\'koa3\'))(); app.listen(3000)', /^kone: the app on koa loads koa 3\.\d+\.\d+: use the kone of the same major version, kone@3 /],
    ['an app without Koa', "require('http').createServer((req, res) => res.end()).listen(3000)", /^kone: the app on koa loads no Koa/],
    ['an app that starts a cluster', `const cluster = require('cluster'); if (cluster.isPrimary) cluster.fork(); else { ${START} ${LISTEN} }`, /^kone: the app on koa starts a cluster of its own/]
  ]) {
    it(`should give a sentence, and exit code 2: ${name}`, async () => {
      const file = `${name.replaceAll(' ', '-')}.js`
      write(file, code)
      const { code: exit, out, err } = await tried([file])
      assert.match(err, message)
      assert.deepEqual([exit, out], [2, ''])
    })
  }

  for (const [args, message] of [
    [['missing.js'], /there is no file missing\.js/],
    [['same.js', '--requests', 'missing.txt'], /cannot read missing\.txt: ENOENT/],
    [['same.js', '--requests', 'rubbish'], /line 1 of rubbish is no request: expected GET \/path/],
    [['same.js', '--har', 'rubbish'], /rubbish is no HAR with requests/],
    [['same.js', '--har', 'package.json'], /package\.json is no HAR with requests/],
    [['same.js', '--header', 'nonsense'], /--header must be 'name: value', not "nonsense"/],
    [['same.js', '--port', '9'], /listens on 3000, not on 9/]
  ]) {
    it(`should refuse ${args.join(' ')}`, async () => {
      const { code, err } = await tried(args)
      assert.match(err, message)
      assert.match(err, /\(kone\/docs\/api\/\w+\.md\)/)
      assert.equal(code, 2)
    })
  }

  it('should leave no process behind, also after Ctrl-C, and use no port of the app', async () => {
    fs.copyFileSync(path.join(folder, 'same.js'), path.join(folder, 'left.js'))
    const server = net.createServer().listen(3000, '127.0.0.1') // the app's own port is in use
    await Promise.race([once(server, 'listening'), once(server, 'error')])
    const child = begin(['--', 'sh', '-c', 'node left.js & wait'])
    const running = () => fs.readdirSync('/proc').filter(pid => {
      try {
        return /^\d+$/.test(pid) && fs.readFileSync(`/proc/${pid}/cmdline`, 'latin1') === 'node\0left.js\0' && fs.readlinkSync(`/proc/${pid}/cwd`) === folder
      } catch {
        return false
      }
    })
    if (process.platform === 'linux') await until(() => running().length === 3)
    child.kill('SIGINT')
    const [code] = await once(child, 'close')
    server.close()
    assert.equal(code, 130)
    if (process.platform === 'linux') assert.deepEqual(running(), [])
  })

  it('should measure what kone saves beside what Koa differs from Koa', async () => {
    const { code, out, err } = await tried(['same.js', '--measure', '--seconds', '2', '--only', '/*'])
    assert.equal(code, 0, err)
    assert.match(err, /^measures (?:GET \/\w*, )+the mix: up to [\d,]+ requests, 2 s each\n/)
    assert.match(out, /^ +kone ÷ Koa +Koa ÷ Koa +Koa, µs +kone, µs$/m)
    assert.match(out, /^the mix +\d\.\d\d \(\d+\.\d\d–\d+\.\d\d\) +\d\.\d\d \(\d+\.\d\d–\d+\.\d\d\) +\d+\.\d +\d+\.\d/m)
    assert.match(out, /^not measured, because the response is no success: GET \/moved: 302; GET \/kone-try-missing: 404$/m)
    assert.match(out, /^where the time goes on kone, the mix: .*node and the kernel \d+ %/m)
  })

  it('should end a measurement whose status changes', async () => {
    write('limited.js', `${START} let n = 0; router.get('/limited', ctx => { if (++n > 100) ctx.status = 429; else ctx.body = 'a' }); ${LISTEN}`)
    const { out } = await tried(['limited.js', '--measure', '--seconds', '1'])
    assert.match(out, /^GET \/limited: not measured: koa: its status became 429 \(it was 200\)$/m)
  })
})
