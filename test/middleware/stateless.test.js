'use strict'

const assert = require('node:assert/strict')
const { existsSync, readFileSync, readdirSync } = require('node:fs')
const { join } = require('node:path')
const { describe, it } = require('node:test')
const { Registry } = require('prom-client')
const { cors, logger, metrics, router: Router } = require('kone/middleware')
const Kone = require('../helpers/kone')

const SET = join(__dirname, '../../middleware')
const hello = ctx => { ctx.body = 'hello' }
const routed = (path, options) => new Router(options).get(path, ctx => { ctx.body = ctx.captures ?? 'hello' }).routes()

/** For a pattern of `hello`: middleware whose response, or what `seen()` has then, tells whether it matched. */
const USES = {
  'cors origin': regexp => ({ use: [cors({ origin: new RegExp(`^http://${regexp.source}$`, regexp.flags) }), hello] }),
  'logger nolog': regexp => logged({ format: ':url', nolog: regexp }),
  'logger token': regexp => logged({ format: 'hello hello', tokens: [{ token: regexp, replacement: 'bye' }] }),
  'metrics exclude': regexp => {
    const register = new Registry()
    const use = [metrics({ register, defaults: false, exclude: [regexp] }), hello]
    return { use, seen: async () => (await register.metrics()).match(/seconds_count.*|$/)[0] }
  },
  'router host': regexp => ({ use: [routed('/hello', { host: regexp })] }),
  'router hosts': regexp => ({ use: [routed('/hello', { host: ['a', regexp] })] }),
  'router path': regexp => ({ use: [routed(new RegExp(`^/(${regexp.source})$`, regexp.flags))] }),
  'router path, syntax 8': regexp => ({ use: [routed(new RegExp(`^/(${regexp.source})$`, regexp.flags), { syntax: 8 })] })
}

function logged (options) {
  const lines = []
  return { use: [logger(line => lines.push(line), options), hello], seen: () => lines.splice(0) }
}

describe('an option that is a RegExp', () => {
  for (const [name, make] of Object.entries(USES)) {
    it(`should match each request alike, whatever its flags: ${name}`, async () => {
      const [expected, ...others] = await Promise.all(['', 'g', 'y', 'gy'].map(async flags => {
        const { use, seen = () => {} } = make(new RegExp('hello', flags))
        const app = new Kone({ silent: true })
        for (const fn of use) app.use(fn)
        const found = []
        for (let i = 0; i < 3; i++) {
          const res = await app.inject({ url: '/hello', headers: { Host: 'hello', Origin: 'http://hello' } })
          found.push([res.status, res.headers['access-control-allow-origin'], res.text(), await seen()])
        }
        return found
      }))
      for (const found of others) assert.deepEqual(found, expected)
      assert.deepEqual(expected[1], expected[0])
    })
  }

  it('should have a row here, in each middleware', () => {
    const taking = readdirSync(SET).filter(name => {
      const file = join(SET, name, 'options.js')
      return existsSync(file) && readFileSync(file, 'utf8').includes('RegExp')
    })
    const used = Object.keys(USES).map(name => name.split(' ')[0])
    assert.deepEqual([...new Set(used), 'websocket'], taking) // by _shared/origin.js, as cors
  })
})
