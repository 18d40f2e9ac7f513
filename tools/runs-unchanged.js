'use strict'

const fs = require('node:fs')
const path = require('node:path')
const acorn = require('acorn')
const walk = require('acorn-walk')

const { pairedRatio } = require('../benchmarks/lib/run/stats')
const mw = require('../benchmarks/results/mw.node26.json')
const applications = require('../test/compat/results.json')
const readme = require('../test/engines/http1/readme')

const ROOT = path.join(__dirname, '..')
/** The document that has the list, between markers. */
const DOCUMENT = exports.DOCUMENT = 'docs/api/real-applications.md'

/** An application decides by itself how it listens, as the page says below. */
const RUNS_ON = { true: 'node:http', false: 'fast path', null: '[as it listens](#what-to-expect)' }

/** What a test has in place of a package's name. */
const NAMES = {
  'express 4': 'express4',
  'express 5': 'express',
  'OpenTelemetry, http alone': '@opentelemetry/instrumentation-http',
  'OpenTelemetry, http and koa': '@opentelemetry/instrumentation-koa'
}

/**
 * The packages that run on kone unchanged, as the tests have them, by name.
 *
 *    list() // [{ name: '@koa/cors', version: '5.0.0', files: ['test/compat/packages.test.js'], tests: 1 }, …]
 *
 * A test is counted once, however many engines it runs on. The packages of an application of test/compat/README.md have
 * the number of its responses that were compared, because each is an assertion of its own.
 *
 * @return {{ name: string, version: string, files: string[], tests: number, fallsBack: boolean|null }[]} `fallsBack`
 *   if kone uses node:http beside the package; null for an application
 */
exports.list = function () {
  const packages = new Map()
  for (const { name, file, tests, fallsBack = false, ...rest } of [...ofSuites(), ...ofAgents(), ...ofApplications()]) {
    const entry = entryOf(name, file)
    const version = rest.version ?? entry?.version
    if (version === undefined) continue // node's own, `stream.pipeline` for example
    const shown = entry?.name ?? NAMES[name] ?? name // `express4` is an alias for `express`
    const key = `${shown} ${version}`
    const known = packages.get(key) ?? { name: shown, version, files: [], tests: 0, fallsBack }
    packages.set(key, {
      ...known,
      files: known.files.includes(file) ? known.files : [...known.files, file],
      tests: known.tests + tests
    })
  }
  return [...packages.values()].sort((a, b) => order(a.name, b.name) || order(a.version, b.version))
}

/**
 * The document with its block made anew.
 *
 *    update(fs.readFileSync(DOCUMENT, 'utf8'), list())
 *
 * @param {string} text
 * @param {object[]} packages
 * @return {string}
 * @throws {Error} if the text lacks the markers `<!-- runs-unchanged -->` and `<!-- /runs-unchanged -->`
 */
exports.update = function (text, packages) {
  const marked = /(<!-- runs-unchanged -->\n)[^]*?(<!-- \/runs-unchanged -->)/
  if (!marked.test(text)) throw new Error(`${DOCUMENT} lacks the markers <!-- runs-unchanged --> and <!-- /runs-unchanged -->`)
  return text.replace(marked, (all, begin, end) => begin + table(packages) + end)
}

/** What `kone doctor` knows, in the package: written of the tests and of benchmarks/results. */
exports.FACTS = 'command/doctor.json'

/**
 * @param {object[]} packages
 * @return {string} JSON of `{ measured, packages, set }`: the tested versions of each package, and what of kone's set
 *   replaces it. A `gain` is the CPU time of kone as a share of Koa's: of the real application that the package is
 *   named first in, or of the lab mw, where both middleware are alone in their app.
 */
exports.facts = function (packages) {
  const known = {}
  for (const { name, version, fallsBack } of packages) {
    const gain = gainOf(applications, name, version)
    known[name] = [...known[name] ?? [], { version, ...fallsBack && { fallsBack }, ...gain && { gain } }]
  }
  const when = ({ date, node }) => `${date.slice(0, 10)}, Node ${node.slice(1)}`
  const measured = [`applications on ${when(applications[0].cost)}`, `middleware on ${when(mw)}`]
  return `${JSON.stringify({ measured, packages: known, set: replaced() }, null, 2)}\n`
}

function gainOf (applications, name, version) {
  const app = applications.find(({ packages }) => packages[0] === `${name} ${version}`)
  if (app?.cost === undefined) return null
  return { app: app.title, ...ratioOf(app.cost.rows, app.name) }
}

function ratioOf (rows, workload) {
  const [kone, koa] = ['kone', 'koa'].map(contender => {
    return rows.find(row => row.workload === workload && row.contender === contender && row.metric === 'cpu')?.rounds
  })
  if (!kone || !koa) return null
  const { median, min, max } = pairedRatio(kone, koa)
  const [ratio, lowest, highest] = [median, min, max].map(figure => Number(figure.toFixed(2)))
  return { ratio, min: lowest, max: highest }
}

