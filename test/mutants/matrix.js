'use strict'

/*
 * Mutants × suites: `make mutants ARGS=--matrix`. A sample of the mutants of an area, the same each time, against each of
 * its suites, at the share that `make test` runs: which suite kills which, and which kills none that no other kills. A
 * mutant takes a minute or more; what is done is kept, so that an interrupted run goes on where it was. matrix.md has the
 * result.
 */

const { spawn } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { parse } = require('acorn')
const { full } = require('acorn-walk')

const { random } = require('../helpers/random')
const { filesOf } = require('../plan')
const EQUAL = require('./equal')

const ROOT = path.join(__dirname, '../..')
const KEPT = path.join(ROOT, 'node_modules/.cache/kone-matrix.json')
const PAGE = path.join(__dirname, 'matrix.md')

/** What the tests need of a checkout, beside its packages. */
const COPIED = [
  'lib', 'middleware', 'cluster', 'command', 'create', 'examples', 'test', 'tools', 'docs', 'benchmarks/lib', 'benchmarks/labs', 'benchmarks/results',
  'pm2.js', 'package.json', 'eslint.config.js', 'README.md', 'MIGRATION.md', 'CHANGELOG.md', 'LICENSE', 'SECURITY.md', 'CONTRIBUTING.md'
]

/** Area → what is changed, how often, and its suites: a test file is in the first whose expression its name matches. */
const AREAS = {
  front: {
    sources: ['lib/front'],
    count: 24,
    tests: ['test/engines/http1'],
    suites: {
      corpus: /^corpus/,
      fuzz: /^fuzz/,
      framing: /^framing/,
      'input model': /^input/,
      'output model': /^output/,
      siege: /^siege/,
      readers: /^readers/,
      'by hand': /^(?!soak|linear|memory|kept-memory|duties|harness|generator)/
    }
  },
  lib: {
    sources: ['lib/application.js', 'lib/compose.js', 'lib/context.js', 'lib/final.js', 'lib/request.js', 'lib/respond.js', 'lib/response.js', 'lib/core',
      'lib/engines/memory', 'lib/engines/node', 'lib/shared'],
    count: 16,
    tests: ['test/application', 'test/compose', 'test/context', 'test/request', 'test/response', 'test/compat/engines.test.js',
      'test/compat/tables.test.js', 'test/engines/http1/corpus.test.js', 'test/engines/http1/fuzz.test.js'],
    suites: {
      'compat/engines': /^engines/,
      'compat/tables': /^tables/,
      'corpus of the front': /^corpus/,
      'fuzz of the front': /^fuzz/,
      'by hand': /^(?!walk|places|start)/
    }
  },
  set: {
    sources: ['middleware'],
    count: 16,
    tests: ['test/middleware'],
    suites: {
      oracles: /\.oracle\.|koa-session/,
      'of all middleware': /^(?:changed-bytes|effects|error-headers|fast-path|index|messages|options|orders|promises|report|stateless|sync|unread|web-classes)/,
      'by hand': /^(?!caches|static\.disk|session\.redis|websocket)/
    }
  }
}

/** Sources that are left out: lists, and what is tested beside servers of others alone. */
const LEFT = /options\.js$|^middleware\/(?:index\.js|websocket)/

/** Of the test files of an area, those of each suite. */
function suitesOf ({ tests, suites }) {
  const left = new Set(filesOf(tests))
  return Object.entries(suites).map(([name, expression]) => {
    const files = [...left].filter(file => expression.test(path.basename(file)))
    for (const file of files) left.delete(file)
    return { name, files }
  })
}

/** By hand a middleware is tested by the files that are named after it. */
function filesFor (name, files, source) {
  const [, middleware] = /^middleware\/([a-z]\w*)\//i.exec(source) ?? []
  return middleware && name === 'by hand' ? files.filter(file => path.basename(file).startsWith(`${middleware}.`)) : files
}

