'use strict'

const { describe, it, before, after } = require('node:test')
const assert = require('node:assert/strict')
const { execFile, spawn } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const { stripTypeScriptTypes } = require('node:module')
const net = require('node:net')
const os = require('node:os')
const path = require('node:path')
const Redis = require('ioredis')
const { read } = require('../cluster/settings')
const javascript = require('../create/javascript')
const pack = require('../tools/pack')
const temporary = require('./helpers/folder')
const { onFreePort } = require('./helpers/ports')
const nodeOf = require('./helpers/node-of')
const { missing, need } = require('./helpers/programs')
const startRedis = require('./helpers/redis')
const share = require('./helpers/share')
const { start } = require('./helpers/child')
const until = require('./helpers/until')

const root = path.join(__dirname, '..')
const create = path.join(root, 'create/index.js')
const folder = temporary()
const { version } = require('kone/package.json')
const TRANSLATES = `
  const Kone = require('kone'), app = new Kone()
  app.use(require('kone/middleware/i18n')(app, { locales: { en: { hi: 'Good day' } } })).use(ctx => { ctx.body = ctx.t('hi') })
  app.inject('/').then(res => process.stdout.write(res.text()))`
const IMAGES = { api: 'js', site: 'ts' } // the image of `bare` has less than that of `api`
// Each script with each kind, and with each language.
const SERVED = { 'api-js': 'start', 'api-ts': 'dev', 'site-js': 'dev', 'site-ts': 'start', 'bare-js': 'start', 'bare-ts': 'dev' }
// One in each language; those with an image are of one pair.
const PROJECTS = [...new Set(share.one([['api-js', 'site-ts'], ['api-ts', 'site-js'], ['api-js', 'site-ts'], ['api-ts', 'bare-js', 'bare-ts']]).flat())]
const LINKED = process.platform === 'linux' ? '-al' : '-R' // hard links take neither time nor space

