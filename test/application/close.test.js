'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { once } = require('node:events')
const http = require('node:http')

const Kone = require('../helpers/kone')

for (const http1 of [false, true]) {
  describe(`app.close() with the front ${http1 ? 'on' : 'off'}`, {
    skip: http1 && process.env.KONE_HTTP1 === 'off' ? 'KONE_HTTP1=off' : false
  }, () => {
    const start = async (t, middleware) => {
      const app = new Kone({ http1 })
      app.use(middleware)
      const server = app.listen(0, '127.0.0.1')
      await once(server, 'listening')
      t.after(() => server.closeAllConnections())
      return { app, server, port: server.address().port }
    }
    const get = (port, agent) => new Promise((resolve, reject) => {
      http.get({ port, agent, host: '127.0.0.1' }, async res => {
        let text = ''
        for await (const chunk of res) text += chunk
        resolve({ text, headers: res.headers })
      }).on('error', reject)
    })

    it('should resolve at once without a server, and when called twice', async () => {
      const app = new Kone({ http1 })
      await app.close()
      await app.close({ timeout: 1, grace: 0 })
      assert(app.close() instanceof app.Promise)
    })

    it('should answer what is in flight with Connection: close, then accept nothing', async t => {
      let release
      let asked
      const waiting = new Promise(resolve => { release = resolve })
      const inFlight = new Promise(resolve => { asked = resolve })
      const { app, port } = await start(t, async ctx => {
        asked()
        await waiting
        ctx.body = 'whole'
      })
      const agent = new http.Agent({ keepAlive: true })
      const answer = get(port, agent)
      await inFlight
      const closed = app.close({ grace: 0 })
      release()
      const { text, headers } = await answer
      assert.equal(text, 'whole')
      assert.equal(headers.connection, 'close')
      await closed
      await assert.rejects(get(port), { code: 'ECONNREFUSED' })
      agent.destroy()
    })

    it('should end silent kept connections', async t => {
      const { app, port } = await start(t, ctx => { ctx.body = 'x' })
      const agent = new http.Agent({ keepAlive: true })
      await get(port, agent)
      await app.close({ grace: 0 })
      await app.close()
      agent.destroy()
    })

    it('should cut at the deadline what does not end', async t => {
      const { app, port } = await start(t, ctx => { ctx.respond = false })
      const cut = assert.rejects(get(port), { code: 'ECONNRESET' })
      await new Promise(resolve => setTimeout(resolve, 20))
      await app.close({ timeout: 30, grace: 0 })
      await cut
    })
  })
}
