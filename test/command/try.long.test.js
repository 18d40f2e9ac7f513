'use strict'

const { after, before, describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { spawn } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const net = require('node:net')
const path = require('node:path')
const { byPackage } = require('../../command/try/profile')
const { makeCertificate } = require('../../benchmarks/lib/servers/certificate')
const { long } = require('../helpers/share')
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
  const { error, ...result } = JSON.parse(out)
  assert.equal(error, undefined)
  return { code, ...result }
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

/** Of these, each tenth request. */
const TENTHS = ['/1', '/2', '/3', '/4']

/** Path → a handler whose response differs on purpose → the row of MIGRATION.md that is printed. */
const KNOWN = {
  '/script': ['ctx.redirect("javascript:alert(1)")', /^`ctx\.redirect\(.*: on Koa redirects; on kone throws \(kone\/MIGRATION\.md\)$/],
  '/protocol': ['app.proxy = true; ctx.body = ctx.protocol', /^`ctx\.protocol`/],
  '/null': ['ctx.body = null; ctx.status = 401', /^`ctx\.body = null`/],
  '/short': ['ctx.body = "abcdef"; ctx.set("Content-Length", "3")', /^a wrong `Content-Length`/],
  '/both': ['ctx.body = "abcdef"; ctx.set("Transfer-Encoding", "chunked")', /^a wrong `Content-Length`/],
  '/stream': ['ctx.body = require("stream").Readable.from(["abc", "def"]); ctx.length = 3', /^a stream that is longer/],
  '/attachment': ['ctx.type = "text/plain"; ctx.attachment("a.csv"); ctx.body = "a"', /^`ctx\.attachment/]
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
  '/download': [`ctx.body = require("stream").Readable.from((function * () { for (let i = 0; i < ${long(10, 100)}; i++) yield Buffer.alloc(1e6, i) })())`, null],
  '/loop': ['ctx.redirect("/loop")', null],
  ...long({}, { '/hangs': ['await new Promise(() => {})', null] })
}

/* eslint-enable no-template-curly-in-string */

const codes = rows => Object.fromEntries(Object.entries(rows).map(([path, [code]]) => [path, code]))
const routes = handlers => Object.entries(handlers)
  .map(([path, code]) => `router.get(${JSON.stringify(path)}, async ctx => { ${code} })`).join('\n')

describe('kone try', { concurrency: 3 }, () => {
  before(async () => {
    const same = `
      router.get('/', async ctx => { ctx.body = { origin: ctx.origin, host: ctx.host, own: await (await fetch('http://localhost:3000/users/1')).json() } })
      router.get('/users/:id', ctx => { ctx.body = ctx.params })
      router.post('/users', ctx => { ctx.status = 201; ctx.body = { count: ++users } })
      router.post('/bytes', async ctx => { ctx.status = Buffer.concat(await ctx.req.toArray()).equals(Buffer.from([0, 255, 10])) ? 201 : 400 })
      let users = 0
      router.get('/moved', ctx => ctx.redirect('/'))
      router.get('/login', ctx => { ctx.cookies.set('user', 'ada'); ctx.body = ctx.cookies.get('user') ?? 'nobody' })
      router.get('/name', ctx => { ctx.body = ctx.cookies.get('user') ?? 'nobody' })
      ${LISTEN}`
    write('same.js', START + same)
    write('same.mjs', START.replace("const Koa = require('koa'), Router = require('@koa/router')", "import Koa from 'koa'; import Router from '@koa/router'") + same)
    write('faults.js', `${START} let n = 0
      router.get('/ends', ctx => { if (isKone) process.exit(3); ctx.body = 'a' })
      router.get('/throws', () => { throw Object.assign(new Error(), { headers: { 'a b': '1' } }) })
      for (const path of ${JSON.stringify(TENTHS)}) router.get(path, ctx => { if (isKone && ++n % 10 === 0) ctx.status = 202; ctx.body = 'a' })
      ${routes({ ...FAULTS, ...codes(KNOWN) })}
      router.head('/head', ctx => { ctx.status = 200; if (isKone) { ctx.respond = false; ctx.req.socket.end('HTTP/1.1 200 OK\\r\\nContent-Length: 1\\r\\n\\r\\na') } else ctx.length = 1 })
      ${LISTEN}`)
    write('changes.js', `${START} ${routes(codes(CHANGES))}; ${LISTEN}`)
    write('rubbish', Buffer.from([0, 1, 2, 255, 10, 200]))
    write('package.json', '{ "scripts": { "start": "node same.js" } }')
    write('start.sh', '#!/bin/sh\nexec node same.mjs\n')
    fs.chmodSync(path.join(folder, 'start.sh'), 0o755)
    await makeCertificate(folder)
  })

  after(() => assert(!fs.existsSync(path.join(folder, 'node_modules/.cache')))) // it writes nothing

  it('should say that an app responds the same', async () => {
    const { code, out } = await tried(['same.js'])
    const lines = out.split('\n')
    assert.equal(lines[0], `koa ${koa} and kone ${version} on Node ${process.versions.node}: 5 requests, each three times to both`)
    assert.equal(lines[1], '5 of 5 the same (200 ×3, 302, 404)')
    assert.match(out, /^not compared, because Koa differs from itself there: date$/m)
    assert.match(out, /\nwhat it saves: npx kone try --measure same\.js\n$/)
    assert.equal(code, 0)
  })

  it('should try any command, keep cookies, and send GET and HEAD alone', async () => {
    write('requests.txt', '\ufeff# a comment\nGET /login\nGET /name?of=Zoë\nPOST /users {"name":"Ada"}\n')
    const { code, out, err } = await tried(['--requests', 'requests.txt', '--', 'npm', 'start'])
    assert.match(out, /^2 of 2 the same \(200 ×2\)$/m)
    assert.match(out, /^not sent: 1 request of other methods than GET and HEAD; --all-methods/m)
    assert.match(out, /npx kone try --measure -- npm start\n$/)
    assert.deepEqual([code, err], [0, ''])
  })

  it('should send what a browser recorded, other methods with --all-methods, to a command of one word, and an ES module', async () => {
    const entry = (method, url, more) => ({ request: { method, url, headers: [{ name: ':path', value: '/' }, { name: 'cookie', value: 'user=eve' }, { name: 'Host', value: 'x' }], ...more } })
    write('a.har', JSON.stringify({
      log: {
        entries: [
          entry('GET', 'http://localhost:3000/name?q=1'), entry('POST', 'http://localhost:3000/users', { postData: { text: '{}' } }),
          // Chromium: the bytes of what is no text as characters
          entry('POST', 'http://localhost:3000/bytes', { headers: [{ name: 'Content-Length', value: '3' }], postData: { text: '\x00ÿ\n' } }), entry('GET', 'http://cdn.example/x.js')
        ]
      }
    }))
    const { code, out, err } = await tried(['--har', 'a.har', '--all-methods', '--', './start.sh'])
    assert.match(out, /^3 of 3 the same \(200, 201 ×2\)$/m, err)
    assert.match(out, /npx kone try --measure -- \.\/start\.sh\n$/)
    assert.deepEqual([code, err], [0, 'sends POST to three processes, which really do what they ask for\n'])
  })

  it('should find each of the faults, and say which differences are known', async () => {
    const all = [...Object.keys(FAULTS), ...Object.keys(KNOWN)].map(path => `GET ${path}`).concat('HEAD /head')
    const tenths = TENTHS.map(path => `GET ${path}`)
    write('faults.txt', `${all.concat(tenths).join('\n')}\n`)
    const { code, requests, differences } = await result(['faults.js', '--requests', 'faults.txt', '--header', 'x-forwarded-proto: HTTPS'])
    assert.deepEqual(all.filter(one => !differences.some(({ request }) => request === one)), [])
    assert.deepEqual([code, requests], [1, all.length + tenths.length])
    assert(differences.some(({ request, key, koa, kone }) => tenths.includes(request) && key === 'status' && koa === 200 && kone === 202))
    const of = path => differences.filter(({ request }) => request === `GET ${path}`)
    const { key, koa, kone } = of('/member')[0]
    assert.deepEqual([key, koa, kone], ['body.list[1].name', '"Bob"', '"Ada"'])
    for (const [path, [, row]] of Object.entries(KNOWN)) for (const { key, known } of of(path)) assert.match(known, row, `${path}: ${key}`)
    for (const path of Object.keys(FAULTS)) for (const { key, known } of of(path)) assert.equal(known, null, `${path}: ${key}`)
  })

  it('should print ten differences, and what explains several of one response once; start again what a request has ended', async () => {
    write('few.txt', 'GET /ends\nGET /throws\nGET /order\nGET /null\nGET /script\n')
    const { code, out } = await tried(['faults.js', '--requests', 'few.txt'])
    assert.equal(code, 1)
    assert.match(out, /^0 of 5 the same \(200 ×2, none, 401, 302\)\nno response to compare: GET \/throws: its process ended \(exit code 1\)\n/m)
    assert.match(out, /\n\nGET \/ends: failure\n {2}- koa {3}responds 200\n {2}\+ kone {2}its process ended \(exit code 3\)\n\n/)
    assert.match(out, /\n {2}\+ kone {2}responds 500\n {2}known: `throw null`, errors with invalid `headers`.*: on Koa the request hangs, or the process ends; on kone responds 500/)
    assert.match(out, /\n\nGET \/order: order of fields\n {2}- koa {3}.*x-b, field x-a.*\n {2}\+ kone {2}.*x-a, field x-b.*\n\n/)
    assert.equal(out.match(/^ {2}\+ kone {2}/gm).length, 10)
    assert.equal(out.match(/^ {2}known: /gm).length, 3)
    assert.match(out, /\n\nand 1 more: --json has all\n/)
  })

  it('should never find a difference in what changes by itself, and print what it did not compare', async () => {
    const { code, differences, masked, failed } = await result(['changes.js'])
    assert.deepEqual(differences, [])
    assert.equal(code, 0)
    for (const [path, [, what]] of Object.entries(CHANGES)) {
      const names = masked.find(({ request }) => request === `GET ${path}`)?.what.join(', ') ?? ''
      if (what !== null) assert.match(names, what, path)
    }
    assert.deepEqual(failed, long([], [{ request: 'GET /hangs', failure: 'no response within 10 s' }]))
  })

  it('should choose one of two ports, and say what to give if most responses refuse, or none is of a route', async () => {
    // what is no server of HTTP listens where it would; the second one comes late
    write('ports.js', `${START} router.get('/', ctx => { ctx.body = 'a' }); new Koa().listen(9100)
      const probe = require('net').createServer().listen('probe.sock', () => { if (probe.address() !== 'probe.sock') process.exit(9) })
      probe.once('listening', () => probe.close()); setTimeout(listen, process.env.LATE)
      function listen () { app.use(ctx => ctx.throw(401)); ${LISTEN} }`)
    const { code, err } = await tried(['ports.js'])
    assert.match(err, /^kone: the app on koa listens on 9100 and 3000: choose one with --port /)
    assert.equal(code, 2)
    assert.match((await tried(['ports.js', '--port', '3000'], { LATE: '700' })).out, /^most responses refuse the request, which proves little: give --header/m)
    const { out } = await tried(['ports.js', '--port', '9100'])
    assert.match(out, /^2 of 2 the same \(404 ×2\)\n.*\nnothing but 404 was compared, which proves little: give --requests or --har\n/m)
  })

  it('should try servers of TLS and of HTTP/2', async () => {
    write('secure.js', `${START}
      const tls = { key: require('fs').readFileSync('key.pem'), cert: require('fs').readFileSync('cert.pem') }
      router.get('/', ctx => { ctx.cookies.set('a', 'b', { secure: ctx.secure }); ctx.body = { origin: ctx.origin, version: ctx.req.httpVersion } })
      router.get('/fault', ctx => { ctx.body = { text: ctx.req.httpVersion + (isKone ? ' kone' : ' Koa') } })
      app.silent = true; app.use(router.routes())
      require('https').createServer(tls, app.callback()).listen(8443)
      require('http2').createSecureServer({ ...tls, allowHTTP1: true }, app.callback()).listen(9443)`)
    for (const [port, version] of [['8443', '1.1'], ['9443', '2.0']]) {
      const { differences, statuses } = await result(['secure.js', '--port', port])
      const words = differences.filter(({ key }) => !key.startsWith('field'))
      assert.deepEqual(words.map(({ request, koa, kone }) => [request, koa, kone]), [['GET /fault', `"${version} Koa"`, `"${version} kone"`]])
      assert.deepEqual(statuses, [200, 200, 404])
    }
  })

  for (const [name, code, message] of [
    ['an app that throws at its start', "throw new Error('no database')", /^kone: the app on koa ended before it listened \(exit code 1\).+\n[^]*no database/],
    ['an app that ends', "console.log('nothing to do')", /ended before it listened \(exit code 0\).+\n\n {2}nothing to do\n/],
    ['a file that only one process may hold', `${START} require('fs').writeFileSync('lock', '', { flag: 'wx' }); process.on('SIGTERM', () => { require('fs').rmSync('lock'); process.exit() }); ${LISTEN}`,
      /^kone: the app on koa again ended before it listened[^]*EEXIST/],
    ['an app of Koa 3', 'const app = new (require(\'koa3\'))(); app.listen(3000)', /^kone: the app on koa loads koa 3\.\d+\.\d+: use kone@3 /],
    ['an app that responds to nothing', `${START} app.use(ctx => { ctx.respond = false; ctx.req.socket.destroy() }); ${LISTEN}`,
      /^kone: no request got a response: GET \/: the connection failed \(ECONNRESET\) /],
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
    [['same.js', '--har', 'bad.har'], /bad\.har is no HAR with requests/],
    [['same.js', '--requests', 'post.txt'], /there is no request to send: --all-methods sends the 1 of other methods than GET and HEAD/],
    [['same.js', '--seconds', 'ten'], /--seconds must be a positive number, not ten/],
    [['same.js', '--all'], /--all is about --measure: give both/],
    [['same.js', '--requests', 'post.txt', '--har', 'bad.har'], /--requests and --har are two sources of requests: give one/],
    [['same.js', '--', 'npm', 'start'], /npm is one argument too many: kone try <file> \[flags\], or kone try \[flags\] -- <command> /],
    [['same.js', '--header', 'nonsense'], /--header must be 'name: value', not "nonsense"/],
    [['same.js', '--port', '9'], /listens on 3000, not on 9/],
    [['same.js', '--measures'], /unknown flag --measures: did you mean --measure\?/],
    [[], /no file was given: kone try <file>/]
  ]) {
    it(`should refuse ${args.join(' ') || 'no file'}`, async () => {
      write('bad.har', '{ "log": { "entries": [{ "request": { "url": "nowhere" } }] } }')
      write('post.txt', 'POST /users {}')
      const { code, err } = await tried(args)
      assert.match(err, message)
      assert.match(err, /\((?:kone\/docs\/api\/\w+\.md|see kone try --help)\)/)
      assert.equal(code, 2)
    })
  }

  it('should count what a program has compiled for the package that calls it', () => {
    const node = (id, functionName, url, children, scriptId = '7') => ({ id, callFrame: { functionName, url, scriptId }, children })
    const nodes = [
      node(1, '(root)', '', [2, 5], '0'), node(2, 'render', 'file:///app/node_modules/nunjucks/index.js', [3]),
      node(3, 'root', '', [4]), node(4, 'map', '', undefined, '0'), node(5, '(idle)', '', undefined, '0')
    ]
    assert.deepEqual(byPackage({ nodes, samples: [2, 3, 4, 5], timeDeltas: [10, 20, 10, 50] }), { nunjucks: 0.75, node: 0.25 })
  })

  it('should leave no process behind, also after Ctrl-C, and use no port of the app', async () => {
    fs.copyFileSync(path.join(folder, 'same.js'), path.join(folder, 'left.js'))
    const server = net.createServer().listen(3000, '127.0.0.1') // the app's own port is in use
    await Promise.race([once(server, 'listening'), once(server, 'error')])
    const isLinux = process.platform === 'linux'
    const child = begin(['--', 'sh', '-c', `node left.js & ${isLinux ? 'setsid node left.js & ' : ''}wait`]) // setsid: leaves the group
    const printed = child.stderr.setEncoding('utf8').toArray()
    const running = () => fs.readdirSync('/proc').filter(pid => {
      try {
        return /^\d+$/.test(pid) && fs.readFileSync(`/proc/${pid}/cmdline`, 'latin1') === 'node\0left.js\0' && fs.readlinkSync(`/proc/${pid}/cwd`) === folder
      } catch {
        return false
      }
    })
    if (isLinux) await until(() => running().length === 6)
    for (let i = 0; i < 2; i++) child.kill('SIGINT')
    const [code] = await once(child, 'close')
    server.close()
    assert.deepEqual([code, await printed], [130, []])
    if (isLinux) await until(() => running().length === 0)
  })

  it('should measure what kone saves beside what Koa differs from Koa, say why it is not more, and end where a status changes', async () => {
    write('measured.js', `${START} const sockets = new Set()
      router.get('/limited', ctx => { if (sockets.add(ctx.socket).size > 60) ctx.status = 429; else ctx.body = 'a' }) // once it is measured
      for (const path of ['/', '/a']) router.get(path, ctx => { ctx.body = 'a' })
      router.get('/moved', ctx => ctx.redirect('/'))
      let burnt = 0
      const burn = count => { let n = burnt; for (let i = 0; i < count; i++) n = Math.imul(n, 31) + i | 0; burnt = n }
      for (let i = 0; i < 50; i++) burn(1e6) // V8 has compiled it before the first round
      router.get('/burns', ctx => { burn(isKone ? 1e5 : 1e6); ctx.body = 'a' })
      const { writeHead } = require('http').ServerResponse.prototype
      require('http').ServerResponse.prototype.writeHead = function (...args) { return writeHead.apply(this, args) }
      ${LISTEN}`)
    write('measured.txt', 'GET /limited\nGET /\nHEAD /a\nGET /burns\nGET /moved\nGET /missing\n')
    const { code, out, err } = await tried(['measured.js', '--measure', '--seconds', '0.2', '--only', '/*', '--requests', 'measured.txt', '--header', 'host: x'])
    assert.equal(code, 0, err)
    assert.match(err, /^sends 200 requests or more each to GET \/limited, GET \/, HEAD \/a, GET \/burns, for 0\.5 s: .*\nmeasures (?:(?:GET|HEAD) \/\w*, )+the mix: some [\d,]+ requests, 0.2 s each\n$/)
    assert.match(out, /^CPU time .*50 kept connections of raw sockets/m)
    assert.match(out, /^ +kone ÷ Koa +Koa ÷ Koa +Koa, µs +kone, µs$/m)
    assert.match(out, /^the mix +\d\.\d\d \(\d+\.\d\d–\d+\.\d\d\) +\d\.\d\d \(\d+\.\d\d–\d+\.\d\d\) +\d+\.\d +\d+\.\d/m)
    const [, kone, koa] = /^GET \/burns +(\d\.\d\d) \(\S+\) +(\d\.\d\d) \(/m.exec(out).map(Number)
    assert(kone < 0.65 * koa, `a tenth of the loop: ${out}`) // the rest of a request costs a fifth of the loop, and more in a new process
    assert.match(out, /^GET \/limited: not measured: koa: its status became 429 \(it was 200\)$/m)
    assert.match(out, /^not measured, because the response is no success: GET \/moved: 302; GET \/missing: 404$/m)
    assert.match(out, /^node:http serves in place of kone's front, because of patched methods of http.IncomingMessage/m)
    assert.match(out, /^where the time goes on kone, the mix: .*node and the kernel \d+ %/m)
  })
})
