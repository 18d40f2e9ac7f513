'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')

const { row } = require('../../benchmarks/lib/run/result')
const { result } = require('../benchmarks/fixtures/labs')
const { rows } = require('../engines/http1/readme')
const { DOCUMENT, FACTS, facts, list, update } = require('../../tools/runs-unchanged')

const ROOT = path.join(__dirname, '../..')
const read = file => fs.readFileSync(path.join(ROOT, file), 'utf8')

describe('the list of packages that run unchanged', () => {
  const packages = list()

  it('should have the packages that Koa apps are made of, with versions and tests', () => {
    const names = packages.map(({ name }) => name)
    for (const name of ['express', 'koa-helmet', '@koa/router', 'pino-http', 'koa-passport', 'dd-trace', 'pm2', '@strapi/strapi', 'ws']) {
      assert(names.includes(name), name)
    }
    assert.deepEqual(packages.filter(({ name }) => name === 'express').map(({ version }) => version[0]), ['4', '5'])
    assert.deepEqual(packages.filter(({ version, tests }) => !/^\d+\.\d+\.\d+/.test(version) || !(tests > 0)), [])
  })

  it('should name files that have them', () => {
    for (const { name, files } of packages) {
      for (const file of files) {
        const text = file.endsWith('agents.long.test.js') ? read('test/agents/agents.js') : read(file)
        assert(text.includes(name), `${name} in ${file}`)
      }
    }
  })

  it('should have every suite of test/packages that is of a package', () => {
    const rows = ['packages', 'heavy.once.long'].flatMap(name => read(`test/packages/${name}.test.js`).split(/^sideBySide\('/m).slice(1))
    const names = new Set(packages.map(({ name }) => name))
    const missing = rows.map(row => row.slice(0, row.indexOf("'"))).filter(name => !names.has(name))
    assert.deepEqual(missing, ['stream.pipeline', 'stream.finished', 'Readable.toWeb', 'res.writeEarlyHints'])
  })

  it('should be in the document as `make runs-unchanged` makes it', () => {
    assert.equal(read(DOCUMENT), update(read(DOCUMENT), packages), `${DOCUMENT}: make runs-unchanged`)
    assert.equal(read(FACTS), facts(packages), `${FACTS}: make runs-unchanged`)
  })

  it('should give kone doctor every package, and what replaces it', () => {
    const { packages: known, set, frameworks } = JSON.parse(facts(packages))
    assert.deepEqual(Object.entries(known).flatMap(([name, all]) => all.map(({ version }) => `${name} ${version}`)).sort(),
      packages.map(({ name, version }) => `${name} ${version}`).sort())
    for (const [name, { middleware }] of Object.entries(set)) assert(read(`middleware/${middleware}/README.md`).includes(name), name)
    assert.equal(set['koa-static'].middleware, 'static')
    for (const name of frameworks) assert(known[name], name)
    assert.equal(new Set(frameworks).size, frameworks.length)
  })

  it('should give it what results have measured: of an app kone ÷ Koa, of the set its middleware ÷ the package, both on kone', () => {
    const measured = (lab, rows) => {
      const made = result(lab)
      const cpu = rows.map(([workload, contender, cost]) => row({ workload, contender, metric: 'cpu', unit: 'µs/request' }, [cost, cost, cost]))
      return { ...made, rows: [...made.rows, ...cpu] }
    }
    const dropin = measured('dropin', [['egg', 'kone', 8], ['egg', 'koa', 10]])
    const mw = measured('mw', [['cors alone', 'kone', 9], ['cors alone', 'kone-packages', 10], ['cors alone', 'koa', 20]])
    const found = JSON.parse(facts(packages, [dropin, mw]))
    assert.deepEqual(found.packages.egg[0].gain, { app: 'Egg 3, a controller and a plugin (GET /greet/Ada)', ratio: 0.8, min: 0.8, max: 0.8 })
    assert.deepEqual(found.set['@koa/cors'], { middleware: 'cors', gain: { ratio: 0.9, min: 0.9, max: 0.9 } })
    assert.match(found.api.app, /^API: koa-helmet/)
    assert.deepEqual(found.measured, ['apps on 2026-11-22, Node 26.1.0', 'middleware on 2026-11-22, Node 26.1.0'])

    const without = JSON.parse(facts(packages, [result('dropin'), result('mw')])) // of the labs before they had these
    assert.deepEqual([without.packages.egg[0].gain, without.set['@koa/cors'].gain, without.measured.length], [undefined, undefined, 1])
    const none = JSON.parse(facts(packages, []))
    assert.deepEqual([none.api, none.measured], [null, []])
  })

  it('should replace what is between the markers', () => {
    const updated = update('# Title\n\n<!-- runs-unchanged -->\nold\n<!-- /runs-unchanged -->\n\nmore\n', packages)
    assert.match(updated, /^# Title\n\n<!-- runs-unchanged -->\n\| package .*\n<!-- \/runs-unchanged -->\n\nmore\n$/s)
    assert.equal(update(updated, packages), updated)
    assert.throws(() => update('# Title\n', packages), /^Error: docs\/api\/real-applications.md lacks the markers/)
  })

  it('should name the packages beside which kone uses node:http', () => {
    // test/agents compares the table, and that each watcher stays
    const falling = rows('Who watches every request', 'Watcher').filter(([, front]) => front !== 'stays').map(([name]) => name)
    assert.deepEqual(packages.filter(({ fallsBack }) => fallsBack).map(({ name }) => name), falling.sort())
  })
})
