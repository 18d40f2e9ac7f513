'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { execFile } = require('node:child_process')
const path = require('node:path')
const { promisify } = require('node:util')

const run = promisify(execFile)
const KONE = JSON.stringify(path.join(__dirname, '../../helpers/kone'))

/** Run `program` in a process of its own; what it prints is JSON. */
async function child (program) {
  const { stdout } = await run(process.execPath, ['-e', program], {
    timeout: 60000,
    env: { ...process.env, NODE_TEST_CONTEXT: undefined, KONE_HTTP1: undefined }
  })
  return JSON.parse(stdout)
}

describe('after close()', () => {
  // As Jest's --detectOpenHandles does: whatever was made and not destroyed is open.
  const program = scenario => `
    const open = new Map()
    require('node:async_hooks').createHook({
      init (id, type) { if (type.startsWith('KONE')) open.set(id, type) },
      destroy (id) { open.delete(id) }
    }).enable()
    const http = require('node:http')
    const { once } = require('node:events')
    const { setImmediate: turn } = require('node:timers/promises')
    const Kone = require(${KONE})

    const make = () => {
      const app = new Kone()
      app.use(ctx => {
        ctx.onFinished(() => {})
        ctx.body = ctx.path === '/touched' ? typeof ctx.res.end : 'hello'
      })
      return app
    }
    const listen = async (app, server = app.listen(0, '127.0.0.1')) => {
      if (!server.listening) await once(server, 'listening')
      return server
    }
    const ask = async (server, path, agent = false) => {
      const req = http.get({ port: server.address().port, host: '127.0.0.1', path, agent })
      const [res] = await once(req, 'response')
      return Buffer.concat(await res.toArray()).toString()
    }
    const closed = server => new Promise(resolve => server.close(resolve))

    ;(async () => {
      const texts = []
      ${scenario}
      for (let i = 0; i < 20; i++) await turn()
      console.log(JSON.stringify({ texts, open: [...open.values()] }))
    })()
  `

  for (const [what, scenario, texts] of [
    ['app.close()', `
      const app = make()
      const server = await listen(app)
      texts.push(await ask(server, '/'), await ask(server, '/touched'))
      await app.close({ grace: 0 })`, ['hello', 'function']],
    ['app.inject()', "texts.push((await make().inject('/')).text())", ['hello']],
    ['server.close()', `
      const server = await listen(make())
      texts.push(await ask(server, '/'))
      await closed(server)`, ['hello']],
    ['server.close() with a kept connection', `
      const server = await listen(make())
      const agent = new http.Agent({ keepAlive: true })
      texts.push(await ask(server, '/', agent), await ask(server, '/', agent))
      await closed(server)
      agent.destroy()`, ['hello', 'hello']],
    ['no request at all', `
      const app = make()
      await listen(app)
      await app.close()`, []],
    ['several servers', `
      const app = make()
      for (let i = 0; i < 3; i++) texts.push(await ask(await listen(app), '/'))
      await app.close({ grace: 0 })`, ['hello', 'hello', 'hello']],
    ['a server that listens again', `
      const app = make()
      const server = await listen(app)
      for (let i = 0; i < 3; i++) {
        if (i > 0) await listen(app, server.listen(0, '127.0.0.1'))
        texts.push(await ask(server, '/'))
        await closed(server)
      }`, ['hello', 'hello', 'hello']]
  ]) {
    it(`should leave no async resource of kone's, ${what}`, async () => {
      const seen = await child(program(scenario))
      assert.deepEqual(seen, { texts, open: [] })
    })
  }
})