const OTHER = { '<': '<=', '>': '>=', '<=': '<', '>=': '>', '===': '!==', '!==': '===', '==': '!=', '!=': '==', '&&': '||', '||': '&&' }

/** What can be changed of a source: `{ start, end, to }`. */
function changesOf (text) {
  const found = []
  const add = ({ start, end }, to) => found.push({ start, end, to })
  full(parse(text, { ecmaVersion: 'latest', sourceType: 'script', allowHashBang: true }), node => {
    const { type, operator, left, test, expression } = node
    if ((type === 'IfStatement' || type === 'ConditionalExpression') && test) for (const to of ['true', 'false']) add(test, to)
    if (left && operator in OTHER) {
      const start = text.indexOf(operator, left.end)
      add({ start, end: start + operator.length }, OTHER[operator])
    }
    if (type === 'ExpressionStatement' && ['AssignmentExpression', 'CallExpression', 'UpdateExpression'].includes(expression.type) &&
      expression.callee?.type !== 'Super' && !/^(?:module\.)?exports/.test(text.slice(node.start))) add(node, ';')
  })
  return found
}

/** As many mutants of an area as it says, from files in turn, none that equal.js explains. */
function mutantsOf ({ sources, count }) {
  const files = sources.flatMap(source => source.endsWith('.js')
    ? source
    : fs.readdirSync(path.join(ROOT, source), { recursive: true }).filter(name => name.endsWith('.js')).map(name => `${source}/${name}`))
    .filter(name => !LEFT.test(name)).sort()
  const choice = random(1)
  const mutants = []
  while (mutants.length < count) {
    const file = choice.pick(files)
    const text = fs.readFileSync(path.join(ROOT, file), 'utf8')
    const changes = changesOf(text)
    if (changes.length === 0) continue
    const change = choice.pick(changes)
    const line = text.slice(0, change.start).split('\n').length
    const whole = text.split('\n')[line - 1].trim()
    const isExplained = (EQUAL[file] ?? []).some(one => one.line === whole && [undefined, change.to].includes(one.to))
    if (!isExplained) mutants.push({ file, line, whole, ...change, from: text.slice(change.start, change.end) })
  }
  return mutants
}

/** Whether all files of a suite pass in a copy: it ends with the first test that fails. */
function passes (folder, files, within) {
  return new Promise(resolve => {
    const child = spawn(process.execPath, ['--test', '--test-reporter=tap', '--test-concurrency=2', ...files], {
      cwd: folder,
      env: { ...process.env, KONE_TESTS: '' },
      detached: true, // a group that ends as a whole, with the servers of its tests
      stdio: ['ignore', 'pipe', 'ignore']
    })
    const end = () => {
      try {
        process.kill(-child.pid, 'SIGKILL')
      } catch {}
    }
    process.once('exit', end)
    let isKilled = false
    let rest = ''
    const kill = () => {
      isKilled = true
      end()
    }
    const timer = setTimeout(kill, within)
    child.stdout.setEncoding('utf8').on('data', text => {
      rest = (rest + text).slice(-4096)
      if (/^ *not ok /m.test(rest)) kill()
    })
    child.on('close', code => {
      clearTimeout(timer)
      end()
      process.off('exit', end)
      resolve(!isKilled && code === 0)
    })
  })
}

function copy () {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'kone-matrix-'))
  for (const name of COPIED) {
    fs.cpSync(path.join(ROOT, name), path.join(folder, name), { recursive: true, filter: from => !from.endsWith('node_modules') })
  }
  fs.symlinkSync(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'))
  return folder
}

/** Area → its suites, each with its files. */
exports.suites = () => Object.fromEntries(Object.entries(AREAS).map(([name, area]) => [name, suitesOf(area)]))

/** The areas that are looked at. */
exports.AREAS = Object.keys(AREAS)