/** Package → middleware, by the table of the set. The lab has the package that is named first. */
function replaced () {
  const set = {}
  const text = fs.readFileSync(path.join(ROOT, 'middleware/README.md'), 'utf8')
  for (const [, middleware, replaces] of text.matchAll(/^\| \[(\w+)\]\(.* \| ([^|]+) \| [\d.]+ \|$/gm)) {
    const names = replaces.split(', ').map(one => /^([@\w/-]+)(?: [\d.]+)?$/.exec(one)?.[1]).filter(name => name?.includes('koa'))
    const gain = ratioOf(mw.rows, `${middleware} alone`) ?? ratioOf(mw.rows, `${middleware} and session`)
    // The gain of a package that the middleware wraps is kone's own, not that of the replacement.
    const source = fs.readFileSync(path.join(ROOT, 'middleware', middleware, 'index.js'), 'utf8')
    names.forEach((name, i) => { set[name] = { middleware, ...i === 0 && gain && !source.includes(`require('${name}')`) && { gain } } })
  }
  return set
}

/** Each package with its version, the number of its tests and the files that have them. */
function table (packages) {
  const rows = packages.map(({ name, version, tests, files, fallsBack }) => {
    const cells = [`\`${name}\``, version, tests, files.map(file => `\`${file}\``).join(', '), RUNS_ON[fallsBack]]
    return `| ${cells.join(' | ')} |`
  })
  return ['| package | version | tests | in | runs on |', '| --- | --- | --: | --- | --- |', ...rows, ''].join('\n')
}

const order = (a, b) => a.localeCompare(b, 'en')

// ---- the tests

function * ofSuites () {
  const { WAYS } = require('../test/packages/side-by-side')
  yield * suites('test/compat/packages.test.js', 'besideKoa')
  for (const suite of suites('test/packages/packages.test.js', 'sideBySide')) yield { ...suite, tests: WAYS.length }
  yield * suites('test/packages/others.test.js', 'describe')
}

/** Calls `fn(name, …)` of a file, each with the number of its tests; `name` may come from a loop over a literal. */
function suites (file, fn) {
  const found = []
  walk.ancestor(parse(file), {
    CallExpression (node, state, ancestors) {
      if (node.callee.name !== fn) return
      for (const title of titles(node.arguments[0], ancestors)) {
        found.push({ name: title.split(/'? (?!\d)/)[0], file, tests: count(node.arguments.at(-1)) })
      }
    }
  })
  return found
}

function titles (argument, ancestors) {
  if (argument.type === 'Literal') return [argument.value]
  const loop = ancestors.find(({ type, left }) => type === 'ForOfStatement' && left.declarations?.[0].id.type === 'ArrayPattern')
  return loop === undefined ? [] : loop.right.elements.map(({ elements }) => elements[0].value)
}

function count (node) {
  if (node.type === 'ArrayExpression') return node.elements.length
  let tests = 0
  walk.simple(node, { CallExpression ({ callee }) { if (callee.name === 'it') tests++ } })
  return tests
}

function parse (file) {
  return acorn.parse(fs.readFileSync(path.join(ROOT, file), 'utf8'), { ecmaVersion: 'latest' })
}

function * ofAgents () {
  const fronts = new Map(readme.rows('Who watches every request', 'Watcher'))
  for (const name of Object.keys(require('../test/agents/agents'))) {
    yield { name, file: 'test/agents/agents.test.js', tests: 1, fallsBack: fronts.get(name) !== 'stays' }
  }
  const file = 'test/agents/servers.test.js'
  const text = fs.readFileSync(path.join(ROOT, file), 'utf8')
  for (const [, name] of text.matchAll(/should work alike: ([@\w./-]+)/g)) yield { name, file, tests: 1 }
  yield { name: 'pm2', file, tests: 1 }
}

/** Rows of the table that `make compat` writes: title, packages with versions, koa, responses. */
function * ofApplications () {
  const text = fs.readFileSync(path.join(ROOT, 'test/compat/README.md'), 'utf8')
  for (const [, packages, tests] of text.matchAll(/^\| [^|]+ \| ([^|]+) \| [^|]+ \| (\d+) same \|/gm)) {
    const [first, ...rest] = packages.split(', ')
    for (const one of [first, ...rest.filter(one => one.includes('koa'))]) { // not the database of an app
      const [name, version] = one.split(' ')
      yield { name, version, file: 'test/compat/README.md', tests: Number(tests), fallsBack: null }
    }
  }
}

// ---- the locks

/** What the lock beside a test, or else that of the checkout, has of a package. */
function entryOf (name, file) {
  for (const folder of [path.posix.dirname(file), '.']) {
    const lock = path.join(ROOT, folder, 'package-lock.json')
    if (!fs.existsSync(lock)) continue
    const entry = JSON.parse(fs.readFileSync(lock, 'utf8')).packages[`node_modules/${NAMES[name] ?? name}`]
    if (entry) return entry
  }
}

function main ([option]) {
  const packages = exports.list()
  if (option === '--json') return console.log(JSON.stringify(packages, null, 2))
  const file = path.join(ROOT, DOCUMENT)
  fs.writeFileSync(file, exports.update(fs.readFileSync(file, 'utf8'), packages))
  console.log(`${DOCUMENT}: ${packages.length} packages`)
  fs.writeFileSync(path.join(ROOT, exports.FACTS), exports.facts(packages))
}

if (require.main === module) main(process.argv.slice(2))
