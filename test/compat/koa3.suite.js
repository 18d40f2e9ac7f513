'use strict'

/*
 * Runs the tests of Koa 3's repository on kone@3, and compares what fails with koa3.suite.json. Nothing of the repository
 * is kept here.
 *
 *    git clone --depth 1 --branch v3.2.0 https://github.com/koajs/koa /tmp/koa
 *    node test/compat/koa3.suite.js /tmp/koa
 *    node test/compat/koa3.suite.js /tmp/koa --renew
 */

const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { modules } = require('../helpers/kone3')

const KNOWN = path.join(__dirname, 'koa3.suite.json')
const [copy, renew] = process.argv.slice(2)

/** What the tests require, by path. */
const FILES = {
  ...Object.fromEntries(['application', 'context', 'request', 'response'].map(name => [
    `lib/${name}.js`, `module.exports = require(${JSON.stringify(path.join(modules, 'koa'))} + '/lib/${name === 'application' ? 'koa3' : `koa3/${name}`}')`])),
  'lib/search-params.js': "module.exports = require('koa3/lib/search-params')", // private of Koa 3
  'lib/index.mjs': "import Koa from './application.js'\nexport default Koa\n" +
    'export const { HttpError, Kone, compose, createHttpError, isHttpError } = Koa'
}

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'kone-koa3-'))
try {
  for (const name of ['__tests__', 'test-helpers', 'LICENSE']) fs.cpSync(path.join(copy, name), path.join(folder, name), { recursive: true })
  const { version } = JSON.parse(fs.readFileSync(path.join(copy, 'package.json'), 'utf8'))
  const exports = { '.': { import: './lib/index.mjs', default: './lib/application.js' } }
  fs.mkdirSync(path.join(folder, 'lib'))
  fs.writeFileSync(path.join(folder, 'package.json'), JSON.stringify({ name: 'koa', version, main: 'lib/application.js', exports }))
  for (const [name, text] of Object.entries(FILES)) fs.writeFileSync(path.join(folder, name), text)
  fs.symlinkSync(modules, path.join(folder, 'node_modules'))

  const { stdout } = spawnSync(process.execPath, ['--test', '--test-reporter=tap', '__tests__/'], { cwd: folder, encoding: 'utf8', maxBuffer: 64e6 })
  const found = { koa: version, tests: Number(/^# tests (\d+)/m.exec(stdout)[1]), fails: failures(stdout) }
  if (renew) fs.writeFileSync(KNOWN, `${JSON.stringify({ ...found, fails: explained(found.fails) }, null, 2)}\n`)
  else report(found, JSON.parse(fs.readFileSync(KNOWN, 'utf8')))
} finally {
  fs.rmSync(folder, { recursive: true })
}

/** The titles of the tests that failed, without the suites around them. */
function failures (tap) {
  return [...tap.matchAll(/^ *not ok \d+ - (.+)\n(?: +---\n(?: +.*\n)*?) +failureType: '(\w+)'/gm)]
    .filter(([, , type]) => type !== 'subtestsFailed').map(([, title]) => title)
}

function explained (fails) {
  const known = fs.existsSync(KNOWN) ? JSON.parse(fs.readFileSync(KNOWN, 'utf8')).fails : {}
  return Object.fromEntries(fails.map(title => [title, known[title] ?? '']))
}

function report ({ koa, tests, fails }, known) {
  const news = fails.filter(title => !known.fails[title])
  const gone = Object.keys(known.fails).filter(title => !fails.includes(title))
  console.log(`Koa ${koa}: ${tests - fails.length} of ${tests} pass, ${fails.length} differ as they are known to`)
  for (const title of news) console.log(`  fails, and is not in koa3.suite.json: ${title}`)
  for (const title of gone) console.log(`  passes, and is in koa3.suite.json: ${title}`)
  process.exitCode = Number(news.length + gone.length > 0)
}
