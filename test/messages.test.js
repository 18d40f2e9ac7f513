'use strict'

const assert = require('node:assert/strict')
const { exec, spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const { describe, it } = require('node:test')
const { promisify } = require('node:util')
const Kone = require('kone')
const temporary = require('./helpers/folder')

/*
 * What a user reads in an error of npm create kone and of kone itself. The tables of the middleware set, the command,
 * and the clusters are in test/middleware/, test/command/ and test/cluster/.
 */

const ROOT = path.join(__dirname, '..')
const run = promisify(exec)

describe('an error of npm create kone', () => {
  // [what is typed, what was given, what is expected]; where to read on is --help, for it is a package of its own
  const MISTAKES = [
    [[], 'no folder was given', 'npm create kone my-app'],
    [['a', 'b'], 'not a and b', 'one folder only'],
    [['a', '--typescript'], 'unknown option --typescript', 'expected --ts, --api, --bare, --help, --version'],
    [['a', '-t'], 'unknown option -t', 'expected --ts, --api, --bare, --help, --version'],
    [['a', '--ts=5'], '--ts', 'takes no value'],
    [['a', '--api', '--bare'], '--api or --bare', 'not both'],
    ...['App', 'my app', '.app', 'a\nb', 'a'.repeat(215), 'node_modules'].map(name => [
      [name], `${JSON.stringify(name)} is not a package name`, 'lower-case letters, digits and - . _ only']),
    [['file/a'], 'not a directory'],
    [['file'], 'file exists and is not a folder', 'name a new or an empty one'],
    [['full'], 'full exists and is not empty', 'name a new or an empty folder'],
    [['new'], 'no.tgz, which does not exist', 'make it by make pack']
  ]
  const folder = temporary({ 'full/precious': '', file: '' })

  for (const [typed, ...parts] of MISTAKES) {
    it(`should say what is wrong: ${typed.join(' ')}: ${parts[0]}`, () => {
      const { status, stdout, stderr } = spawnSync(process.execPath, [path.join(ROOT, 'create/index.js'), ...typed], {
        cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, KONE_SPEC: typed[0] === 'new' ? 'file:../no.tgz' : '' }
      })
      assert.deepEqual([status, stdout, fs.readdirSync(folder), fs.readdirSync(path.join(folder, 'full'))], [1, '', ['file', 'full'], ['precious']])
      assert.match(stderr, /^create-kone: (?:ENOTDIR: [^\n]+|[^\n]+ \(try --help\))\n$/)
      for (const part of parts) assert(stderr.includes(part), `no ${part} in: ${stderr}`)
    })
  }
})

