'use strict'

const { after, before, describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { spawn } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const net = require('node:net')
const os = require('node:os')
const path = require('node:path')
const { start } = require('../helpers/child')
const until = require('../helpers/until')
const { onFreePort } = require('../helpers/ports')

const ROOT = path.join(__dirname, '../..')
const { bin, version } = require('kone/package.json')
const KONE = path.join(ROOT, bin.kone)
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

let folder

before(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'kone-command-'))
  fs.mkdirSync(path.join(folder, 'node_modules'))
  fs.symlinkSync(ROOT, path.join(folder, 'node_modules/kone'), 'junction')
  write('app.js', APP)
})

after(() => fs.rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))

function write (name, text) {
  fs.writeFileSync(path.join(folder, name), text)
}

/** Run the command to its end. */
async function kone (...args) {
  const child = spawn(process.execPath, [KONE, ...args], {
    cwd: folder, env: { ...process.env, NODE_TEST_CONTEXT: undefined, NODE_ENV: undefined, KONE_CLUSTER: 'node' }
  })
  const read = stream => {
    let text = ''
    stream.setEncoding('utf8').on('data', chunk => { text += chunk })
    return () => text.trimEnd().split('\n').filter(Boolean)
  }
  const [out, err] = [read(child.stdout), read(child.stderr)]
  const [code] = await once(child, 'close')
  return { code, out: out(), err: err() }
}

/** Run it, and expect it to fail with one line. */
async function refused (args, expected) {
  const { code, out, err } = await kone(...args)
  assert.deepEqual([code, out, err.length], [1, [], 1], `${args.join(' ')}: ${err.join('\n')}`)
  assert.match(err[0], expected, args.join(' '))
}

describe('kone', () => {
  it('should explain itself', async () => {
    for (const args of [[], ['--help'], ['-h']]) {
      const { code, out } = await kone(...args)
      assert.equal(code, 0)
      for (const name of ['dev', 'routes', 'start', 'reload', 'status', 'stop']) {
        assert(out.some(text => text.includes(`kone ${name}`)), name)
      }
    }
    const { code, out } = await kone('start', '--help')
    assert.equal(code, 0)
    for (const flag of ['--port', '--instances', '--cluster', '--drain-timeout']) {
      assert(out.some(text => text.includes(flag)), flag)
    }
    assert.deepEqual((await kone('--version')).out, [version])
  })

  it('should refuse what it does not know, in one line', async () => {
    await refused(['strat', 'app.js'], /^kone: unknown command strat: did you mean start\? \(see kone --help\)$/)
    await refused(['xyzzy'], /^kone: unknown command xyzzy: expected dev, routes, .* \(see kone --help\)$/)
    await refused(['start', '--prot', '1', 'app.js'], /^kone: unknown flag --prot: did you mean --port\? \(see kone start --help\)$/)
    await refused(['routes', '--xyzzy', 'app.js'], /^kone: unknown flag --xyzzy: expected --json, --help \(see kone routes --help\)$/)
    await refused(['--verson'], /^kone: unknown flag --verson: did you mean --version\? \(see kone --help\)$/)
    await refused(['status', '--port'], /^kone: --port needs a value: <number> \(see kone status --help\)$/)
    await refused(['routes', '--json=1', 'app.js'], /^kone: --json takes no value, not 1 \(see kone routes --help\)$/)
    await refused(['start'], /^kone: no file was given: kone start <file> \[flags\] \(see kone start --help\)$/)
    await refused(['dev'], /^kone: no file was given: kone dev <file> \[flags\] \(see kone dev --help\)$/)
    await refused(['stop', 'app.js'], /^kone: app\.js is one argument too many: kone stop \[flags\] \(see kone stop --help\)$/)
    for (const command of ['start', 'dev', 'routes']) await refused([command, 'nope.js'], /^kone: there is no file nope\.js: .*command\.md\)$/)
    await refused(['start', 'app.js', '--port', 'many'], /^kone: PORT must be a whole number .*not many \(kone\/docs\/api\/cluster\.md\)/)
  })
})

