'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { spawn } = require('node:child_process')
const fs = require('node:fs')
const http = require('node:http')
const net = require('node:net')
const os = require('node:os')
const path = require('node:path')
const { withHost } = require('../../cluster/address')
const until = require('../helpers/until')
const { KONE, project, scratch } = require('./project')

const html = { headers: { accept: 'text/html' } }

const outside = scratch()
const { folder, write, dev } = project(path.join(outside, 'project'))
const secret = path.join(outside, 'secret.txt')
fs.mkdirSync(path.join(folder, 'node_modules/package'))
fs.writeFileSync(secret, 'the secret\n')
fs.symlinkSync(secret, path.join(folder, 'link.js'))

/** The lines of source in the error page. */
const sourceOf = text => /<p>[^\n]*:\d+\n<pre>(.*?)<\/pre>/s.exec(text)?.[1]

describe('the error page of kone dev', () => {
  const APP = `
const vm = require('node:vm')
const Kone = require('kone')
const app = module.exports = new Kone()
app.use(async (ctx, next) => {
  try { await next() } catch (err) { if (ctx.query.read) String(err.stack); throw err }
})
app.use(ctx => {
  const { name, filename, stack } = ctx.query
  if (filename) return vm.runInThisContext('throw new Error("vm")', { filename })
  const err = new Error(name) // the place
  if (stack) err.stack = stack
  throw err
})
`
  const message = file => `x\n    at ${file}:1:1\n    at f (${file}:1:1)\n    at file://${file}:1:1`

  it('should show no file that a message, a stack or the name of a script has', async t => {
    write('app.js', APP)
    write('.env', 'the secret\n')
    const { url } = await dev(t, 'app.js')
    const files = ['/etc/passwd', secret, path.join(folder, 'link.js'), path.join(folder, '.env'), `${folder}/../secret.txt`]
    for (const file of files) {
      for (const read of ['', '1']) {
        const name = await (await fetch(`${url}/?${new URLSearchParams({ name: message(file), read })}`, html)).text()
        assert.match(sourceOf(name), /<mark>.*the place/, name) // the one call site
        assert(!/root:|the secret/.test(name), name)
      }
      const stack = await (await fetch(`${url}/?${new URLSearchParams({ stack: message(file) })}`, html)).text()
      assert(!/root:|the secret/.test(stack), stack)
    }
    for (const filename of ['/etc/passwd', secret, path.join(folder, 'link.js')]) {
      const text = await (await fetch(`${url}/?${new URLSearchParams({ filename })}`, html)).text()
      assert(!/root:|the secret/.test(text), text)
    }
  })

  it('should show modules of the project and loaded ones, and prefer the project', async t => {
    fs.mkdirSync(path.join(outside, 'linked'))
    fs.writeFileSync(path.join(outside, 'linked/index.js'), 'module.exports = () => null.x // of the linked module\n')
    fs.symlinkSync(path.join(outside, 'linked'), path.join(folder, 'node_modules/linked'), 'junction')
    fs.writeFileSync(path.join(folder, 'node_modules/package/index.js'), 'module.exports = () => null.x // of the package\n')
    fs.mkdirSync(path.join(folder, 'src'), { recursive: true })
    write('package.json', '{}')
    write('part.mjs', "export default () => { throw new Error('x') } // of the module beside\n")
    write('src/app.mjs', `
import { createRequire } from 'node:module'
import Kone from 'kone'
import part from '../part.mjs'
const require = createRequire(import.meta.url)
const app = new Kone()
app.use(ctx => {
  if (ctx.path === '/part') part()
  if (ctx.path === '/package') require('package')() // of the app
  if (ctx.path === '/linked') require('linked')() // calls it
})
export default app
`)
    const { url } = await dev(t, 'src/app.mjs')
    const shown = async path => sourceOf(await (await fetch(url + path, html)).text())
    assert.match(await shown('/part'), /<mark>.*of the module beside/)
    assert.match(await shown('/package'), /<mark>.*of the app/)
    assert.match(await shown('/linked'), /<mark>.*calls it/)
    const page = await (await fetch(`${url}/package`, html)).text()
    const [, head] = /<pre>(?!<mark>| +\d)(TypeError.*?)<\/pre>/s.exec(page)
    assert.match(head, /<details><summary> +\d+ calls? in packages and in node<\/summary>[^<]*node_modules.package/)
    assert(head.replace(/<details>.*?<\/details>/gs, '').includes('app.mjs'))
  })

  it('should show a loaded module outside of the project where nothing of the project is called', async t => {
    fs.writeFileSync(path.join(outside, 'outside.js'), 'module.exports = () => { null.x } // outside\n')
    write('outer.js', `
const app = module.exports = new (require('kone'))()
app.use(require('../outside.js'))
`)
    const { url } = await dev(t, 'outer.js')
    assert.match(sourceOf(await (await fetch(url, html)).text()), /<mark>.*\/\/ outside/)
  })

  it('should have the status that the error has without it', async t => {
    write('statuses.js', `
const app = module.exports = new (require('kone'))()
app.use(ctx => { throw Object.assign(new Error('x'), JSON.parse(ctx.query.fields)) })
`)
    const { url } = await dev(t, 'statuses.js')
    for (const [fields, status, isShown] of [
      [{}, 500, true], [{ status: 503 }, 503, true], [{ statusCode: 503 }, 503, true], [{ status: '503' }, 500, true], [{ status: 599 }, 500, true],
      [{ code: 'ENOENT' }, 404, true], [{ statusCode: 404 }, 404, false], [{ status: 404 }, 404, false]
    ]) {
      const at = `${url}/?${new URLSearchParams({ fields: JSON.stringify(fields) })}`
      assert.equal((await fetch(at)).status, status, JSON.stringify(fields))
      const page = await fetch(at, html)
      assert.deepEqual([page.status, /<h1>Error: x/.test(await page.text())], [status, isShown], JSON.stringify(fields))
    }
  })

  it('should leave an error of a mounted app to the middleware around it', async t => {
    write('mounted.js', `
const Kone = require('kone')
const api = new Kone()
api.use(ctx => { throw new Error(ctx.path) })
const app = module.exports = new Kone()
app.use((ctx, next) => next().catch(err => {
  if (ctx.path === '/page') throw err
  ctx.body = 'caught ' + err.message
}))
app.use((ctx, next) => require('kone/compose')(api.middleware)(ctx, next)) // what koa-mount does
`)
    const { url } = await dev(t, 'mounted.js')
    assert.equal(await (await fetch(`${url}/api`, html)).text(), 'caught /api')
    assert.match(await (await fetch(`${url}/page`, html)).text(), /<h1>Error: \/page<\/h1>/)
  })

  it('should have the source and the stack on a Node without its own Error.prepareStackTrace, before 20.12', async t => {
    write('old.js', 'delete Error.prepareStackTrace')
    write('throws.js', "module.exports = new (require('kone'))().use(ctx => { throw new Error('x') /* the source */ })")
    const { url } = await dev(t, 'throws.js', { env: { NODE_OPTIONS: `--require ${path.join(folder, 'old.js')}` } })
    const text = await (await fetch(url, html)).text()
    assert.match(sourceOf(text), /<mark>.*the source/)
    assert.match(text, /<pre>Error: x\n +at [^\n]*throws\.js:1:/)
  })

  it('should show the source that a source map names, if it is of the project', async t => {
    const map = sources => Buffer.from(JSON.stringify({ version: 3, sources, names: [], mappings: 'AAEA' })).toString('base64')
    const built = sources => `throw new Error('built')\n//# sourceMappingURL=data:application/json;base64,${map(sources)}`
    write('app.ts', '// one\n// two\nthrow new Error() // the source\n')
    write('built-own.js', built(['app.ts']))
    write('built-foreign.js', built([secret]))
    write('maps.js', `
const app = module.exports = new (require('kone'))()
app.use(ctx => require('./built-' + ctx.path.slice(1) + '.js'))
`)
    const { url } = await dev(t, 'maps.js', { env: { NODE_OPTIONS: '--enable-source-maps' } })
    const own = await (await fetch(`${url}/own`, html)).text()
    assert.match(sourceOf(own), /<mark>.*the source/)
    assert(own.includes(`at Object.&lt;anonymous&gt; (${path.join(folder, 'app.ts')}:3:`), own)
    assert(!(await (await fetch(`${url}/foreign`, html)).text()).includes('the secret'))
  })
})

