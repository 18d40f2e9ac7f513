'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { spawn } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const net = require('node:net')
const os = require('node:os')
const path = require('node:path')
const { BOTH } = require('../cluster/instance')
const { start } = require('../helpers/child')
const until = require('../helpers/until')
const { onFreePort } = require('../helpers/ports')
const { KONE, ROOT, project, scratch } = require('./project')

const { version } = require('kone/package.json')
const stripsTypes = Boolean(process.features.typescript) ||
  process.allowedNodeEnvironmentFlags.has('--experimental-strip-types')

const APP = `
const Kone = require('kone')
const Router = require('kone/middleware/router')
const app = module.exports = new Kone({ odd: true })
const router = new Router({ prefix: '/api' })
router.get('/users/:id', function check (ctx, next) { return next() }, function show (ctx) { ctx.body = ctx.params.id })
router.post('/users', function add (ctx) { ctx.status = 201 })
router.get('/broken', function broken () { throw new Error('no <bread>') })
router.all('/any', function any (ctx) { ctx.body = ctx.method })
app.use(async function timing (ctx, next) { await next() })
app.use(router.routes())
`
const ROUTES = [
  'GET   /api/users/:id  check, show',
  'POST  /api/users      add',
  'GET   /api/broken     broken',
  '*     /api/any        any'
]

const { folder, write, kone, dev } = project(scratch())
write('app.js', APP)
write('empty.js', '')
write('unexported.js', "const app = new (require('kone'))()\napp.use(ctx => { ctx.body = 'hi' })\n")
write('misspelt.js', "new (require('kone'))({ kyes: ['a'] })")

/** One line, exit code 1, and where to read on. */
async function refused (args, ...parts) {
  const { code, out, err } = await kone(...args)
  assert.deepEqual([code, out, err.length], [1, [], 1], `${args.join(' ')}: ${err.join('\n')}`)
  assert.match(err[0], /^kone: /)
  for (const part of parts) assert(err[0].includes(part), `no ${part} in: ${err[0]}`)
  return err[0]
}

function hasPage (line) {
  const text = line.replace(/ \(\S+\.js:\d+:\d+\)$/, '') // the place
  const [, page, command] = /\((?:kone\/(docs\/[\w/]+\.md)|see kone(?: (\w+))? --help)\)$/.exec(text) ?? []
  assert(page ? fs.existsSync(path.join(ROOT, page)) : command === undefined || text.includes(command), `no page in: ${text}`)
  assert.match(text, /\)$/)
}

