'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')

const root = path.join(__dirname, '../../middleware')

const WHERE = {
  'there are no web classes': [[], "for (const name of ['ReadableStream', 'Response', 'Blob']) delete globalThis[name]"],
  'node cannot load them (--jitless, Node 20 and 22)': [['--jitless'], '']
}

describe('kone and the set', () => {
  for (const [where, [args, first]] of Object.entries(WHERE)) {
    it(`should respond as everywhere where ${where}`, () => respond(args, first))
  }

  function respond (args, first) {
    const program = `
      ${first}
      const fs = require('node:fs')
      const { Readable } = require('node:stream')
      const Kone = require('kone')
      const bodies = {
        '/json': () => ({ a: 'b'.repeat(3000) }),
        '/text': () => 'text'.repeat(1000),
        '/buffer': () => Buffer.alloc(4000, 'x'),
        '/instance': () => new (class A { b = 1 })(),
        '/stream': () => Readable.from(['stream']),
        '/file': () => fs.createReadStream('package.json')
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
          for (const engine of ['http1', 'node']) {
            const res = await app.inject({ engine, url: url + '?callback=fn', headers: { 'accept-encoding': 'gzip' } })
            seen.push(res.status)
          }
        }
        return [name, seen]
      }
      const set = [['compress'], ['conditionalGet'], ['etag'], ['jsonp'], ['timeout', 60000]]
      Promise.all(set.map(statuses)).then(all => {
        if (process.moduleLoadList.some(name => name.includes('undici'))) all.push(['fetch() is loaded', []])
        process.stderr.write(JSON.stringify(all), () => process.exit())
      })
    `
    const { stderr } = spawnSync(process.execPath, [...args, '-e', program], {
      cwd: path.join(__dirname, '../..'), encoding: 'utf8', env: { ...process.env, NODE_TEST_CONTEXT: undefined }
    })
    const found = JSON.parse(stderr.slice(stderr.indexOf('['))) // behind node's warnings
    for (const [name, statuses] of found) assert(statuses.length === 12 && statuses.every(status => status === 200), name)
  }

  it('should send what fetch() returns before anything has read the global Response', () => {
    const program = `
      const Kone = require('kone')
      const app = new Kone().use(async ctx => { ctx.body = await fetch('data:,text') })
      app.inject('/').then(res => {
        process.stdout.write(res.status + res.text(), () => process.exit())
      })`
    const { stdout } = spawnSync(process.execPath, ['-e', program], { cwd: root, encoding: 'utf8' })
    assert.equal(stdout, '200text')
  })

  it('should read these globals in one file', () => {
    const reading = fs.readdirSync(root, { recursive: true })
      .filter(file => file.endsWith('.js') && !file.includes('node_modules'))
      .filter(file => /instanceof (Blob|ReadableStream|Response)\b/.test(fs.readFileSync(path.join(root, file), 'utf8')))
    assert.deepEqual(reading, [])
  })
})
