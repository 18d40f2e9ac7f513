'use strict'

const assert = require('node:assert/strict')

const engines = require('../helpers/engines')

engines('ctx.state', ({ it, ask }) => {
  it('should be an empty object per request, carried through the middleware', async () => {
    const seen = []
    const res = await ask(app => app.use((ctx, next) => {
      seen.push({ ...ctx.state })
      ctx.state.user = 'tobi'
      return next()
    }).use(ctx => { ctx.body = ctx.state.user }), 'GET /')
    assert.deepEqual(seen, [{}])
    assert.equal(res.text, 'tobi')
  })
})