describe('kone', () => {
  it('should list its commands, and each command its flags', async () => {
    for (const args of [[], ['--help'], ['-h']]) {
      const { code, out } = await kone(...args)
      assert.equal(code, 0)
      for (const name of ['dev', 'routes', 'doctor', 'start', 'reload', 'status', 'stop']) {
        assert(out.some(text => text.includes(`kone ${name}`)), name)
      }
    }
    const { code, out } = await kone('start', '--help')
    assert.equal(code, 0)
    for (const flag of ['--port', '--instances', '--cluster', '--drain-timeout', '--reuse-port']) {
      assert(out.some(text => text.includes(flag)), flag)
    }
    assert.deepEqual((await kone('--version')).out, [version])
  })

  // what is typed, what was given, what is expected
  for (const [typed, ...parts] of [
    ['strat app.js', 'unknown command strat', 'did you mean start? (see kone --help)'],
    ['xyzzy', 'unknown command xyzzy', 'expected dev, routes, doctor, try, start, reload, status, stop'],
    ['--verson', 'unknown flag --verson', 'did you mean --version?'],
    ['-x', 'unknown flag -x', 'expected --help, --version'],
    ['start --prot 1 app.js', 'unknown flag --prot', 'did you mean --port? (see kone start --help)'],
    ['routes --xyzzy app.js', 'unknown flag --xyzzy', 'expected --json, --help'],
    ['status --port', '--port', 'needs a value: <number|path>'],
    ['start app.js --cluster=', '--cluster', 'needs a value: <pm2|node>'],
    ['routes --json=1 app.js', 'not 1', '--json takes no value'],
    ['start', 'no file was given', 'kone start <file> [flags]'],
    ['dev', 'no file was given', 'kone dev <file> [flags]'],
    ['stop app.js', 'app.js is one argument too many', 'kone stop [flags]'],
    ['routes app.js b.js', 'b.js is one argument too many', 'kone routes <file> [flags]'],
    ...['start', 'dev', 'routes'].map(name => [`${name} nope.js`, 'there is no file nope.js', 'name the one that makes the app']),
    ['routes empty.js', 'empty.js makes no Kone app', 'expected one new Kone()'],
    ['routes unexported.js', 'unexported.js exports neither an app', 'nothing listens: export the app'],
    ['routes misspelt.js', 'options.kyes is unknown', 'did you mean `keys`?'],
    ['dev app.js --port many', "not 'many'", 'PORT must be a whole number from 1 to 65535'],
    ['start app.js --port many', "not 'many'", 'PORT must be a whole number from 1 to 65535'],
    ['start app.js --instances 0', 'not 0', 'INSTANCES must be a whole number from 1 to 1024'],
    ['start app.js --drain-timeout 1s', "not '1s'", 'DRAIN_TIMEOUT must be a whole number from 0'],
    ['start app.js --cluster pm3', "not 'pm3'", "KONE_CLUSTER must be 'pm2' or 'node'"]
  ]) {
    it(`should refuse ${typed} in one line that says where to read on`, async () => {
      hasPage(await refused(typed.split(' '), ...parts))
    })
  }
})

