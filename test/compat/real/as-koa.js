'use strict'

/*
 * `kone/as-koa` in test runners, in loaders, and in packages' own tests: each command runs on Koa, then with kone in Koa's
 * place, and has to end the same, with as many tests; and kone must have made apps. `make compat ARGS=--as-koa` runs them.
 */

const { execFileSync, execSync, spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')

const { CACHE } = require('../../../benchmarks/lib/servers/binaries')
const { root } = require('../../../benchmarks/lib/servers/kone')

const KOA = '2.16.4'
const AS_KOA = path.join(root, 'command/as-koa')
const COUNT = path.join(__dirname, 'as-koa.count.js')

/** What a package's tests do not need. */
const TOOLS = /eslint|prettier|husky|commitlint|lint-staged|tshy|attw|arethetypeswrong|rimraf|istanbul|^xo$|^c8$|^chalk$/

/** Tests of packages, of their repositories: no tarball has them. `passed` is how many there are. */
const SUITES = {
  router: {
    repository: 'koajs/router',
    tag: 'v15.1.0',
    build: 'npx tsup', // some of its tests load what is published
    env: { TS_NODE_PROJECT: 'tsconfig.ts-node.json' },
    command: 'node --require ts-node/register --test --test-reporter=tap test/*.test.ts test/*/*.test.ts recipes/*/*.test.ts',
    passed: /^# pass (\d+)$/m
  },
  session: { repository: 'koajs/session', tag: 'v7.0.2', command: 'egg-bin test', passed: /^ +(\d+) passing/m },
  static: { repository: 'koajs/static', tag: '5.0.0', command: 'mocha --exit', passed: /^ +(\d+) passing/m },
  bodyparser: { repository: 'koajs/bodyparser', tag: 'v6.0.0', command: 'jest', passed: /^Tests: +(?:\d+ failed, )?(\d+) passed/m }
}

const APP = `const app = new Koa()
app.use(ctx => { ctx.body = 'responded' })
const get = () => new Promise((resolve, reject) => {
  const server = app.listen(0, '127.0.0.1', async () => {
    const res = await fetch('http://127.0.0.1:' + server.address().port)
    server.close()
    res.text().then(resolve, reject)
  })
})
`
const IMPORT = `import Koa from 'koa'\n${APP}`
const REQUIRE = `const Koa = require('koa')\n${APP}`
const PRINT = 'get().then(text => console.log(text))\n'

const FILES = {
  'app.js': REQUIRE + PRINT,
  'app.mjs': IMPORT + PRINT,
  'app.ts': IMPORT.replace('new Promise(', 'new Promise<string>(') + PRINT,
  'ava.mjs': `import test from 'ava'\n${IMPORT}test('app', async t => t.is(await get(), 'responded'))\n`,
  'vitest.test.mjs': `import { expect, it } from 'vitest'\n${IMPORT}it('app', async () => expect(await get()).toBe('responded'))\n`,
  'node-test.mjs': `import { test } from 'node:test'\n${IMPORT}test('app', async t => t.assert.strictEqual(await get(), 'responded'))\n`,
  'sentry.mjs': "import { init } from '@sentry/node'\ninit({ dsn: 'http://key@127.0.0.1:1/1', tracesSampleRate: 1 })\n",
  'jest.test.js': `${REQUIRE}it('app', async () => expect(await get()).toBe('responded'))\n`
}

const PACKAGES = {
  '@opentelemetry/auto-instrumentations-node': '0.75.0',
  '@sentry/node': '11.12.0',
  ava: '6.4.1',
  c8: '10.1.3',
  jest: '30.5.2',
  tsx: '4.23.15',
  vitest: '4.1.12'
}

const RESPONDED = /^(responded)$/m
const OTEL = { OTEL_SDK_DISABLED: 'false', OTEL_TRACES_EXPORTER: 'none', OTEL_METRICS_EXPORTER: 'none', OTEL_LOGS_EXPORTER: 'none' }

/** Runners and loaders, each with an app of its own. */
const RUNNERS = {
  esm: { command: 'node app.mjs', passed: RESPONDED },
  tsx: { command: 'tsx app.ts', passed: RESPONDED },
  c8: { command: 'c8 node app.js', passed: RESPONDED },
  'node-test': { command: 'node --test --test-reporter=tap node-test.mjs', passed: /^# pass (\d+)$/m },
  ava: { command: 'ava --tap ava.mjs', passed: /^# pass (\d+)$/m },
  vitest: { command: 'vitest run vitest.test.mjs', passed: /Tests +(\d+) passed/ },
  'vitest-threads': { command: 'vitest run vitest.test.mjs --pool=threads', passed: /Tests +(\d+) passed/ },
  'vitest-vm': { least: 22, command: 'vitest run vitest.test.mjs --pool=vmThreads', passed: /Tests +(\d+) passed/ },
  jest: { command: 'jest jest.test.js', passed: /^Tests: +(?:\d+ failed, )?(\d+) passed/m },
  opentelemetry: { command: 'node --require @opentelemetry/auto-instrumentations-node/register app.js', env: OTEL, passed: RESPONDED },
  'opentelemetry-import': { command: 'node --import @opentelemetry/auto-instrumentations-node/register app.mjs', env: OTEL, passed: RESPONDED },
  sentry: { command: 'node --import ./sentry.mjs app.mjs', passed: RESPONDED }
}

const ALL = { ...SUITES, ...RUNNERS }

exports.names = Object.keys(ALL)

/**
 * @param {string} name
 * @param {{ node: string }} how node: the binary
 * @return {string} what has passed
 * @throws {Error} if the outcome is another than on Koa, or Koa's
 */
exports.check = function (name, { node }) {
  const project = ALL[name]
  const { version } = process.execPath === node ? process : { version: execFileSync(node, ['-v'], { encoding: 'utf8' }) }
  if (Number.parseInt(version.slice(1)) < project.least) return `left out, it needs Node ${project.least}`
  const folder = project.repository ? cloned(name, project) : runners()
  const isJest = project.command.startsWith('jest')
  const on = (asKoa, more = '') => run(project, { folder, node, asKoa, more })
  const koa = on(false)
  if (koa.code !== 0 || koa.count > 0) throw new Error(`it fails on Koa:${shown(koa.output)}`)
  let kone = on(true)
  if (isJest) { // refused, with what to write
    const [, mapper] = /"moduleNameMapper": (\{.+?\})/.exec(kone.output) ?? []
    if (kone.code === 0 || mapper === undefined) throw new Error(`Jest was not refused:${shown(kone.output)}`)
    kone = on(true, ` --moduleNameMapper='${mapper}'`)
  }
  if (kone.code !== 0 || kone.passed !== koa.passed) throw new Error(`${kone.passed} passed on kone, ${koa.passed} on Koa:${shown(kone.output)}`)
  if (kone.count === 0) throw new Error('no app of it was one of kone')
  return `${koa.passed === 'responded' ? '' : `${koa.passed} tests, `}${kone.count} apps of kone`
}

function run ({ command, env, passed }, { folder, node, asKoa, more }) {
  const made = path.join(folder, 'made.txt')
  fs.rmSync(made, { force: true })
  const { status, stdout, stderr } = spawnSync(command + more, {
    cwd: folder,
    shell: true,
    encoding: 'utf8',
    timeout: 120_000,
    env: {
      ...process.env,
      ...env,
      CI: '',
      NO_COLOR: '1',
      NODE_ENV: undefined,
      NODE_TEST_CONTEXT: undefined,
      PATH: [path.join(folder, 'node_modules/.bin'), path.dirname(node), process.env.PATH].join(path.delimiter),
      NODE_OPTIONS: `--require ${COUNT}${asKoa ? ` --require ${AS_KOA}` : ''}`,
      KONE_MADE: made
    }
  })
  const output = `${stdout}${stderr}`
  const count = fs.existsSync(made) ? fs.statSync(made).size : 0
  return { code: status, output, passed: passed.exec(output)?.[1], count }
}

/** The lines that say what failed, or the last ones. */
function shown (output) {
  const lines = output.trim().split('\n')
  const failed = lines.filter(line => /^\s*not ok|✖|● |Error\b/.test(line))
  return `\n${(failed.length > 0 ? failed.slice(0, 10) : lines.slice(-10)).join('\n')}`
}

function cloned (name, { repository, tag, build }) {
  const folder = path.join(CACHE, 'as-koa', `${name}-${tag}`)
  const key = `${KOA} ${build}`
  return installed(folder, { key, build }, () => {
    execFileSync('git', ['-c', 'advice.detachedHead=false', 'clone', '--quiet', '--depth', '1', '--branch', tag, `https://github.com/${repository}`, folder])
    const manifest = JSON.parse(fs.readFileSync(path.join(folder, 'package.json'), 'utf8'))
    const devDependencies = Object.fromEntries(Object.entries(manifest.devDependencies).filter(([name]) => !TOOLS.test(name)))
    return { ...manifest, scripts: {}, devDependencies: { ...devDependencies, koa: KOA } }
  })
}

function runners () {
  const folder = path.join(CACHE, 'as-koa', 'runners')
  installed(folder, { key: JSON.stringify(PACKAGES) }, () => ({ name: 'runners', private: true, dependencies: { koa: KOA, ...PACKAGES }, overrides: { 'unrs-resolver': '1.12.2' } }))
  for (const [file, code] of Object.entries(FILES)) fs.writeFileSync(path.join(folder, file), code)
  return folder
}

const QUIETLY = ['--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error', '--legacy-peer-deps', '--ignore-scripts']

/** A folder with its packages, made once for a key. */
function installed (folder, { key, build }, make) {
  const stamp = path.join(folder, 'installed')
  if (fs.existsSync(stamp) && fs.readFileSync(stamp, 'utf8') === key) return folder
  console.error(`install ${path.basename(folder)}`)
  const stdio = ['ignore', 'ignore', 'inherit']
  fs.rmSync(folder, { recursive: true, force: true })
  fs.mkdirSync(folder, { recursive: true })
  fs.writeFileSync(path.join(folder, 'package.json'), JSON.stringify(make(), null, 2))
  execFileSync('npm', ['install', ...QUIETLY], { cwd: folder, stdio })
  if (build !== undefined) execSync(build, { cwd: folder, stdio })
  fs.writeFileSync(stamp, key)
  return folder
}