describe('npm create kone', () => {
  describe('makes a project that installs, type-checks, passes its tests, builds and serves', { concurrency: 2 }, () => {
    // the package as it would be published, in place of the registry's
    let tarball, redis
    before(async () => {
      tarball = pack({ to: folder })
      if (!missing('redis-server')) redis = await startRedis(need('redis-server'))
    })
    after(() => redis?.stop())

    // The first one of a language has what the others need: they begin with its packages.
    for (const name of PROJECTS) {
      it(name.replace('-', ' in '), () => proves(...name.split('-')))
    }

    const installed = {}

    /** `npm install`, which removes what a project does not name, and loads what it names and the first one does not. */
    async function installs (cwd, language) {
      if (installed[language] !== undefined) await succeeds(folder, 'cp', [LINKED, await installed[language], cwd])
      const done = succeeds(cwd, 'npm', ['install', '--prefer-offline', '--no-audit', '--no-fund'])
      // A copy, because a project may get more packages.
      installed[language] ??= done.then(async () => {
        const copy = path.join(folder, `packages-${language}`)
        fs.mkdirSync(copy)
        await succeeds(cwd, 'cp', [LINKED, 'node_modules', copy])
        return path.join(copy, 'node_modules')
      })
      await Promise.all([done, installed[language]])
    }

    async function proves (kind, language) {
      const name = `${kind}-${language}`
      const flags = [language === 'ts' && '--ts', kind !== 'site' && `--${kind}`].filter(Boolean)
      const made = await run(process.execPath, [create, name, ...flags], {
        cwd: folder,
        env: { ...process.env, KONE_SPEC: `file:${tarball}` }
      })
      assert.equal(made.code, 0, made.stderr)
      assert.match(made.stdout, new RegExp(`cd ${name}\\n {2}npm install\\n {2}npm test`))
      const cwd = path.join(folder, name)
      assert.equal(manifest(name).dependencies.kone, `file:${path.basename(tarball)}`)

      await installs(cwd, language)
      assert.deepEqual(packagesOf(cwd, 'node_modules/.package-lock.json').filter(name => !packagesOf(cwd, 'package-lock.json').includes(name)), [])
      await succeeds(cwd, 'npm', ['run', 'lint'])
      if (kind === 'api' && language === 'ts') await takesVitest(cwd)
      const env = redis && language === 'js' ? { ...clean, REDIS_URL: `redis://127.0.0.1:${redis.port}` } : clean
      const stdout = await succeeds(cwd, 'npm', ['test'], env) // in TypeScript it builds, and so type-checks
      assert.match(stdout, /(#|ℹ) fail 0/)
      assert.doesNotMatch(stdout, /(#|ℹ) pass 0/)

      const routes = await succeeds(cwd, 'npm', ['run', '--silent', 'routes'])
      assert.match(routes, { bare: /no routes/, site: /^POST +\/entries/m, api: /^GET +\/items\/:id +validate/m }[kind])
      const built = language === 'ts' ? fs.statSync(path.join(cwd, 'dist/server.js')).mtimeMs : null
      await serves(cwd, kind, SERVED[name])
      if (built && SERVED[name] === 'start') assert.equal(fs.statSync(path.join(cwd, 'dist/server.js')).mtimeMs, built, 'npm start compiles')
      if (IMAGES[kind] === language) await builds(cwd, kind, language)
    }

    /** The runner that most such projects add, and a database of the image's Node, for what builds next. */
    async function takesVitest (cwd) {
      await succeeds(cwd, 'npm', ['install', '--save-dev', '--prefer-offline', '--no-audit', '--no-fund', 'vitest'])
      fs.writeFileSync(path.join(cwd, 'src/database.ts'), "import { DatabaseSync } from 'node:sqlite'\n\nexport const database = new DatabaseSync(':memory:')\n")
    }

    /** Every page and what it refers to. */
    async function visits (base, kind) {
      const page = await fetch(`${base}/${kind === 'api' ? 'items' : ''}`)
      assert.equal(page.status, 200, kind)
      assert.doesNotMatch(String(page.headers.get('content-security-policy')), /upgrade-insecure-requests/)
      const text = await page.text()
      const assets = [...text.matchAll(/(?:href|src)="(\/[^"]*)"/g)].map(([, asset]) => asset)
      if (kind === 'site') assets.push('/favicon.ico')
      if (kind === 'api') assets.push('/healthz', '/readyz', '/metrics')
      assert.equal(assets.length > 1, kind !== 'bare')
      for (const asset of assets) assert.equal((await fetch(base + asset)).status, 200, asset)
    }

    /** By an address that is not localhost and without TLS. */
    async function serves (cwd, kind, script) {
      const [port, child] = await onFreePort(async port => {
        return [port, await startScript(script, cwd, { ...clean, PORT: String(port) })]
      })
      try {
        const base = `http://${address()}:${port}`
        await visits(base, kind)
        await refuses(base + { api: '/items', site: '/entries', bare: '/' }[kind], kind)
        assert.doesNotMatch(child.output(), /^ +at |[a-z]Error:/m, 'a refusal is reported')
      } finally {
        process.kill(-child.pid) // with what npm started
        await until(() => isFree(port))
      }
    }

    /** What the middleware set refuses is the client's error, not the app's. */
    async function refuses (url, kind) {
      const json = { 'content-type': 'application/json' }
      const form = { 'content-type': 'application/x-www-form-urlencoded' }
      const requests = [
        [json, '{'], [json, '1'], [json, '{"__proto__":1}'], [json, '"'.repeat(2e6)], [json, '[]'], [json, '{}'],
        [{ ...json, 'content-encoding': 'gzip' }, 'x'], [{ ...json, 'content-encoding': 'x' }, '{}'],
        [{ 'content-type': 'application/json; charset=x' }, '{}'], [{ 'content-type': 'x' }, 'x'],
        [form, 'a[b][c][d][e][f][g]=1'], [form, 'a=1&'.repeat(2000)], [form, `name=${'x'.repeat(4000)}&text=x`]
      ]
      for (const [headers, body] of requests) {
        const { status } = await fetch(url, { method: 'POST', headers, body })
        const isExpected = kind === 'bare' ? status === 200 : status >= 400 && status < 500
        assert(isExpected, `${status} ${JSON.stringify(headers)} ${body.slice(0, 30)}`)
      }
      for (const path of ['/%', '/%E0%A4%A', '/?a=%', '/..%2f..%2fetc/passwd', `/${'x'.repeat(5000)}`]) {
        const { status } = await fetch(new URL(path, url))
        assert(status < 500, `${status} ${path.slice(0, 30)}`)
      }
    }

    /**
     * The steps of the Dockerfile in folders, with the Node of its image: an app that starts of what is copied, and
     * reads the variables of compose.yaml.
     */
    async function builds (cwd, kind, language) {
      const stages = {}
      let stage, command, check, node
      const env = { ...clean }
      const text = fs.readFileSync(path.join(cwd, 'Dockerfile'), 'utf8')
      const ignored = fs.readFileSync(path.join(cwd, '.dockerignore'), 'utf8').split('\n')
      for (const [, instruction, value] of text.matchAll(/^([A-Z]+) (.+)$/gm)) {
        const words = value.split(' ')
        if (instruction === 'FROM') {
          stage = path.join(folder, `image-${kind}-${language}-${Object.keys(stages).length}`)
          node = process.platform === 'linux' ? nodeOf(/^node:(\d+)-/.exec(value)[1]) : process.execPath
          env.PATH = `${path.dirname(node)}${path.delimiter}${clean.PATH}`
          stages[words[2] ?? 'last'] = stage
          fs.mkdirSync(stage)
        } else if (instruction === 'COPY') {
          const from = words[0].startsWith('--from=') ? stages[words.shift().slice(7)].replace(/$/, '') : cwd
          for (const name of words.slice(0, -1)) {
            if (name.startsWith('*')) {
              const matching = fs.readdirSync(from).filter(file => file.endsWith(name.slice(1)))
              for (const file of matching) fs.copyFileSync(path.join(from, file), path.join(stage, file))
            } else if (!['.', '/app'].includes(name)) fs.copyFileSync(path.join(from, name), path.join(stage, name))
            else copyAll(from, stage, from === cwd ? ignored : [])
          }
        } else if (instruction === 'RUN') {
          await succeeds(stage, 'sh', ['-c', value.replace(/ && (?:npm cache clean --force|chown node .*)$/, '')], env)
        } else if (instruction === 'ENV') {
          for (const pair of words) env[pair.split('=')[0]] = pair.split('=')[1]
        } else if (instruction === 'CMD') {
          command = JSON.parse(value)
        } else if (instruction === 'HEALTHCHECK') {
          check = JSON.parse(value.slice(value.indexOf('[')))
        }
      }
      assert.equal(fs.existsSync(path.join(stage, '.github')), false)
      assert.equal(fs.readdirSync(path.join(stage, 'node_modules/.cache/compile')).length, 1, 'the image has no compiled code')
      assert.equal(fs.existsSync(path.join(stage, 'node_modules/typescript')), false)
      assert.equal(await succeeds(stage, node, ['-e', TRANSLATES], env), 'Good day') // by i18next, whose peer typescript is
      const size = sizeOf(path.join(stage, 'node_modules'))
      assert(size < 20e6, `node_modules of the image has ${size} bytes`)
      const [program, ...args] = command
      assert.equal(program, 'node')
      if (redis) env.REDIS_URL = redisUrl(cwd).replace('redis:6379', `127.0.0.1:${redis.port}`)

      const child = await onFreePort(async port => {
        env.PORT = String(port)
        return start(args, env, stage, node)
      })
      await visits(child.url, kind)
      assert.equal((await fetch(`${child.url}/readyz`)).status, 200)
      await succeeds(stage, check[0], check.slice(1), env)
      if (env.REDIS_URL) await keepsInRedis(child.url, kind)
      assert.equal(await child.stop(), 0)
      const { code } = await run(check[0], check.slice(1), { cwd: stage, env })
      assert.equal(code, 1, 'the check passes without a server')
    }

    async function keepsInRedis (url, kind) {
      const limit = async () => Number((await fetch(`${url}/items`)).headers.get('x-ratelimit-remaining'))
      if (kind === 'api') assert.equal(await limit() - await limit(), 1)
      else await (await fetch(url)).text() // its form has a token of the session
      const client = new Redis(redis.port)
      const keys = await client.keys('*')
      client.disconnect()
      assert(keys.some(key => key.startsWith({ api: 'limit:', site: 'koa:sess:' }[kind])), `${kind}: ${keys}`)
    }
  })

  // The editor brings typescript and node's types. One program of the projects above, so that it reads the declarations once.
  it('should write JavaScript that type-checks', async () => {
    const include = PROJECTS.filter(name => name.endsWith('-js'))
    fs.writeFileSync(path.join(folder, 'jsconfig.json'), JSON.stringify({ extends: `./${include[0]}/jsconfig.json`, include, exclude: ['*/node_modules'] }))
    const found = await succeeds(folder, process.execPath, [
      require.resolve('typescript/bin/tsc'), '-p', 'jsconfig.json', '--typeRoots', path.join(root, 'node_modules/@types'),
      '--types', 'node', '--listFiles'
    ])
    for (const name of include) assert.match(found, new RegExp(`/${name}/app\\.js$`, 'm'))
  })

  it('should write what it is asked for', async () => {
    await make('plain', '--bare')
    assert.deepEqual(list('plain'), [
      '.dockerignore', '.env.example', '.github/workflows/test.yml', '.gitignore', 'Dockerfile', 'README.md', 'app.js',
      'app.test.js', 'compose.yaml', 'eslint.config.js', 'jsconfig.json', 'package.json', 'server.js', 'setup.js'
    ])
    assert.equal(redisUrl(path.join(folder, 'plain')), undefined)
    const { name, dependencies, scripts, devDependencies } = manifest('plain')
    assert.equal(name, 'plain')
    assert.deepEqual(dependencies, { kone: `^${version}` })
    assert.deepEqual(Object.keys(scripts), ['dev', 'lint', 'routes', 'start', 'test'])
    assert.deepEqual(Object.keys(devDependencies), ['eslint', 'neostandard'])

    await make('deep/typed', '--ts', '--bare')
    assert.deepEqual(list('deep/typed/src'), ['app.test.ts', 'app.ts', 'server.ts', 'setup.ts'])
    assert.equal(manifest('deep/typed').name, 'typed')
    assert.ok(manifest('deep/typed').devDependencies.typescript)
    assert.equal('esbuild' in manifest('deep/typed').devDependencies, !process.features.typescript)

    await make('typed-api', '--ts', '--api')
    assert.deepEqual(Object.keys(manifest('typed-api').dependencies), ['ioredis', 'kone', 'prom-client', 'zod'])
    assert.deepEqual(Object.keys(manifest('typed-api').scripts), ['build', 'dev', 'lint', 'routes', 'start', 'test'])

    await make('site')
    assert.ok(list('site').includes('views/index.html'))
  })

  it('should take an empty folder, and one with nothing but a repository', async () => {
    fs.mkdirSync(path.join(folder, 'empty'))
    await make('empty', '--bare')
    fs.mkdirSync(path.join(folder, 'cloned/.git'), { recursive: true })
    fs.writeFileSync(path.join(folder, 'cloned/.git/HEAD'), '')
    const { code, stdout } = await run(process.execPath, [create, '.', '--bare'], { cwd: path.join(folder, 'cloned') })
    assert.equal(code, 0)
    assert.doesNotMatch(stdout, /cd /)
    assert.equal(manifest('cloned').name, 'cloned')
  })

  it('should copy the tarball that KONE_SPEC names, absolute or relative to the project', async () => {
    fs.writeFileSync(path.join(folder, 'kone-1.tgz'), 'x')
    for (const [name, spec] of [['absolute', `file:${folder}/kone-1.tgz`], ['relative', 'file:../kone-1.tgz']]) {
      await run(process.execPath, [create, name, '--bare'], { cwd: folder, env: { ...process.env, KONE_SPEC: spec } })
      assert.equal(manifest(name).dependencies.kone, 'file:kone-1.tgz')
      assert(list(name).includes('kone-1.tgz'))
    }
  })

  it('should take the options that npm keeps where no -- is before them', async () => {
    const variables = { npm_config_api: 'true', npm_config_ts: 'true', npm_config_bare: '' } // --api --ts --no-bare
    await run(process.execPath, [create, 'kept'], { cwd: folder, env: { ...process.env, ...variables } })
    assert.deepEqual(Object.keys(manifest('kept').dependencies), ['ioredis', 'kone', 'prom-client', 'zod'])
    assert.ok(manifest('kept').devDependencies.typescript)
  })

  it('should print commands that a shell takes, wherever the project is', async () => {
    for (const [above, expected] of [['My Projects', '"My Projects/a"'], ['(a) & b', '"(a) & b/a"'], ['Büro_2', 'Büro_2/a'], ['..', '../a']]) {
      const cwd = path.join(folder, 'shell/cwd')
      fs.mkdirSync(cwd, { recursive: true })
      const { stdout } = await run(process.execPath, [create, `${above}/a`, '--bare'], { cwd })
      assert(stdout.includes(`\n  cd ${expected.replaceAll('/', path.sep)}\n`), stdout)
    }
  })

  it('should end without a word at Ctrl+C and Ctrl+D in place of a folder', async () => {
    const terminal = path.join(folder, 'terminal.js')
    fs.writeFileSync(terminal, 'process.stdin.isTTY = process.stdout.isTTY = true')
    for (const key of ['\x03', '\x04']) {
      const { code, stdout, stderr } = await run(process.execPath, ['--require', terminal, create], { cwd: folder }, key)
      assert.deepEqual([code, stderr], [130, ''])
      assert.match(stdout, /folder \(my-app\): .*\n$/)
    }
  })

  it('should name every variable that the code reads in .env.example, and no other', async () => {
    for (const kind of ['bare', 'site', 'api']) {
      await make(`env-${kind}`, ...kind === 'site' ? [] : [`--${kind}`])
      const code = list(`env-${kind}`).filter(file => /^\w+\.js$/.test(file))
        .map(file => fs.readFileSync(path.join(folder, `env-${kind}`, file), 'utf8')).join('')
      const read = new Set([...code.matchAll(/process\.env\.(\w+)/g)].map(([, name]) => name))
      const example = fs.readFileSync(path.join(folder, `env-${kind}`, '.env.example'), 'utf8')
      assert.deepEqual([...example.matchAll(/^(\w+)=/gm)].map(([, name]) => name).sort(), [...read].sort(), kind)
    }
  })

  it('should tell its usage and its version, which is that of kone', async () => {
    assert.match((await make('--help')).stdout, /^usage: npm create kone <folder>/)
    assert.equal((await make('--version')).stdout, `${version}\n`)
  })

  const template = file => fs.readFileSync(path.join(root, 'create/template', file), 'utf8')

  it('should make a server that ends where its port is in use, though Redis is connected', async () => {
    await make('taken', '--api')
    const cwd = path.join(folder, 'taken')
    fs.mkdirSync(path.join(cwd, 'node_modules'))
    fs.symlinkSync(root, path.join(cwd, 'node_modules/kone'))
    for (const name of ['ioredis', 'prom-client', 'zod']) fs.symlinkSync(path.join(root, 'node_modules', name), path.join(cwd, 'node_modules', name))
    const taken = net.createServer().listen(0) // it accepts what Redis would
    await once(taken, 'listening')
    const { port } = taken.address()
    const env = { ...clean, PORT: String(port), REDIS_URL: `redis://127.0.0.1:${port}` }
    const { code, stderr } = await run(process.execPath, ['server.js'], { cwd, env, timeout: 10000, killSignal: 'SIGKILL' })
    taken.close()
    assert.match(stderr, /^listen EADDRINUSE: [^\n]+\n$/)
    assert.equal(code, 1)
  })

  it('should name the ports on which the scripts serve', () => {
    const { port } = read({})
    const [, started] = /PORT\) \|\| (\d+)/.exec(template('all/src/server.ts'))
    for (const kind of ['bare', 'site', 'api']) {
      assert.match(template(`${kind}/README.md`), new RegExp(`npm run dev +http://localhost:${port} \\(PORT\\)`), kind)
      assert.match(template(`${kind}/README.md`), new RegExp(`npm start .*http://localhost:${started} \\(PORT\\)`), kind)
    }
    const page = fs.readFileSync(path.join(root, 'docs/api/create.md'), 'utf8')
    assert.equal(/`npm run dev` .*http:\/\/localhost:(\d+)/.exec(page)[1], String(port))
    assert.equal(/npm start .*http:\/\/localhost:(\d+)/.exec(page)[1], started)
  })

  it('should write the JavaScript that node leaves of the TypeScript', { skip: !stripTypeScriptTypes && 'this Node strips no types' }, () => {
    const spoken = text => text.replace(/\/\*\* @type .*? \*\/ \(([\w.]+)\)/g, '$1').replace(/\s+/g, '').replaceAll(',}', '}')
    for (const file of ['all/src/server.ts', 'all/src/setup.ts', 'redis/src/redis.ts', ...['bare', 'site', 'api'].flatMap(kind => [`${kind}/src/app.ts`, `${kind}/src/app.test.ts`])]) {
      const left = stripTypeScriptTypes(template(file)).replaceAll("'../'", "'./'").replace(/\.ts\b/g, '.js')
      assert.equal(spoken(javascript(template(file))), spoken(left), file)
    }
  })

  it('should be published with all of its files and no dependency', async () => {
    const { stdout } = await run('npm', ['pack', '--dry-run', '--json'], { cwd: path.join(root, 'create') })
    const packed = JSON.parse(stdout)[0].files.map(file => file.path)
    const there = list('.', path.join(root, 'create')).filter(file => file !== 'package.json')
    assert.deepEqual(packed.filter(file => file !== 'package.json').sort(), there)
    const { dependencies, peerDependencies } = require('../create/package.json')
    assert.deepEqual([dependencies, peerDependencies], [undefined, undefined])
  })
})

// the runner's own variables would make the inner `node --test` report to it
const { NODE_TEST_CONTEXT, NODE_OPTIONS, ...clean } = process.env

/** An address of this machine that browsers do not take for a trustworthy one. */
function address () {
  const all = Object.values(os.networkInterfaces()).flat()
  return all.find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? '127.0.0.2'
}

const packagesOf = (cwd, lock) => Object.keys(JSON.parse(fs.readFileSync(path.join(cwd, lock))).packages)

/** What compose.yaml names, if anything. */
function redisUrl (cwd) {
  return /REDIS_URL: (redis:.*)/.exec(fs.readFileSync(path.join(cwd, 'compose.yaml'), 'utf8'))?.[1]
}

function copyAll (from, to, ignored) {
  for (const name of fs.readdirSync(from)) {
    if (ignored.includes(name)) continue
    fs.cpSync(path.join(from, name), path.join(to, name), { recursive: true, verbatimSymlinks: true })
  }
}

function sizeOf (folder) {
  return fs.readdirSync(folder, { recursive: true })
    .reduce((sum, name) => sum + fs.lstatSync(path.join(folder, name)).size, 0)
}

async function succeeds (cwd, program, args, env = clean) {
  const { code, stdout, stderr } = await run(program, args, { cwd, env })
  assert.equal(code, 0, `${program} ${args.join(' ')}\n${stdout}${stderr}`)
  return stdout
}

/** `npm run script` in a group of processes, when it serves. */
async function startScript (script, cwd, env) {
  const flags = script === 'dev' ? ['--', '--host', '0.0.0.0'] : [] // without: localhost alone
  const child = spawn('npm', ['run', '--silent', script, ...flags], { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => { printed += chunk })
  child.output = () => printed
  await until(() => {
    if (child.exitCode !== null) throw new Error(`${script} ended with ${child.exitCode}:\n${printed}`)
    return /http:\/\/localhost:\d+/.test(printed)
  }, 60000)
  return child
}

function isFree (port) {
  return new Promise(resolve => {
    const server = net.createServer().once('error', () => resolve(false))
    server.listen(port, () => server.close(() => resolve(true)))
  })
}

async function make (...args) {
  const { KONE_SPEC, ...env } = process.env
  const made = await run(process.execPath, [create, ...args], { cwd: folder, env })
  assert.equal(made.code, 0, made.stderr)
  return made
}

function run (file, args, options, typed) {
  return new Promise(resolve => {
    const child = execFile(file, args, { maxBuffer: 1e8, ...options }, (err, stdout, stderr) => {
      resolve({ code: err ? err.code : 0, stdout, stderr })
    })
    child.stdin.end(typed)
  })
}

function list (name, from = folder) {
  const at = path.join(from, name)
  return fs.readdirSync(at, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => path.relative(at, path.join(entry.parentPath ?? entry.path, entry.name)))
    .sort()
}

function manifest (name) {
  return JSON.parse(fs.readFileSync(path.join(folder, name, 'package.json')))
}