describe('kone routes', () => {
  it('should list method, path and middleware names', async () => {
    assert.deepEqual(await kone('routes', 'app.js'), { code: 0, out: ['every request: timing', ...ROUTES], err: [] })
  })

  it('should list them as JSON', async () => {
    const { out } = await kone('routes', 'app.js', '--json')
    const { middleware, routes } = JSON.parse(out.join('\n'))
    assert.deepEqual(middleware, ['timing'])
    assert.deepEqual(routes[0], { method: 'GET', path: '/api/users/:id', middleware: ['check', 'show'] })
    assert.equal(routes.length, 4)
  })

  it('should know an app that listens itself or is an ES module, and let nothing listen', async () => {
    const server = net.createServer().listen(0)
    await once(server, 'listening')
    write('listens.js', `${APP}\ndelete module.exports\nmodule.exports = {}\napp.listen(${server.address().port})`)
    assert.deepEqual((await kone('routes', 'listens.js')).out.slice(1), ROUTES)
    server.close()

    write('app.mjs', "import Kone from 'kone'\nexport default new Kone()\nawait 0\n")
    assert.deepEqual(await kone('routes', 'app.mjs'), { code: 0, out: ['no routes'], err: [] })
  })

  it('should say in one line what is wrong with a file', async () => {
    write('empty.js', '')
    await refused(['routes', 'empty.js'], /^kone: empty\.js makes no Kone app: .*command\.md\)$/)
    write('throws.js', "throw new Error('no\\nbread')")
    await refused(['routes', 'throws.js'], /^kone: no bread$/)
    write('syntax.js', 'const = 1')
    await refused(['routes', 'syntax.js'], /^kone: Unexpected token '=' \(.*syntax\.js:1\)$/)
    write('options.js', "new (require('kone'))({ kyes: ['a'] })")
    await refused(['routes', 'options.js'], /^kone: options\.kyes is unknown: did you mean `keys`\? \(kone\/docs\/api\/application\.md\)$/)
  })

  it('should run TypeScript where node does', async () => {
    write('app.ts', "import Kone from 'kone'\nconst app: Kone = new Kone()\nexport default app\n")
    if (!stripsTypes) return refused(['routes', 'app.ts'], /^kone: app\.ts is TypeScript, which Node [\d.]+ does not run: install esbuild or tsx/)
    const { code, out } = await kone('routes', 'app.ts')
    assert.deepEqual([code, out], [0, ['no routes']])
  })
})

describe('kone dev', () => {
  async function dev (t, file, env) {
    const child = await onFreePort(port => {
      return start([KONE, 'dev', file, '--port', String(port)], { NODE_ENV: undefined, ...env }, folder)
    })
    t.after(() => child.stop())
    return child
  }
  const html = { headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' } }

  it('should print routes, warnings and the URL, and serve', async t => {
    const child = await dev(t, 'app.js')
    assert.equal(await (await fetch(`${child.url}/api/users/7`)).text(), '7')
    await until(() => child.output().includes('no such option'))
    const printed = child.output().split('\n')
    for (const text of ROUTES) assert(printed.includes(text), child.output())
    assert(printed.some(text => text.startsWith('kone: new Kone({ odd }): there is no such option, expected proxy, ')))
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
    const child = await dev(t, 'app.js', { NODE_ENV: 'production' })
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

  it('should say what is wrong', async t => {
    const server = net.createServer().listen(0)
    await once(server, 'listening')
    t.after(() => server.close())
    const port = String(server.address().port)
    write('nothing.js', '')
    for (const [file, expected] of [
      ['app.js', `kone: port ${port} is in use`],
      ['nothing.js', 'exports neither an app nor a function nor a server, and nothing listens']
    ]) {
      const child = spawn(process.execPath, [KONE, 'dev', file, '--port', port], { cwd: folder })
      let text = ''
      child.stderr.on('data', chunk => { text += chunk })
      await until(() => text.includes(expected))
      child.kill() // it waits for a change
      await once(child, 'exit')
    }
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
    await refused(['status', '--port', port], new RegExp(`nothing was started on port ${port}`))
  })
})