describe('kone routes', () => {
  it('should list method, path and middleware names', async () => {
    assert.deepEqual(await kone('routes', 'app.js'), { code: 0, out: ['every request: timing', ...ROUTES], err: [] })
  })

  it('should show where a function without a name is', async () => {
    write('anonymous.js', `
const router = require('kone/middleware/router')()
router.get('/', (ctx, next) => next(), async ctx => {
  ctx.body = 'a'
})
module.exports = new (require('kone'))().use(router.routes())
`)
    assert.deepEqual((await kone('routes', 'anonymous.js')).out, ['GET  /  (anonymous at anonymous.js:3), (anonymous at anonymous.js:3)'])
  })

  it('should list them as JSON', async () => {
    const { out } = await kone('routes', 'app.js', '--json')
    const { middleware, routes } = JSON.parse(out.join('\n'))
    assert.deepEqual(middleware, ['timing'])
    assert.deepEqual(routes[0], { method: 'GET', path: '/api/users/:id', middleware: ['check', 'show'] })
    assert.equal(routes.length, 4)
  })

  it('should print the whole JSON to a pipe, and what the app prints elsewhere', async () => {
    write('many.js', `
console.log('connecting')
const router = require('kone/middleware/router')()
for (let i = 0; i < 4000; i++) router.get('/' + i, function show () {})
module.exports = new (require('kone'))().use(router.routes())
`)
    const { code, out, err } = await kone('routes', 'many.js', '--json')
    assert.deepEqual([code, err], [0, ['connecting']])
    assert.equal(JSON.parse(out.join('\n')).routes.length, 4000)
    assert.deepEqual((await kone('routes', 'many.js')).out.slice(0, 2), ['connecting', 'GET  /0     show'])
  })

  it('should list the routes of all apps that a file makes', async () => {
    const source = `
const Kone = require('kone')
const routes = path => require('kone/middleware/router')().get(path, function show () {}).routes()
const app = new Kone().use(routes('/'))
const api = new Kone().use(routes('/users'))
app.use((ctx, next) => require('kone/compose')(api.middleware)(ctx, next)) // what koa-mount does
`
    for (const end of ['module.exports = app', 'app.listen(4000)']) {
      write('mounts.js', source + end)
      assert.deepEqual((await kone('routes', 'mounts.js')).out.filter(line => line.startsWith('GET')), ['GET  /       show', 'GET  /users  show'], end)
    }
  })

  it('should know an app that listens itself or is an ES module, and let nothing listen', async () => {
    const server = net.createServer().listen(0)
    await once(server, 'listening')
    write('listens.js', `${APP}\ndelete module.exports\nmodule.exports = {}\napp.listen(${server.address().port})`)
    assert.deepEqual((await kone('routes', 'listens.js')).out.slice(1), ROUTES)
    server.close()

    write('app.mjs', "import Kone from 'kone'\nexport default new Kone()\nawait 0\n")
    assert.deepEqual(await kone('routes', 'app.mjs'), { code: 0, out: ['no routes'], err: [] })

    write('waits.mjs', "import Kone from 'kone'\nconst app = new Kone()\nawait new Promise(resolve => app.listen(4000, resolve))\nexport default app\n")
    assert.deepEqual(await kone('routes', 'waits.mjs'), { code: 0, out: ['no routes'], err: [] })
  })

  it('should know what a compiler made of an ES module, also where import() loads it', async () => {
    const compiled = "exports.__esModule = true\nexports.default = new (require('kone'))()\n"
    write('compiled.js', compiled)
    write('commented.js', `/*\nimport Kone from 'kone'\n*/\n${compiled}`)
    for (const file of ['compiled.js', 'commented.js']) assert.deepEqual(await kone('routes', file), { code: 0, out: ['no routes'], err: [] }, file)
  })

  it('should say in one line what an app throws', async () => {
    write('throws.js', "throw new Error('no\\nbread')")
    assert.equal(await refused(['routes', 'throws.js']), 'kone: no bread (throws.js:1:7)')
    const waits = '\nawait new Promise(resolve => setTimeout(resolve, 5000))'
    write('late.mjs', `setImmediate(() => { throw new Error('no bread') })${waits}`)
    assert.equal(await refused(['routes', 'late.mjs']), 'kone: no bread (late.mjs:1:28)')
    write('rejects.mjs', `Promise.reject(new Error('no bread'))${waits}`)
    assert.equal(await refused(['routes', 'rejects.mjs']), 'kone: no bread (rejects.mjs:1:16)')
    write('syntax.js', 'const = 1')
    assert.match(await refused(['routes', 'syntax.js']), /^kone: Unexpected token '=' \(syntax\.js:1:7\)$/)
  })

  it('should run TypeScript where node does', async () => {
    write('app.ts', "import Kone from 'kone'\nconst app: Kone = new Kone()\nexport default app\n")
    if (!stripsTypes) return refused(['routes', 'app.ts'], 'app.ts is TypeScript, which Node ', ' does not run: install esbuild or tsx')
    const { code, out } = await kone('routes', 'app.ts')
    assert.deepEqual([code, out], [0, ['no routes']])
  })
})