/** Run what is missing of these areas, or of all, and write the page. */
exports.matrix = async function (names) {
  const read = () => fs.existsSync(KEPT) ? JSON.parse(fs.readFileSync(KEPT, 'utf8')) : {}
  let kept = read()
  const keep = (key, value) => { // read again: other areas may run beside this one
    kept = { ...read(), [key]: value }
    fs.mkdirSync(path.dirname(KEPT), { recursive: true })
    fs.writeFileSync(KEPT, JSON.stringify(kept))
  }
  const all = Object.entries(AREAS).map(([name, area]) => ({ name, suites: suitesOf(area), mutants: mutantsOf(area) }))
  const areas = all.filter(({ name }) => names.length === 0 || names.includes(name))
  const folder = copy()
  process.once('SIGTERM', () => process.exit())
  process.once('exit', () => fs.rmSync(folder, { recursive: true, force: true }))
  for (const { name: area, suites } of areas) {
    for (const { name, files } of suites) {
      const key = `${area}: ${name}`
      if (key in kept) continue
      const start = performance.now()
      const isGood = await passes(folder, files, 300_000)
      keep(key, isGood ? Math.round((performance.now() - start) / 100) / 10 : null)
      console.log(`${key}: ${isGood ? `${kept[key]} s` : 'fails without a mutant, and is left out'}`)
    }
  }
  const most = Math.max(...areas.map(({ mutants }) => mutants.length))
  for (let i = 0; i < most; i++) {
    for (const { name: area, suites, mutants } of areas) if (mutants[i]) await run(area, suites, mutants[i])
  }
  fs.writeFileSync(PAGE, page(all, kept))

  async function run (area, suites, { file, line, start, end, from, to }) {
    const key = `${file}:${line}: ${from} → ${to}`
    if (kept[key]?.isDone) return
    const text = fs.readFileSync(path.join(ROOT, file), 'utf8')
    fs.writeFileSync(path.join(folder, file), text.slice(0, start) + to + text.slice(end))
    const killed = kept[key]?.killed ?? {}
    for (const { name, files } of suites) {
      const seconds = kept[`${area}: ${name}`]
      const taken = filesFor(name, files, file)
      if (seconds === null || name in killed || taken.length === 0) continue
      killed[name] = !await passes(folder, taken, 1000 * (30 + 4 * seconds))
      keep(key, { area, killed })
    }
    keep(key, { area, killed, isDone: true })
    fs.writeFileSync(PAGE, page(all, kept))
    fs.writeFileSync(path.join(folder, file), text)
    console.log(`${key}: ${Object.keys(killed).filter(name => killed[name]).join(', ') || 'nobody'}`)
  }
}

function page (areas, kept) {
  const done = Object.entries(kept).filter(([, one]) => one?.isDone)
  const rows = areas.flatMap(({ name: area, suites }) => {
    const all = done.filter(([, one]) => one.area === area).map(([, { killed }]) => killed)
    return suites.map(({ name, files }) => {
      const kills = all.filter(killed => killed[name])
      const alone = kills.filter(killed => Object.values(killed).filter(Boolean).length === 1)
      return `| ${area} | ${name} | ${files.length} | ${kept[`${area}: ${name}`] ?? '–'} | ${kills.length} of ${all.length} | ${alone.length} |`
    })
  })
  const nobody = done.filter(([, { killed }]) => !Object.values(killed).some(Boolean)).map(([key]) => `- \`${key.replaceAll('`', '')}\``)
  return `# Mutants × suites

Made by \`make mutants ARGS=--matrix\`, of a sample of mutants and the share of each suite that \`make test\` runs.
*Alone*: no other suite of the area kills them.

Its mutants are made by acorn, in twenty lines, and those of \`make mutants\` by Stryker: Stryker runs the files of tests one
after the other, all of them once without a mutant, and stops at the first that fails, which is quick for one file of lib
with a few tests. Here each suite has to say whether it kills, beside the servers and processes that it starts.

| area | suite | files | seconds | kills | alone |
| --- | --- | --: | --: | --: | --: |
${rows.join('\n')}

Killed by nobody:

${nobody.join('\n')}
`
}
