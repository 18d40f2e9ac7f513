'use strict'

const assert = require('node:assert/strict')
const { nextTick: tick } = require('node:process')
const { Readable } = require('node:stream')
const { setImmediate: turn } = require('node:timers/promises')

const catchUncaught = require('../../helpers/uncaught')
const { chunked, get, post, sides, waitFor } = require('./sides')

/*
 * Other code touches ctx.req or ctx.res late. Koa leaves the client waiting in some of these cases, or reports them in
 * another way.
 */

sides('ctx.res.end() before a declared length is complete', ({ it, serve }) => {
  for (const chunk of [undefined, 'x']) {
    it(`should close the connection at once, and be reported: end(${chunk ?? ''})`, async () => {
      const calls = []
      const { app, talk } = await serve(app => app.use(ctx => {
        ctx.onFinished(err => calls.push(err.code))
        ctx.length = 13
        ctx.body = Readable.from((async function * () {
          yield 'one '
          await turn()
          await turn()
          ctx.res.end(chunk)
          yield 'two three'
        })())
      }))
      app.on('error', err => calls.push(err.code))
      const text = await (await talk(get('/'))).all()
      assert.match(text, /\r\n\r\none x?$/)
      await waitFor(() => calls.length > 1, 'both calls')
      assert.deepEqual(calls, ['ERR_STREAM_PREMATURE_CLOSE', 'KONE_ERR_RESPONSE_LOST'])
    })
  }
})

sides('ctx.req, first read when a body was too long for readBody()', ({ it, serve }) => {
  it('should be a request whose body is left unread', async () => {
    const { talk, sockets } = await serve(app => app.use(async ctx => {
      const err = await ctx.request.readBody({ limit: 4 }).catch(err => err)
      ctx.set('Connection', 'close')
      ctx.body = `${err.status} ${ctx.req.method} hello`
    }))
    const head = chunked('')
    const client = await talk(head)
    await waitFor(() => sockets[0]?.bytesRead >= head.length, 'the header section')
    client.write('b\r\nhello world\r\n0\r\n\r\n')
    assert.match(await client.all(), /413 POST hello$/)
  })
})

sides('ctx.res, first used ticks after its response was sent', ({ it, serve }) => {
  const WRITES = {
    'write()': (res, done) => res.write('late', done),
    'write() of bytes': (res, done) => res.write(Buffer.from('late'), done),
    'end()': (res, done) => res.end('late', done)
  }
  for (const [name, write] of Object.entries(WRITES)) {
    for (const withCallback of [true, false]) {
      it(`should ignore ${name}${withCallback ? ' with a callback' : ''}, as node does once it has closed`, async t => {
        const uncaught = catchUncaught(t)
        const seen = []
        const { talk } = await serve(app => app.use(ctx => {
          ctx.body = 'whole'
          ctx.onFinished(() => tick(() => tick(() => tick(() => {
            const { res } = ctx
            res.once('close', () => seen.push('close'))
            write(res, withCallback ? err => seen.push(err.code) : undefined)
            tick(() => tick(() => seen.push([res.destroyed, res.closed, res.writableFinished])))
          }))))
        }))
        const client = await talk(get('/'))
        await client.until(/whole$/)
        await waitFor(() => seen.some(Array.isArray), 'the end of the request')
        for (let i = 0; i < 3; i++) await turn()
        assert.deepEqual(uncaught, [])
        assert.deepEqual(seen.filter(Array.isArray), [[true, true, true]])
        if (withCallback && name !== 'end()') assert(seen.some(code => /^ERR_STREAM_(?:WRITE_AFTER_END|DESTROYED)$/.test(code)), String(seen))
        client.write(get('/again'))
        await client.until(/whole.*whole$/s)
      })
    }
  }
})

sides('ctx.body = ctx.req', ({ it, serve }) => {
  for (const [how, leave] of [['resets', client => client.socket.resetAndDestroy()], ['ends', client => client.socket.end()]]) {
    it(`should be reported once when the client ${how} in the middle of it`, async () => {
      const errors = []
      const outcomes = []
      const { app, talk } = await serve(app => app.use(ctx => {
        ctx.onFinished(err => outcomes.push(err.code))
        ctx.body = ctx.req
      }))
      app.on('error', err => errors.push(err.code))
      const client = await talk(post('abc', '', 100))
      await client.until(/abc\r\n$/)
      leave(client)
      await waitFor(() => outcomes.length > 0, 'onFinished')
      for (let i = 0; i < 5; i++) await turn()
      assert.deepEqual(errors, [how === 'ends' ? 'HPE_INVALID_EOF_STATE' : 'ECONNRESET'])
      assert.deepEqual(outcomes, ['KONE_ERR_RESPONSE_LOST'])
    })
  }
})
