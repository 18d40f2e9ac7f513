'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')

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
        const text = file.endsWith('agents.test.js') ? read('test/agents/agents.js') : read(file)
        assert(text.includes(name), `${name} in ${file}`)
      }
    }
  })

  it('should have every suite of test/packages that is of a package', () => {
    const [, ...rows] = read('test/packages/packages.test.js').split(/^sideBySide\('/m)
    const names = new Set(packages.map(({ name }) => name))
    const missing = rows.map(row => row.slice(0, row.indexOf("'"))).filter(name => !names.has(name))
    assert.deepEqual(missing, ['stream.pipeline', 'stream.finished', 'Readable.toWeb', 'res.writeEarlyHints'])
  })

  it('should be in the document as `make runs-unchanged` makes it', () => {
    assert.equal(read(DOCUMENT), update(read(DOCUMENT), packages), `${DOCUMENT}: make runs-unchanged`)
    assert.equal(read(FACTS), facts(packages), `${FACTS}: make runs-unchanged`)
  })

  it('should give kone doctor every package, what replaces it, and measured gains', () => {
    const { packages: known, set } = JSON.parse(facts(packages))
    assert.deepEqual(Object.entries(known).flatMap(([name, all]) => all.map(({ version }) => `${name} ${version}`)).sort(),
      packages.map(({ name, version }) => `${name} ${version}`).sort())
    for (const [name, { middleware, gain }] of Object.entries(set)) {
      assert(read(`middleware/${middleware}/README.md`).includes(name), name)
      if (gain) assert(gain.min <= gain.ratio && gain.ratio <= gain.max, name)
    }
    assert.equal(set['koa-static'].middleware, 'static')
    assert(set['koa-static'].gain.ratio > 0)
    assert.deepEqual(set['@koa/cors'], { middleware: 'cors' }, 'cors wraps the package')
    assert(known['koa-send'][0].gain.app.includes('koa-send'))
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
