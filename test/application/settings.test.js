'use strict'

const assert = require('node:assert/strict')

const engines = require('../helpers/engines')

engines('the settings of an app', ({ it, serve }) => {
  it('should be read when they are needed, not when the server starts', async () => {
    const { app, ask } = await serve(app => app.use(ctx => {
      ctx.body = [ctx.host, ctx.ip.replace('::ffff:', ''), ctx.subdomains, ctx.app.env]
      if (ctx.app.keys) ctx.cookies.set('a', 'b', { signed: true })
    }))
    const headers = { host: 'a.b.example.com', 'x-forwarded-host': 'front.example', 'x-own-ip': '10.1.1.1' }

    const before = await ask('GET /', { headers })
    assert.equal(before.json()[0], 'a.b.example.com')
    assert.deepEqual(before.json()[2], ['b', 'a'])
    assert.equal(before.headers['set-cookie'], undefined)

    app.proxy = true
    app.proxyIpHeader = 'X-Own-IP'
    app.subdomainOffset = 1
    app.env = 'late'
    app.keys = ['secret']
    const after = await ask('GET /', { headers })
    assert.deepEqual(after.json(), ['front.example', '10.1.1.1', ['front'], 'late'])
    assert.equal(after.headers['set-cookie'].length, 2)
  })
})