describe('an error of make', { concurrency: 2, skip: process.platform === 'win32' && 'there is no make' }, () => {
  // what is typed, and what the one line has
  const MISTAKES = {
    'bench-nope': 'no lab nope: expected bench-battle',
    'battle ARGS=--nope': 'unknown option --nope: expected --full',
    'bench-mw ARGS=nope': 'unknown argument nope',
    'bench-compare REF=nope': 'nope',
    'results ARGS=--nope': 'unknown flag --nope: expected --from, --to',
    'report ARGS=--nope': 'unknown flag --nope: expected --from, --to, --accept',
    'quick ARGS=nope': 'unknown argument nope',
    'test ARGS=--al': 'unknown flag --al: did you mean --all?',
    'fuzz ARGS=--nope': 'unknown flag --nope: expected --seed',
    'fuzz ARGS="--seconds soon"': '--seconds must be a number, not soon',
    'fuzz ARGS="--replay nope.js"': 'there is no file nope.js',
    'siege ARGS=--sed': 'unknown flag --sed: did you mean --seed?',
    'siege ARGS="--scenario nope"': 'no scenario has nope in its title',
    'soak ARGS=nope': 'unknown argument nope',
    'mutants ARGS=lib/compos.js': 'did you mean lib/compose.js?',
    'node-duties ARGS="--node nope"': 'there is no file nope',
    'docs ARGS=foo': 'ARGS is build or dev, not foo',
    'compat ARGS=nope': 'unknown argument nope: ',
    'pack KOA=9': 'KOA must be 2 or 3, not 9',
    'pack ARGS=--nope': 'unknown flag --nope: expected --koa',
    'release VERSION=x': 'VERSION must be like 2.18.0',
    'runs-unchanged ARGS=--jsn': 'did you mean --json?',
    nope: "No rule to make target 'nope'"
  }

  for (const [typed, part] of Object.entries(MISTAKES)) {
    it(`should be one line: make ${typed}`, async () => {
      const installed = ['node_modules', 'benchmarks/node_modules', 'docs/node_modules'].map(name => `-o ${name}`).join(' ')
      const { code, stdout, stderr } = await run(`make -s ${installed} ${typed}`, { cwd: ROOT }).then(() => ({ code: 0 }), err => err)
      const lines = stderr.trim().split('\n').filter(line => !/^make(?:\[\d\])?: \*\*\* \[/.test(line))
      assert.deepEqual([code, stdout, lines.length], [2, '', 1], stderr)
      assert(lines[0].includes(part), lines[0])
    })
  }
})

describe('an error of kone', () => {
  /*
   * [mistake, the message, the page of docs/api/ that the message names]. Koa's own messages are word for word, so that
   * they name none; nor do errors of a request, which have a code or a status instead.
   */
  const MISTAKES = [
    [() => new Kone({ kyes: ['a'] }), 'options.kyes is unknown: did you mean `keys`?', 'application'],
    [() => new Kone({ env: 5 }), 'options.env must be a string, not 5', 'application'],
    [() => new Kone({ keys: [] }), 'options.keys must be a list of strings, one at least, or a Keygrip, not []', 'application'],
    [() => new Kone({ keys: 'secret' }), 'options.keys must be a list of strings, one at least, or a Keygrip, not a string', 'application'],
    [() => new Kone({ keys: Buffer.from('secret') }), 'options.keys must be a list of strings, one at least, or a Keygrip, not an object of class Buffer', 'application'],
    [() => new Kone({ env: new Error('secret') }), 'options.env must be a string, not an object of class Error', 'application'],
    [() => new Kone({ http1: 'redis://me:secret' }), 'options.http1 must be true or false, not a string of 17 characters', 'application'],
    [() => new Kone({ http1: "it's \x1b\x9b" }), "options.http1 must be true or false, not 'it\\'s \\u001b\\u009b'", 'application'],
    [() => new Kone({ proxyIpHeader: 5 }), 'options.proxyIpHeader must be a string, not 5', 'application'],
    [() => new Kone({ maxIpsCount: -1 }), 'options.maxIpsCount must be a number that is not negative, not -1', 'application'],
    [() => new Kone({ subdomainOffset: '2px' }), "options.subdomainOffset must be a number that is not negative, not '2px'", 'application'],
    [() => new Kone({ compose: 'no' }), "options.compose must be a function, not 'no'", 'application'],
    [() => new Kone({ http1: 1 }), 'options.http1 must be true or false, not 1', 'application'],
    [() => new Kone({ asyncLocalStorage: 1 }), 'options.asyncLocalStorage must be true, false or an AsyncLocalStorage, not 1', 'application'],
    [() => new Kone({ Promise: 1 }), 'options.Promise must be a class of promises, not 1', 'application'],
    [() => new Kone({ proxy: 'yes' }), "options.proxy must be true, false, a number of hops or a list of addresses, not 'yes'", 'application'],
    [() => new Kone({ proxy: ['10.0.0.0/99'] }), "options.proxy: '10.0.0.0/99' is no address or range like 10.0.0.0/8", 'application'],
    ...[-1, 1.5, {}].map(proxy => [
      () => new Kone({ proxy }), `options.proxy must be true, false, a number of hops or a list of addresses, not ${shown(proxy)}`, 'application']),
    ...['10.0.0.0/8/24', '10.0.0.0/0x8', '10.0.0.0/ 8', '10.0.0.0/1e1', '10.0.0.0/'].map(range =>
      [() => new Kone({ proxy: [range] }), `options.proxy: '${range}' is no address or range like 10.0.0.0/8`, 'application']),
    [() => new Kone({ proxy: ['no address'] }), "options.proxy: 'no address' is no address or range like 10.0.0.0/8", 'application'],
    ...[{}, class {}].map(Promise => [
      () => new Kone({ Promise }), `options.Promise must be a class of promises, not ${shown(Promise)}`, 'application']),
    [() => new Kone({ asyncLocalStorage: {} }), 'options.asyncLocalStorage must be true, false or an AsyncLocalStorage, not an object', 'application'],
    [app => app.use(5), 'middleware must be a function!'], // Koa's
    [app => app.use(require('../middleware/router')()), 'middleware must be a function! A router has one: app.use(router.routes())'],
    [app => app.use(require('../middleware/cors')), 'cors makes a middleware: app.use(cors())'],
    [app => app.inject({ uri: '/' }), 'app.inject(): options.uri is unknown: did you mean `url`?', 'application'],
    [app => app.inject(), 'app.inject(request): request must be a url, an object or a web Request, not undefined', 'application'],
    [app => app.close({ timeout: '10s' }), "app.close(): options.timeout must be a number of milliseconds from 0 on, not '10s'", 'application'],
    [app => app.close({ timeOut: 5 }), 'app.close(): options.timeOut is unknown: did you mean `timeout`?', 'application'],
    [app => app.close('soon'), "app.close(): options must be an object, not 'soon'", 'application'],
    [app => app.final(5), 'app.final(fn): fn must be a plain or async function, not 5', 'compose-and-final'],
    [app => app.final(function * old () {}), 'app.final(fn): fn must be a plain or async function, not the function old', 'compose-and-final'],
    [app => app.attach(), 'app.attach(server): server must be an http.Server, not undefined', 'application'],
    [app => app.attach(5), 'app.attach(server): server must be an http.Server, not 5', 'application'],
    [app => app.inject('nowhere'), "app.inject(): options.url must be a path that begins with '/', not 'nowhere'", 'application'],
    [app => app.fetch('/'), "app.fetch(request): request must be a web Request with an http URL, not '/'", 'fetch'],
    [async app => app.fetch(await usedRequest()), 'app.fetch(request): the body of the request was already read', 'fetch'],
    [app => app.onerror(5), 'non-error thrown: 5'], // Koa's
    [() => Kone.compose(5), 'Middleware stack must be an array!'], // koa-compose's
    [() => Kone.compose([5]), 'Middleware must be composed of functions!'], // koa-compose's
    [inside((ctx, next) => next().then(next)), 'next() called multiple times'], // koa-compose's
    [inside(ctx => ctx.onFinished(5)), 'ctx.onFinished(fn): fn must be a function, not 5', 'context'],
    ...['much', -1, NaN, null].map(limit => [
      inside(ctx => ctx.request.readBody({ limit })), `request.readBody(): options.limit must be a number of bytes from 0 on, not ${shown(limit)}`, 'request']),
    [inside(ctx => { ctx.status = 99 }), 'invalid status code: 99'], // Koa's
    [inside(ctx => ctx.redirect('javascript:alert(1)')), "redirect: 'javascript:alert(1)' is no target for a client"],
    [inside(ctx => { ctx.body = Symbol('a') }), 'a body of type symbol has no JSON'],
    [inside(ctx => ctx.request.readBody({ limit: 1 }), { body: 'ab' }), 'the body is longer than 1 bytes'],
    [inside(async ctx => {
      for await (const chunk of ctx.req) ctx.state.chunk = chunk
      await ctx.request.readBody()
    }, { body: 'ab' }), 'the body was read before, as a stream, or skipped because the response was sent'],
    [fetched(ctx => { ctx.status = 101 }), 'a web Response has a status from 200 to 599, not 101'],
    [fetched(ctx => { ctx.res.writeHead(101) }), 'a web Response has a status from 200 to 599, not 101'],
    [inside(() => { throw 5 }), 'non-error thrown: 5'] // eslint-disable-line no-throw-literal
  ]

  for (const [mistake, expected, page] of MISTAKES) {
    it(`should say what is wrong: ${expected}`, async () => {
      const { message } = await thrownBy(mistake)
      assert.equal(message, page ? `${expected} (kone/docs/api/${page}.md)` : expected)
    })
  }

  it('should name a page that explains the method or the option', () => {
    for (const [, message, page] of MISTAKES.filter(([, , page]) => page)) {
      const [, name] = /^(?:options\.)?((?:app|ctx|request)\.\w+\(|\w+)/.exec(message)
      const text = fs.readFileSync(path.join(ROOT, `docs/api/${page}.md`), 'utf8')
      assert(text.includes(page === 'application' && !name.endsWith('(') ? `| \`${name}\` |` : name) || name === 'kyes', `docs/api/${page}.md does not have ${name}`)
    }
  })
})

function shown (value) {
  return { string: `'${value}'`, function: 'a function', object: value && 'an object' }[typeof value] ?? String(value)
}

// What a mistake throws, is rejected with, or emits as an error of the app.
async function thrownBy (mistake) {
  const app = new Kone()
  try {
    await mistake(app)
  } catch (err) {
    return err
  }
}

async function usedRequest () {
  const request = new Request('http://localhost/', { method: 'POST', body: 'a' })
  await request.text()
  return request
}

// Middleware that is in error during a request.
function inside (middleware, { body } = {}, send = app => app.inject({ method: 'POST', url: '/', body })) {
  return async app => {
    const emitted = new Promise((resolve, reject) => {
      app.on('error', reject)
      app.use(async (ctx, next) => {
        try {
          await middleware(ctx, next)
        } catch (err) {
          if (!(err instanceof Error)) throw err
          reject(err)
        }
      })
    })
    await Promise.race([emitted, send(app).then(() => emitted)])
  }
}

function fetched (middleware) {
  return inside(middleware, {}, app => app.fetch(new Request('http://localhost/')))
}
