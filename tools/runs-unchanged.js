'use strict'

const fs = require('node:fs')
const path = require('node:path')
const acorn = require('acorn')
const walk = require('acorn-walk')

const ROOT = path.join(__dirname, '..')
const BEGIN = '<!-- runs-unchanged -->'
const END = '<!-- /runs-unchanged -->'

const LEGEND = 'Unmodified, in the tests of these files. In brackets: how many tests, or of whole applications how many ' +
  'compared responses.'

/** Documents that may have the block. */
const DOCUMENTS = ['README.md', 'docs/api/real-applications.md', 'docs/guide/koa-packages.md']

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
 * @return {{ name: string, version: string, files: string[], tests: number }[]}
 */
exports.list = function () {
  const packages = new Map()
  for (const { name, file, tests, ...rest } of [...ofSuites(), ...ofAgents(), ...ofApplications()]) {
    const entry = entryOf(name, file)
    const version = rest.version ?? entry?.version
    if (version === undefined) continue // node's own, `stream.pipeline` for example
    const shown = entry?.name ?? NAMES[name] ?? name // `express4` is an alias for `express`
    const key = `${shown} ${version}`
    const known = packages.get(key) ?? { name: shown, version, files: [], tests: 0 }
    packages.set(key, {
      ...known,
      files: known.files.includes(file) ? known.files : [...known.files, file],
      tests: known.tests + tests
    })
  }
  return [...packages.values()].sort((a, b) => order(a.name, b.name) || order(a.version, b.version))
}

/**
 * The block for a document: each package with its version and the number of its tests, beside the first file
 * that has them.
 *
 *    block(list())
 *
 * @param {object[]} packages
 * @return {string} Markdown, with the markers
 */
exports.block = function (packages) {
  const files = [...new Set(packages.flatMap(({ files }) => files))].sort()
  const lines = files.map(file => {
    const here = packages.filter(({ files }) => files[0] === file)
    const names = here.map(({ name, version, tests }) => `\`${name}\` ${version} (${tests})`)
    return names.length > 0 ? `- \`${file}\`: ${names.join(', ')}` : ''
  })
  return [BEGIN, '', LEGEND, '', ...lines.filter(Boolean), '', END].join('\n')
}

/**
 * A document with the block made anew; the same text when it has none.
 *
 * @param {string} text
 * @param {object[]} packages
 * @return {string}
 */
exports.update = function (text, packages) {
  const [start, end] = [text.indexOf(BEGIN), text.indexOf(END)]
  if (start < 0 || end < start) return text
  return text.slice(0, start) + exports.block(packages) + text.slice(end + END.length)
}

exports.DOCUMENTS = DOCUMENTS

const order = (a, b) => a.localeCompare(b, 'en')

// ---- the tests

function * ofSuites () {
  const { WAYS } = require('../test/packages/side-by-side')
  yield * suites('test/compat/packages.test.js', 'engines')
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
  let tests = 0
  walk.simple(node, { CallExpression ({ callee }) { if (callee.name === 'it') tests++ } })
  return tests
}

function parse (file) {
  return acorn.parse(fs.readFileSync(path.join(ROOT, file), 'utf8'), { ecmaVersion: 'latest' })
}

function * ofAgents () {
  const agents = Object.keys(require('../test/agents/agents'))
  for (const name of agents) yield { name, file: 'test/agents/agents.test.js', tests: 1 }
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
      yield { name, version, file: 'test/compat/README.md', tests: Number(tests) }
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
  let written = 0
  for (const file of DOCUMENTS.filter(file => fs.existsSync(path.join(ROOT, file)))) {
    const text = fs.readFileSync(path.join(ROOT, file), 'utf8')
    if (!text.includes(BEGIN)) continue
    fs.writeFileSync(path.join(ROOT, file), exports.update(text, packages))
    console.log(`${file}: ${packages.length} packages`)
    written++
  }
  if (written === 0) console.log(exports.block(packages))
}

if (require.main === module) main(process.argv.slice(2))
