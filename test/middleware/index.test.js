'use strict'

const assert = require('node:assert/strict')
const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const { describe, it } = require('node:test')
const middleware = require('kone/middleware')

const NAMES = [
  'router', 'bodyParser', 'session', 'template', 'views', 'logger', 'static', 'cors', 'csrf',
  'helmet', 'i18n', 'jsonp', 'favicon', 'compress', 'etag', 'conditionalGet', 'requestId',
  'rateLimit', 'timeout', 'sse', 'upload', 'rpc', 'isolate'
]

describe('kone/middleware', () => {
  it('should have every middleware of the set, the same as by its own path', () => {
    assert.deepEqual(Object.keys(middleware), NAMES)
    for (const name of NAMES) {
      assert.equal(typeof middleware[name], 'function', name)
      assert.equal(middleware[name], require(`kone/middleware/${name}`))
    }
  })

  it('should have types for each of them', () => {
    const folder = path.dirname(require.resolve('kone/middleware'))
    const files = fs.readdirSync(folder)
    for (const name of NAMES) assert(files.includes(`${name}.d.ts`), name)
  })

  it('should load a middleware when it is first asked for', () => {
    const script = `
      const { jsonp } = require('kone/middleware')
      const loaded = Object.keys(require.cache).map(file => require('node:path').basename(file))
      console.log([typeof jsonp, loaded.includes('jsonp.js'), loaded.includes('i18n.js'), loaded.includes('template.js')].join())`
    const text = execFileSync(process.execPath, ['-e', script], { cwd: __dirname, encoding: 'utf8' })
    assert.equal(text, 'function,true,false,false\n')
  })
})
