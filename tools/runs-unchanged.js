'use strict'

const fs = require('node:fs')
const path = require('node:path')
const acorn = require('acorn')
const walk = require('acorn-walk')

const { newest } = require('../benchmarks/lib/report/figures')
const { RESULTS, read } = require('../benchmarks/lib/run/result')
const { workloads } = require('../benchmarks/labs/dropin/workloads')
const applications = require('../test/compat/real/applications').all()
const readme = require('../test/engines/http1/readme')
const commandLine = require('./command-line')

const ROOT = path.join(__dirname, '..')
/** The document that has the list, between markers. */
const DOCUMENT = exports.DOCUMENT = 'docs/api/real-applications.md'

/** An application decides by itself how it listens, as the page says below. */
const RUNS_ON = { true: 'node:http', false: 'front', null: '[as it listens](#what-to-expect)' }

/** The contender of the lab mw that is kone with the packages that Koa's users have. */
const PACKAGES = 'kone-packages'

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
 * A test is counted once, however many engines it runs on. The packages of an application of test/compat/real have the
 * number of its responses that are compared, because each is an assertion of its own.
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
 * @param {object[]} [results] of the labs
 * @return {string} JSON of `{ measured, api, frameworks, packages, set }`: the tested versions of each package, and
 *   what of kone's set replaces it. A `gain` of an app is the CPU time of kone as a share of Koa's, of the lab dropin;
 *   `api` is that of an API of packages, and a package has that of the application that is of it. A gain of the set is
 *   kone's middleware as a share of the package, both alone in an app of kone, of the lab mw
 */
exports.facts = function (packages, results = read(RESULTS).results) {
  const labs = newest(results)
  const [dropin] = labs.get('dropin') ?? []
  const mw = labs.get('mw')?.find(({ names }) => names.includes(PACKAGES))
  const known = {}
  for (const { name, version, fallsBack } of packages) {
    const app = applications.find(one => first(one) === `${name} ${version}`)
    const gain = app && gainOf(dropin, app.name)
    known[name] = [...known[name] ?? [], { version, ...fallsBack && { fallsBack }, ...gain && { gain } }]
  }
  const measured = [['apps', dropin], ['middleware', mw]].filter(([, figures]) => figures)
    .map(([what, { result, node }]) => `${what} on ${result.date.slice(0, 10)}, Node ${node}`)
  const ofFrameworks = applications.filter(one => one.isFramework).map(({ packages }) => Object.keys(packages)[0])
  const frameworks = [...new Set(ofFrameworks)]
  return `${JSON.stringify({ measured, api: gainOf(dropin, 'API'), frameworks, packages: known, set: replaced(mw) }, null, 2)}\n`
}

const first = ({ packages }) => Object.entries(packages)[0].join(' ')

function gainOf (dropin, name) {
  const gain = share(dropin?.ratio(name, 'kone', 'koa'))
  return gain && { app: workloads.find(({ workload }) => workload === name).about, ...gain }
}

function share (spread) {
  if (!spread) return null
  const [ratio, min, max] = [spread.median, spread.min, spread.max].map(figure => Number(figure.toFixed(2)))
  return { ratio, min, max }
}

/** Package → middleware, by the table of the set. The lab has the package that is named first. */
function replaced (mw) {
  const set = {}
  const text = fs.readFileSync(path.join(ROOT, 'middleware/README.md'), 'utf8')
  for (const [, middleware, replaces] of text.matchAll(/^\| \[(\w+)\]\(.* \| ([^|]+) \| (?:[\d.]+|–) \|$/gm)) {
    const names = replaces.split(', ').map(one => /^([@\w/-]+)(?: [\d.]+)?$/.exec(one)?.[1]).filter(name => name?.includes('koa'))
    const gain = share(['alone', 'and session'].map(how => mw?.ratio(`${middleware} ${how}`, 'kone', PACKAGES)).find(Boolean))
    names.forEach((name, i) => { set[name] = { middleware, ...i === 0 && gain && { gain } } })
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
  for (const file of ['packages', 'heavy.once.long', 'others'].map(name => `test/packages/${name}.test.js`)) {
    for (const suite of suites(file, 'sideBySide')) yield { ...suite, tests: WAYS.length }
    yield * suites(file, 'describe')
  }
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
    yield { name, file: 'test/agents/agents.long.test.js', tests: 1, fallsBack: fronts.get(name) !== 'stays' }
  }
  const file = 'test/agents/servers.test.js'
  const text = fs.readFileSync(path.join(ROOT, file), 'utf8')
  for (const [, name] of text.matchAll(/should work alike: ([@\w./-]+)/g)) yield { name, file, tests: 1 }
  yield { name: 'pm2', file, tests: 1 }
}

function * ofApplications () {
  for (const { name: app, packages, responses } of applications) {
    for (const [i, [name, version]] of Object.entries(packages).entries()) {
      if (i > 0 && !name.includes('koa')) continue // the database of an app
      yield { name, version, file: `test/compat/real/apps/${app}.js`, tests: responses, fallsBack: null }
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

function main () {
  const { values: { json } } = commandLine('runs-unchanged', { json: { type: 'boolean' } }, 'tools/runs-unchanged.js')
  const packages = exports.list()
  if (json) return console.log(JSON.stringify(packages, null, 2))
  const file = path.join(ROOT, DOCUMENT)
  fs.writeFileSync(file, exports.update(fs.readFileSync(file, 'utf8'), packages))
  console.log(`${DOCUMENT}: ${packages.length} packages`)
  fs.writeFileSync(path.join(ROOT, exports.FACTS), exports.facts(packages))
}

if (require.main === module) main()
