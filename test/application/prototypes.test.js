'use strict'

const assert = require('node:assert/strict')

const Kone = require('../helpers/kone')
const engines = require('../helpers/engines')

engines('app.context, app.request and app.response', ({ it, ask, serve }) => {
  it('should be extensible while requests come', async () => {
    const { app, ask } = await serve(app => app.use(ctx => { ctx.body = String(ctx.late) }))
    assert.equal((await ask('GET /')).text, 'undefined')
    app.context.late = 'now'
    assert.equal((await ask('GET /')).text, 'now')
  })

  it('should be replaceable as a whole', async () => {
    const { app, ask } = await serve(app => app.use(ctx => { ctx.body = String(ctx.mixed) }))
    assert.equal((await ask('GET /')).text, 'undefined')
    app.context = Object.create(app.context, { mixed: { value: 'in' } })
    assert.equal((await ask('GET /')).text, 'in')
  })

  it('should let an app overrule Koa’s own accessors', async () => {
    const res = await ask(app => {
      Object.defineProperty(app.request, 'ip', { get: () => '10.9.8.7' })
      Object.defineProperty(app.context, 'path', { get: () => '/overruled' })
      Object.defineProperty(app.response, 'etag', { get: () => '#own' })
      app.use(ctx => { ctx.body = ctx.ip + ctx.path + ctx.etag })
    }, 'GET /')
    assert.equal(res.text, '10.9.8.7/overruled#own')
  })

  it('should not leak into other apps', async () => {
    await ask(app => { app.context.leak = app.request.leak = app.response.leak = true }, 'GET /')
    const other = new Kone()
    for (const name of ['context', 'request', 'response']) assert.equal(other[name].leak, undefined)
  })
})
