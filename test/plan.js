'use strict'

/*
 * Which test files run when. The lists have files and folders; test/plan.test.js checks them.
 */

const { createHash } = require('node:crypto')
const { readdirSync, statSync } = require('node:fs')
const { availableParallelism } = require('node:os')
const { join } = require('node:path')

const ROOT = join(__dirname, '..')

/** Started first, because a long file that starts last is waited for. */
const FIRST = [
  'test/cluster/reload.test.js', 'test/cluster/commands.test.js', 'test/command',
  'test/deploy', 'test/e2e', 'test/types', 'test/security/linear.test.js', 'test/engines/http1/linear.test.js',
  'test/engines/http1/siege.test.js', 'test/engines/http1/late-touch.test.js', 'test/engines/http1/readers.test.js',
  'test/packages/packages.test.js', 'test/security/decoders.test.js'
]

/** Only in `make test-all`: what takes minutes, most of it in programs of others. */
const LONG = [
  'test/agents/agents.test.js', 'test/agents/sticky.test.js', 'test/benchmarks/faults.test.js',
  'test/cluster/commands.test.js',
  'test/command/places.test.js', 'test/command/try.test.js', 'test/command/typescript.test.js', 'test/compat/install.test.js',
  'test/compat/koa3.test.js', 'test/compat/uploads.test.js', 'test/consumers/bundle', 'test/consumers/openapi',
  'test/consumers/package/package.test.js', 'test/consumers/published', 'test/consumers/runners', 'test/create.test.js',
  'test/deploy/app.test.js', 'test/deploy/folder.test.js',
  'test/deploy/hosts.test.js', 'test/deploy/lint.test.js', 'test/docs/getting-started.test.js', 'test/docs/install.test.js',
  'test/docs/site.test.js', 'test/e2e/app.errors.test.js', 'test/e2e/app.look.test.js', 'test/e2e/app.test.js',
  'test/e2e/process.test.js', 'test/engines/fetch/runtimes.set.test.js', 'test/engines/fetch/runtimes.test.js',
  'test/engines/http1/soak.test.js', 'test/middleware/caches.test.js', 'test/middleware/static.disk.test.js', 'test/middleware/websocket.clients.test.js', 'test/middleware/websocket.packages.test.js',
  'test/packages/heavy.test.js', 'test/security/error-costs.test.js',
  'test/security/linear.test.js', 'test/types/compilers.test.js', 'test/types/cost.test.js', 'test/types/path.test.js'
]

/**
 * Twice, the second time with bluebird. An app uses its option Promise for what callback(), close() and inject() return,
 * and for currentContext: all other code sees native promises only, so other files would repeat the first time.
 */
const BLUEBIRD = ['test/application', 'test/context']

/** Of these, what makes no app, or one of `kone` alone. */
const NOT_BLUEBIRD = ['code-generation', 'debug', 'errors', 'exports', 'fake-timers', 'places', 'start', 'walk'].map(name => `test/application/${name}.test.js`)

/** The modules of lib that read the option: whoever adds one adds its tests to BLUEBIRD. */
const SEE_PROMISE = ['lib/application.js', 'lib/bluebird.js', 'lib/engines/host.js']

/** Again in `make test-all`, with servers that other code creates (`KONE_FRONT=callback`). */
const CREATED_ELSEWHERE = ['test/compat/packages.test.js', 'test/engines/http1']

/**
 * On the newest Node alone: what does not depend on the Node under test, or takes its own; and what compares two programs on
 * one Node, where a file of the same middleware states on each Node what it does.
 */
const ANY_NODE = [
  'test/agents', 'test/application/walk.test.js', 'test/benchmarks', 'test/cluster', 'test/command',
  'test/compat/install.test.js', 'test/compat/koa3.test.js', 'test/compat/real.test.js', 'test/compat/uploads.test.js',
  'test/consumers', 'test/create.test.js', 'test/deploy', 'test/docs', 'test/e2e', 'test/engines/fetch/runtimes.set.test.js',
  'test/engines/fetch/runtimes.test.js', 'test/examples.test.js', 'test/lint.test.js', 'test/messages.test.js',
  'test/middleware/caches.test.js', 'test/middleware/openapi.responses.test.js',
  'test/middleware/requestId.oracle.test.js', 'test/middleware/router.oracle.test.js', 'test/middleware/router.syntax.test.js',
  'test/middleware/session.koa-session.test.js', 'test/middleware/session.oracle.test.js',
  'test/middleware/session.races.test.js', 'test/middleware/session.shared.test.js', 'test/middleware/static.disk.test.js',
  'test/middleware/static.oracle.test.js', 'test/middleware/upload.oracle.test.js',
  'test/middleware/websocket.clients.test.js', 'test/middleware/websocket.cost.test.js', 'test/middleware/websocket.ends.test.js',
  'test/middleware/websocket.packages.test.js', 'test/mutants', 'test/options.test.js',
  'test/packages/heavy.test.js', 'test/plan.test.js', 'test/security/error-costs.test.js', 'test/security/linear.test.js',
  'test/security/regexp.test.js', 'test/types', 'test/verbs.test.js', 'test/workflows.test.js'
]