describe('kone dev', () => {
  it('should print the URL once, whoever prints it', async t => {
    write('talks.js', `
const app = new (require('kone'))()
app.listen(process.env.PORT, () => console.log('at http://localhost:' + process.env.PORT))
`)
    const child = await dev(t, 'talks.js')
    await (await fetch(child.url)).text()
    assert.equal(child.output().split('http://localhost').length, 2, child.output())
  })

  it('should print the URLs of servers that listen, not of one that has looked for a free port', async t => {
    write('probes.js', `
const net = require('node:net')
const { write } = process.stdout
const early = net.createServer().once('listening', () => early.close()) // portfinder
early.listen(0).once('close', () => {
  const late = net.createServer().listen(0, () => late.close(() => { // get-port, detect-port
    const Kone = require('kone')
    new Kone().listen(process.env.PORT)
    const metrics = new Kone().use(ctx => { ctx.body = 'metrics' }).listen(0)
    setTimeout(() => console.log(metrics.address().port, process.stdout.write === write), 100)
  }))
})
`)
    const child = await dev(t, 'probes.js')
    const [, port] = await until(() => /^(\d+) true$/m.exec(child.output()))
    assert.deepEqual(child.output().match(/http:.*/g), [child.url, `http://localhost:${port}`])
    assert.equal(await (await fetch(`http://localhost:${port}`)).text(), 'metrics')
  })

  it('should serve an app of a class with its own use()', async t => {
    write('class.js', `
class App extends require('kone') {
  #names = []
  use (fn) {
    this.#names.push(fn.name)
    return super.use(fn)
  }
}
module.exports = new App().use(function hi (ctx) { ctx.body = 'hi' })
`)
    assert.equal(await (await fetch((await dev(t, 'class.js')).url)).text(), 'hi')
  })

  it('should serve an app that forks its workers itself', async t => {
    write('forks.js', `
const cluster = require('node:cluster')
const app = new (require('kone'))()
const router = require('kone/middleware/router')()
router.get('/', function pid (ctx) { ctx.body = String(process.pid) })
router.get('/broken', function broken () { throw new Error('x') })
app.use(router.routes())
if (cluster.isPrimary) for (let i = 0; i < 2; i++) cluster.fork()
else app.listen(process.env.PORT)
module.exports = app
`)
    const child = await dev(t, 'forks.js')
    const pids = new Set()
    await until(async () => pids.add((await ask(child.url, 'localhost'))[1]).size === 2)
    assert.match(await (await fetch(`${child.url}/broken`, html)).text(), /<h1>Error: x/)
    assert.equal((await ask(child.url, 'evil.example'))[0], 403)
    assert.deepEqual([child.output().match(/http:.*/g).length, child.output().includes('GET  /        pid')], [1, true])
  })

  // code, syscall, and what else node gives the error
  for (const [what, fields, expected] of [
    ['the host of a database', ['ENOTFOUND', 'getaddrinfo', { hostname: 'redis' }], /^kone: redis \(/],
    ['the address of a client', ['EADDRNOTAVAIL', 'connect', { port: 1 }], /^kone: redis \(/],
    ['a Unix socket', ['EADDRINUSE', 'listen', { port: -1 }], /^kone: redis \(/],
    ['a port of root', ['EACCES', 'listen', { port: 80 }], /^kone: cannot listen on port 80: .* set PORT to a port that this user may open/]
  ]) {
    it(`should say what is wrong with ${what}`, async t => {
      const [code, syscall, more] = fields
      write('refused.js', `throw Object.assign(new Error('redis'), ${JSON.stringify({ code, syscall, ...more })})`)
      const child = spawn(process.execPath, [KONE, 'dev', 'refused.js'], { cwd: folder })
      t.after(() => child.kill())
      let text = ''
      child.stderr.on('data', chunk => { text += chunk })
      assert.match(await until(() => /^kone: .*$/m.exec(text)?.[0]), expected)
    })
  }

  const HI = "const app = module.exports = new (require('kone'))()\napp.use(ctx => { ctx.body = 'hi' })\n"
  // another address of this machine than the one of localhost
  const other = process.platform === 'linux'
    ? '127.0.0.2'
    : Object.values(os.networkInterfaces()).flat().find(({ family, internal }) => family === 'IPv4' && !internal)?.address

  const connect = (url, host) => new Promise(resolve => {
    const socket = net.connect(new URL(url).port, host)
    socket.once('connect', () => resolve('connected')).once('error', err => resolve(err.code)).once('close', () => socket.destroy())
    socket.once('connect', () => socket.end())
  })
  const ask = (url, host) => new Promise((resolve, reject) => {
    http.get(url, { headers: { host }, agent: false }, async res => {
      const text = (await res.toArray()).join('')
      resolve([res.statusCode, text])
    }).on('error', reject)
  })

  it('should listen on localhost alone, also an app that listens itself', { skip: !other && 'this machine has no other address' }, async t => {
    write('hi.js', HI)
    write('listens.js', `${HI}app.listen(process.env.PORT, () => {})`)
    for (const file of ['hi.js', 'listens.js']) {
      const { url } = await dev(t, file)
      assert.equal(await (await fetch(url)).text(), 'hi')
      assert.equal(await connect(url, other), 'ECONNREFUSED')
    }
  })

  it('should listen where --host says, or the app itself', { skip: !other && 'this machine has no other address' }, async t => {
    write('hi.js', HI)
    write('everywhere.js', `${HI}app.listen({ port: process.env.PORT, host: '0.0.0.0' })`)
    assert.equal(await connect((await dev(t, 'hi.js', { flags: ['--host', '0.0.0.0'] })).url, other), 'connected')
    assert.equal(await connect((await dev(t, 'everywhere.js')).url, other), 'connected')
  })

  it('should refuse a foreign Host', async t => {
    write('hi.js', HI)
    const { url } = await dev(t, 'hi.js')
    const { port } = new URL(url)
    for (const host of [`localhost:${port}`, 'localhost', 'app.localhost:1', 'LOCALHOST', 'localhost.', '127.0.0.1', `[::1]:${port}`, '10.1.2.3:80']) {
      assert.deepEqual(await ask(url, host), [200, 'hi'], host)
    }
    for (const host of ['evil.example', `evil.example:${port}`, 'localhost.evil.example', 'notlocalhost', '127.0.0.1.evil.example']) {
      const [status, text] = await ask(url, host)
      assert.equal(status, 403, host)
      assert.match(text, /^kone dev refuses the host '[^']+': if it is yours, start with --host \(kone\/docs\/api\/command\.md\)\n$|a string of \d+ characters/)
    }
    assert.equal((await ask(url, 'localhost@evil.example'))[0], 400) // no Host at all, in every app
    const named = await dev(t, 'hi.js', { flags: ['--host', 'LocalHost'] })
    assert.equal(await (await fetch(named.url)).text(), 'hi')
  })

  it('should give a host to each form of listen() that has a port and no host', () => {
    const fn = () => {}
    const host = '127.0.0.1'
    assert.deepEqual(withHost([], host), [0, host])
    assert.deepEqual(withHost([fn], host), [0, host, fn])
    assert.deepEqual(withHost([80], host), [80, host])
    assert.deepEqual(withHost(['80', fn], host), ['80', host, fn])
    assert.deepEqual(withHost([null, fn], host), [0, host, fn])
    assert.deepEqual(withHost([80, 511, fn], host), [80, host, 511, fn])
    assert.deepEqual(withHost([80, undefined, fn], host), [80, host, fn])
    assert.deepEqual(withHost([{ port: 80, backlog: 5 }, fn], host), [{ port: 80, backlog: 5, host }, fn])
    for (const args of [[80, '::', fn], [{ port: 80, host: '::' }], ['/run/app.sock', fn], [{ path: '/run/app.sock' }], [{ fd: 3 }]]) {
      assert.deepEqual(withHost(args, host), args)
    }
  })
})
