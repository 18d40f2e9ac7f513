'use strict'

const assert = require('node:assert/strict')

const engines = require('../helpers/engines')

engines('ctx.respond = false', ({ it, ask }) => {
  it('should leave the response to the caller', async () => {
    const res = await ask(app => app.use(ctx => {
      ctx.body = 'Hello'
      ctx.respond = false
      setImmediate(() => {
        ctx.res.statusCode = 202
        ctx.res.setHeader('Content-Type', 'text/plain')
        ctx.res.setHeader('Content-Length', 3)
        ctx.res.end('lol')
      })
    }), 'GET /')
    assert.equal(res.status, 202)
    assert.equal(res.headers['content-type'], 'text/plain')
    assert.equal(res.text, 'lol')
  })

  it('should not overrule an error', async () => {
    const res = await ask(app => app.use(ctx => {
      ctx.respond = false
      throw new Error('boom')
    }), 'GET /')
    assert.equal(res.status, 500)
  })

  it('should let node’s statusCode count', async () => {
    const res = await ask(app => app.use(ctx => {
      ctx.respond = false
      ctx.res.statusCode = 200
      ctx.res.end('own')
    }), 'GET /')
    assert.equal(res.status, 200)
    assert.equal(res.text, 'own')
  })
})

engines('a response that the app ended itself', ({ it, ask }) => {
  it('should be left alone', async () => {
    const errors = []
    const res = await ask(app => {
      app.on('error', error => errors.push(error))
      app.use(async ctx => {
        ctx.res.statusCode = 200
        ctx.res.end('own')
        ctx.body = 'kone'
      })
    }, 'GET /')
    assert.equal(res.status, 200)
    assert.equal(res.text, 'own')
    assert.deepEqual(errors, [])
  })

  it('should get its body when only the headers were written', async () => {
    const res = await ask(app => app.use(ctx => {
      ctx.res.writeHead(200, { 'Content-Type': 'text/plain', 'X-Own': '1' })
      ctx.body = 'kone'
    }), 'GET /')
    assert.equal(res.status, 200)
    assert.equal(res.headers['x-own'], '1')
    assert.equal(res.text, 'kone')
  })

  it('should go on behind the first bytes', async () => {
    const res = await ask(app => app.use(ctx => {
      ctx.status = 200
      ctx.res.write('first ')
      ctx.body = 'second'
    }), 'GET /')
    assert.equal(res.text, 'first second')
  })
})
