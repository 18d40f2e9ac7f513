'use strict'

const assert = require('node:assert/strict')
const { execFileSync } = require('node:child_process')
const { describe, it } = require('node:test')

const ROUNDS = 8

describe("the start of require('kone')", () => {
  it('should load no package that only some requests need', () => {
    const listing = "require('kone'); console.log(JSON.stringify(Object.keys(require.cache)))"
    const files = JSON.parse(execFileSync(process.execPath, ['-e', listing], { cwd: __dirname }))
    const packages = files.map(file => /node_modules[\\/]([^\\/]+)/.exec(file)?.[1]).filter(Boolean)
    assert.deepEqual([...new Set(packages)].sort(), ['encodeurl', 'escape-html', 'fresh', 'parseurl', 'statuses', 'vary'])
  })

  it('should take at most 0.75 of the CPU time that koa takes', () => {
    const least = { kone: Infinity, koa: Infinity } // of several: work of other processes only adds
    for (let round = 0; round < ROUNDS; round++) {
      for (const name of Object.keys(least)) least[name] = Math.min(least[name], timeOf(name))
    }
    assert(least.kone <= 0.75 * least.koa, `${least.kone} and ${least.koa} microseconds`)
  })

  function timeOf (name) {
    const program = `const before = process.cpuUsage(); require('${name}'); const { user, system } = process.cpuUsage(before); console.log(user + system)`
    return Number(execFileSync(process.execPath, ['-e', program], { cwd: __dirname }))
  }
})

describe('what is loaded when it is first needed', () => {
  it('should be enumerable, and an app may replace it, also in a subclass', () => {
    const Kone = require('kone')
    class Mine extends Kone {}
    Mine.HttpError = RangeError
    assert.equal(Mine.HttpError, RangeError)
    assert.notEqual(Kone.HttpError, RangeError)
    assert.deepEqual(Object.keys(Kone).sort(), ['HttpError', 'Kone', 'compose', 'createHttpError', 'default', 'isHttpError'])
  })

  it('should be named for an import of lib/application.js', async () => {
    const { HttpError } = await import('kone/lib/application.js')
    assert.equal(HttpError, require('http-errors').HttpError)
  })
})