/** Of these, what makes no server of an app by helpers/kone.js: it would repeat the first time. */
const NO_SERVER = ['duties', 'fields', 'input.model', 'output.model', 'parser', 'pieces', 'states'].map(name => `test/engines/http1/${name}.test.js`)

/** And what creates its servers itself, or takes long to test code that does not know who created the server: bytes, bodies. */
const NOT_ELSEWHERE = [
  ...NO_SERVER,
  ...[
    'chunks', 'contexts', 'created-elsewhere', 'file-buffers', 'framing', 'fuzz', 'harness', 'kept-memory', 'late-touch', 'linear',
    'memory', 'readers', 'siege', 'sink', 'soak'
  ].map(name => `test/engines/http1/${name}.test.js`)
]

/**
 * What measures CPU or memory against a bound, and repeats what others disturb: one file per core, behind the others, which
 * wait longer than they compute.
 */
const MEASURING = [
  'test/engines/http1/linear.test.js', 'test/engines/http1/siege.test.js', 'test/engines/http1/soak.test.js',
  'test/middleware/websocket.cost.test.js', 'test/security/error-costs.test.js', 'test/security/linear.test.js',
  'test/security/regexp.test.js', 'test/types/cost.test.js'
]

/** While writing: lib and the set, without what takes long. */
const QUICK = ['test/application', 'test/compose', 'test/context', 'test/middleware', 'test/request', 'test/response']
const NOT_QUICK = [
  'test/middleware/bodyParser.oracle.test.js', 'test/middleware/caches.test.js', 'test/middleware/rateLimit.test.js',
  'test/middleware/router.oracle.test.js',
  'test/middleware/session.koa-session.test.js', 'test/middleware/session.oracle.test.js',
  'test/middleware/session.races.test.js', 'test/middleware/session.redis.test.js', 'test/middleware/session.shared.test.js',
  'test/middleware/static.disk.test.js', 'test/middleware/static.oracle.test.js', 'test/middleware/upload.oracle.test.js'
]

/**
 * The test files of files and folders.
 *
 * @param {string[]} paths
 * @return {string[]} from the root, sorted
 */
function filesOf (paths) {
  const files = paths.flatMap(path => {
    if (!statSync(join(ROOT, path)).isDirectory()) return path
    return readdirSync(join(ROOT, path), { recursive: true })
      .filter(name => name.endsWith('.test.js') && !name.includes('node_modules'))
      .map(name => join(path, name))
  })
  return [...new Set(files)].sort()
}

function without (files, paths) {
  const left = new Set(filesOf(paths))
  return files.filter(file => !left.has(file))
}

/** The longest first. */
function inOrder (files) {
  const first = new Set(FIRST.flatMap(path => filesOf([path])).filter(file => files.includes(file)))
  return [...first, ...files.filter(file => !first.has(file))]
}

/**
 * A part of the files, the same for the same seed.
 *
 * @param {string[]} files
 * @param {string} seed 'whole' for all of them
 * @param {number} share of 1
 */
function sample (files, seed, share) {
  return files.filter(file => seed === 'whole' || createHash('sha256').update(`${seed} ${file}`).digest().readUInt32BE() < share * 2 ** 32)
}

/** A pass of test/run.js as one or two: what waits, then what measures, if there is much of it. */
function parts (pass) {
  const measuring = pass.files.filter(file => MEASURING.includes(file))
  if (measuring.length === 0 || measuring.length === pass.files.length) return pass
  return [
    { ...pass, files: without(pass.files, measuring) },
    { ...pass, title: `${pass.title}, what measures`, files: measuring, concurrency: String(availableParallelism()) }
  ]
}

module.exports = {
  ANY_NODE,
  BLUEBIRD,
  CREATED_ELSEWHERE,
  FIRST,
  LONG,
  MEASURING,
  NOT_BLUEBIRD,
  NOT_ELSEWHERE,
  NOT_QUICK,
  NO_SERVER,
  QUICK,
  SEE_PROMISE,
  filesOf,
  inOrder,
  parts,
  sample,
  without
}
