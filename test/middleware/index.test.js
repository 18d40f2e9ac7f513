'use strict'

const assert = require('node:assert/strict')
const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const { describe, it } = require('node:test')
const middleware = require('kone/middleware')
const { generate, names, withNames } = require('../../tools/middleware-index')
const scratch = require('../helpers/folder')()

const folder = path.dirname(require.resolve('kone/middleware'))
const NAMES = names()
const read = (...file) => fs.readFileSync(path.join(folder, ...file), 'utf8')

describe('kone/middleware', () => {
  it('should have every middleware of the set, the same as by its own path', () => {
    assert.deepEqual(Object.keys(middleware), NAMES)
    for (const name of NAMES) {
      assert.equal(typeof middleware[name], 'function', name)
      assert.equal(middleware[name], require(`kone/middleware/${name}`))
    }
  })

  it('should have factories that are named as their folder', () => {
    const own = { router: 'Router', views: 'template' }
    for (const name of NAMES) {
      assert.equal(middleware[name].name, own[name] ?? name)
      if (middleware[name].final) assert.equal(middleware[name].final.name, 'final')
    }
  })

  it('should be what `make index` makes of the folders and their options', () => {
    for (const [file, text] of Object.entries(generate(NAMES))) {
      assert.equal(read('..', file), text, `${file} is stale: run \`make index\``)
    }
  })

  it('should be reached by the name of each, and by no other spelling', async () => {
    const { exports: entries } = require('kone/package.json')
    assert.deepEqual(withNames(entries, NAMES), entries, 'package.json is stale: run `make index`')
    fs.mkdirSync(path.join(scratch, 'node_modules'))
    fs.symlinkSync(path.join(folder, '..'), path.join(scratch, 'node_modules/kone'), 'junction')
    for (const name of NAMES) {
      const typo = name === name.toLowerCase() ? name.toUpperCase() : name.toLowerCase()
      const text = new RegExp(`^there is no such middleware: did you mean kone/middleware/${name}\\?`)
      const file = path.join(scratch, `${name}.js`)
      fs.writeFileSync(file, `require('kone/middleware/${typo}')`)
      assert.throws(() => require(file), { code: 'MODULE_NOT_FOUND', message: text })
      delete require.cache[require.resolve('../../middleware/_shared/wrong-subpath')]
      await assert.rejects(import(`kone/middleware/${typo}`), { message: /^there is no such middleware: expected one of .*bodyParser,/ })
    }
  })

  it('should have code, types and a page for each of them', () => {
    for (const name of NAMES) {
      const files = fs.readdirSync(path.join(folder, name))
      for (const file of ['index.js', 'index.d.ts', 'README.md']) assert(files.includes(file), `${name}/${file}`)
    }
  })

  it('should list each of them in the table of its manual, and no other', () => {
    const listed = [...read('README.md').matchAll(/^\| \[(\w+)\]\((\w+)\/README\.md\)/gm)].map(([, name, target]) => {
      assert.equal(name, target)
      return name
    })
    assert.deepEqual(listed.sort(), NAMES.filter(name => name !== 'views')) // template's second name
  })

  it('should give ES modules its names', async () => {
    const { default: set, 'module.exports': own, ...named } = await import('kone/middleware')
    assert.equal(set, middleware)
    assert.deepEqual(Object.keys(named), NAMES)
    for (const name of NAMES) assert.equal(named[name], middleware[name], name)
  })

  it('should load a middleware when it is first asked for', () => {
    const script = `
      const { sep } = require('node:path')
      const { jsonp } = require('kone/middleware')
      const loaded = name => Object.keys(require.cache).some(file => file.includes(['middleware', name, ''].join(sep)))
      console.log([typeof jsonp, loaded('jsonp'), loaded('i18n'), loaded('template')].join())`
    const text = execFileSync(process.execPath, ['-e', script], { cwd: __dirname, encoding: 'utf8' })
    assert.equal(text, 'function,true,false,false\n')
  })

  it('should keep what its middleware share, and their parts, to itself', () => {
    for (const part of ['_shared/redis', '_shared', 'router/trie', 'router/index', 'session/index.js', 'index']) {
      assert.throws(() => require(`kone/middleware/${part}`),
        err => ['ERR_PACKAGE_PATH_NOT_EXPORTED', 'MODULE_NOT_FOUND'].includes(err.code), part)
    }
  })
})