describe('kone dev', () => {
  const html = { headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' } }

  it('should print routes and the URL, and serve', async t => {
    const child = await dev(t, 'app.js')
    assert.equal(await (await fetch(`${child.url}/api/users/7`)).text(), '7')
    const printed = child.output().split('\n')
    for (const text of ROUTES) assert(printed.includes(text), child.output())
  })

  it('should show an error and its place to a browser, and nothing to others', async t => {
    const child = await dev(t, 'app.js')
    const page = await fetch(`${child.url}/api/broken`, html)
    assert.equal(page.status, 500)
    assert.equal(page.headers.get('content-type'), 'text/html; charset=utf-8')
    const text = await page.text()
    assert.match(text, /<h1>Error: no &lt;bread&gt;<\/h1>/)
    assert.match(text, /<mark>.*throw new Error/)
    assert(!text.includes('<bread>'))
    const plain = await fetch(`${child.url}/api/broken`)
    assert.deepEqual([plain.status, await plain.text()], [500, 'Internal Server Error'])
    await until(() => child.output().split('Error: no <bread>').length > 2) // both were reported
  })

  it('should show no errors in production', async t => {
    const child = await dev(t, 'app.js', { env: { NODE_ENV: 'production' } })
    const res = await fetch(`${child.url}/api/broken`, html)
    assert.equal(await res.text(), 'Internal Server Error')
  })

  it('should restart when a file changes, also after one that failed', async t => {
    const source = text => `const app = module.exports = new (require('kone'))()\napp.use(ctx => { ctx.body = '${text}' })\n`
    write('part.js', "module.exports = 'one'")
    write('changing.js', `const part = require('./part')\n${source("' + part + '")}`)
    const child = await dev(t, 'changing.js')
    const text = () => fetch(child.url).then(res => res.text(), () => null)
    assert.equal(await text(), 'one')
    write('part.js', "throw new Error('no bread')")
    await until(() => child.output().includes('kone: no bread'))
    write('part.js', "module.exports = 'two'")
    await until(async () => await text() === 'two')
  })

  it('should serve what listens itself, a function and a server', async t => {
    const sources = {
      listens: "const app = new (require('kone'))()\napp.use(ctx => { ctx.body = 'hi' })\napp.listen(process.env.PORT)",
      function: "module.exports = (req, res) => res.end('hi')",
      server: "module.exports = require('node:http').createServer((req, res) => res.end('hi'))"
    }
    for (const [name, source] of Object.entries(sources)) {
      write(`${name}.js`, source)
      const child = await dev(t, `${name}.js`)
      assert.equal(await (await fetch(child.url)).text(), 'hi', name)
      await child.stop()
    }
  })

  it('should give an app that listens itself the port that it would take', async t => {
    write('own.js', "require('node:http').createServer((req, res) => res.end(process.env.PORT)).listen(0)")
    for (const [env, expected] of [[{ PORT: undefined }, '4000'], [{ PORT: '8080' }, '8080']]) {
      const child = await start([KONE, 'dev', 'own.js'], env, folder)
      assert.equal(await (await fetch(child.url)).text(), expected)
      await child.stop()
    }
  })

  it('should say that what a file exports listens already', async t => {
    write('late.js', BOTH)
    const child = await dev(t, 'late.js')
    await until(() => /^kone: port \d+ is in use: the file listens there twice/m.test(child.output()))
  })

  // it stays, and waits for a change of the file
  for (const [title, typed, ...parts] of [
    ['an address of another machine', 'app.js --host 192.0.2.1', 'cannot listen', '--host or HOST must be an address of this machine'],
    ['a port that is in use', 'app.js', 'is in use: end what listens there, or set PORT'],
    ['an option that no app has', 'app.js', 'new Kone({ odd }): there is no such option, expected env, keys, proxy, '],
    ['a file without an app', 'empty.js', 'empty.js exports neither an app nor a function nor a server, and nothing listens', 'export the app']
  ]) {
    it(`should say what is wrong with ${title}`, async t => {
      const server = net.createServer().listen(0)
      await once(server, 'listening')
      t.after(() => server.close())
      const child = spawn(process.execPath, [KONE, 'dev', ...typed.split(' '), '--port', String(server.address().port)], { cwd: folder })
      t.after(() => child.kill())
      let text = ''
      child.stderr.on('data', chunk => { text += chunk })
      hasPage(await until(() => text.split('\n').find(line => parts.every(part => line.includes(part)))))
    })
  }
})

describe('kone in a project of a stranger', () => {
  const CODES = [...Array(0x20).keys(), ...Array.from({ length: 0x21 }, (_, i) => 0x7f + i)]
  const CONTROLS = String.fromCharCode(...CODES) // C0, DEL, C1
  const IN_JSON = JSON.stringify(CONTROLS).slice(1, -1)
  const { write, kone, dev, folder } = project(scratch())

  const versions = { koa: `2${CONTROLS}`, 'koa-static': `5${CONTROLS}`, [`koa-${CONTROLS}`]: CONTROLS }
  write('package.json', JSON.stringify({ dependencies: versions }))
  fs.mkdirSync(path.join(folder, 'node_modules/koa-static'))
  write('node_modules/koa-static/package.json', '{}')
  write(`node_modules/koa-static/${CONTROLS.slice(1)}.js`, 'ctx.req') // a file name has no NUL
  write('app.js', `
const named = fn => Object.defineProperty(fn, 'name', { value: '${IN_JSON}' })
const router = require('kone/middleware/router')()
router.get('/${IN_JSON}', named(() => {}))
module.exports = new (require('kone'))({ '${IN_JSON}': 1 }).use(named((ctx, next) => next())).use(router.routes())
`)
  write('throws.js', `throw Object.assign(new Error('${IN_JSON}'), { stack: '    at ${IN_JSON}' })`)

  function check (printed, expected) {
    const [found] = /[^\n\x20-\x7e\xa0-\uffff]/.exec(printed) ?? []
    assert.equal(found, undefined, JSON.stringify(printed))
    assert(printed.includes(expected), printed)
  }

  for (const [args, expected] of [
    [['doctor'], '\\x1b'], [['doctor', '--json'], '\\u001b'], [['doctor', '\x9b'], '\\x9b'],
    [['routes', 'app.js'], '\\x1b'], [['routes', 'app.js', '--json'], '\\u001b'], [['routes', 'throws.js'], '\\x1b'], [['routes', '\x9b'], '\\x9b']
  ]) {
    it(`should print no control character of it: ${JSON.stringify(args)}`, async () => {
      const { out, err } = await kone(...args)
      check([...out, ...err].join('\n'), expected)
      if (args.includes('--json')) assert(JSON.stringify(JSON.parse(out.join('\n'))).includes(IN_JSON))
    })
  }

  it('should print no control character of it: ["dev"]', async t => {
    check((await dev(t, 'app.js')).output(), '\\x1b')
    const child = spawn(process.execPath, [KONE, 'dev', 'throws.js'], { cwd: folder })
    t.after(() => child.kill())
    let text = ''
    child.stderr.on('data', chunk => { text += chunk })
    check(await until(() => /^kone: .*\n/m.exec(text)?.input), '\\x1b')
  })
})

describe('kone start', () => {
  it('should serve, reload, tell its workers and stop, as pm2.js does', async t => {
    const tmp = fs.mkdtempSync(path.join(os.tmpdir(), 'kone-'))
    t.after(() => fs.rmSync(tmp, { recursive: true, force: true }))
    process.env.TMPDIR = tmp // of the socket for commands
    t.after(() => { delete process.env.TMPDIR })
    let port
    const child = await onFreePort(free => {
      port = String(free)
      return start([KONE, 'start', 'app.js', '--port', port, '--instances', '2', '--cluster', 'node'], {}, folder)
    })
    t.after(() => child.stop('SIGKILL'))
    assert.match(child.output(), new RegExp(`^http://localhost:${port} in 2 workers`))
    assert.equal(await (await fetch(`${child.url}/api/users/7`)).text(), '7')

    const status = async () => (await kone('status', '--port', port)).out
    const before = await status()
    assert.equal(before.length, 2)
    assert.match(before[0], /^pid \d+ {2}online$/)
    assert.deepEqual(await kone('reload', '--port', port), { code: 0, out: [], err: [] })
    assert(!(await status()).some(text => before.includes(text)))
    assert.deepEqual(await kone('stop', '--port', port), { code: 0, out: [], err: [] })
    await refused(['status', '--port', port], `nothing was started on port ${port}`)
  })
})
