'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')

const root = path.join(__dirname, '../../middleware')

describe('the set where there are no web classes', () => {
  it('should respond as everywhere', () => {
    const program = `
      for (const name of ['ReadableStream', 'Response', 'Blob']) delete globalThis[name]
      const { Readable } = require('node:stream')
      const Kone = require('kone')
      const bodies = {
        '/json': () => ({ a: 'b'.repeat(3000) }),
        '/text': () => 'text'.repeat(1000),
        '/buffer': () => Buffer.alloc(4000, 'x'),
        '/stream': () => Readable.from(['stream'])
      }
      async function statuses ([name, ...args]) {
        const app = new Kone()
        app.silent = true
        app.use(require('kone/middleware')[name](...args))
        app.use(ctx => {
          ctx.body = bodies[ctx.path]()
          ctx.type ||= 'text'
        })
        const seen = []
        for (const url of Object.keys(bodies)) {
          const res = await app.inject({ url: url + '?callback=fn', headers: { 'accept-encoding': 'gzip' } })
          seen.push(res.status)
        }
        return [name, seen]
      }
      const set = [['compress'], ['conditionalGet'], ['etag'], ['jsonp'], ['timeout', 60000]]
      Promise.all(set.map(statuses)).then(all => process.stderr.write(JSON.stringify(all), () => process.exit()))
    `
    const { stderr } = spawnSync(process.execPath, ['-e', program], {
      cwd: path.join(__dirname, '../..'), encoding: 'utf8', env: { ...process.env, NODE_TEST_CONTEXT: undefined }
    })
    for (const [name, statuses] of JSON.parse(stderr)) assert.deepEqual(statuses, [200, 200, 200, 200], name)
  })

  it('should read these globals in one file', () => {
    const reading = fs.readdirSync(root, { recursive: true })
      .filter(file => file.endsWith('.js') && !file.includes('node_modules'))
      .filter(file => /instanceof (Blob|ReadableStream|Response)\b/.test(fs.readFileSync(path.join(root, file), 'utf8')))
    assert.deepEqual(reading, [])
  })
})
