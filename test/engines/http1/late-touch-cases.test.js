'use strict'

const assert = require('node:assert/strict')
const { PassThrough, Readable } = require('node:stream')
const { pipeline } = require('node:stream/promises')
const { setImmediate: turn } = require('node:timers/promises')
const rawBody = require('raw-body')

const joinChunks = require('../../helpers/join-chunks')
const { chunked, get, post, sides, waitFor } = require('./sides')

/*
 * An app touches its request or response while that is under way, or later. Whatever it does: the response is whole, or
 * its connection is closed at once and the app is notified; nobody waits.
 */

const BYTES = 'one two three'

/** A stream of three chunks, each in a turn of its own, with `act` at a moment. */
function streamOf (moment, act) {
  const stream = Readable.from((async function * () {
    for (const [i, chunk] of BYTES.split(/(?<= )/).entries()) {
      if (moment === `in front of chunk ${i}`) act()
      yield chunk
      await turn()
      await turn()
    }
    if (moment === 'behind the last chunk') act()
  })())
  for (const event of ['end', 'close']) if (moment === `at '${event}'`) stream.on(event, act)
  return stream
}

const MOMENTS = ['in front of chunk 0', 'in front of chunk 1', 'behind the last chunk', "at 'end'", "at 'close'", 'in onFinished', 'afterwards']

const TOUCHES = {
  'reads ctx.res': ctx => ctx.res.statusCode,
  'ends ctx.res behind the last chunk': (ctx, moment) => {
    const { res } = ctx
    if (!/chunk [01]/.test(moment)) res.end()
  },
  'calls methods that write nothing': ({ res }) => {
    res.cork()
    res.uncork()
    res.setTimeout(0)
    res.flushHeaders()
    res.on('error', () => {})
  }
}

sides('ctx.res, first touched while a stream is sent', ({ it, serve }) => {
  for (const [name, touch] of Object.entries(TOUCHES)) {
    for (const moment of MOMENTS) {
      for (const length of [undefined, BYTES.length]) {
        it(`should not change the response, nor what follows: ${name} ${moment}, ${length === undefined ? 'chunked' : 'with a length'}`, async () => {
          const calls = []
          const { talk } = await serve(app => app.use(async ctx => {
            if (ctx.path === '/next') return (ctx.body = 'next')
            const act = () => touch(ctx, moment)
            ctx.onFinished(err => {
              calls.push(err)
              if (moment === 'in onFinished') act()
              if (moment === 'afterwards') setImmediate(() => setImmediate(act))
            })
            ctx.body = streamOf(moment, act)
            if (length !== undefined) ctx.length = length
          }))
          const client = await talk(get('/'))
          await client.until(length === undefined ? /0\r\n\r\n$/ : /\r\n\r\none two three$/)
          assert.match(joinChunks(client.text), /\r\n\r\none two three(?:0\r\n\r\n)?$/)
          await waitFor(() => calls.length > 0, 'onFinished')
          await client.ask(get('/next'), /next$/)
          assert.deepEqual(calls, [null])
        })
      }
    }
  }
})

sides('ctx.res.end() before a declared length is complete', ({ it, serve }) => {
  for (const chunk of [undefined, 'x']) {
    it(`should close the connection at once, and be reported: end(${chunk ?? ''})`, async () => {
      const calls = []
      const { app, talk } = await serve(app => app.use(ctx => {
        ctx.onFinished(err => calls.push(err.code))
        ctx.body = streamOf('in front of chunk 1', () => ctx.res.end(chunk))
        ctx.length = BYTES.length
      }))
      app.on('error', err => calls.push(err.code))
      const text = await (await talk(get('/'))).all()
      assert.match(text, /\r\n\r\none x?$/)
      await waitFor(() => calls.length > 1, 'both calls')
      assert.deepEqual(calls, ['ERR_STREAM_PREMATURE_CLOSE', 'KONE_ERR_RESPONSE_LOST'])
    })
  }
})

/** How the body arrives: what is written in turn. */
const ARRIVES = {
  'with its header section': [post('{"a":1}')],
  'in pieces': [post('{"a"', '', 7), ':1}'],
  'in chunks': [chunked('7\r\n{"a":1}\r\n0\r\n\r\n')],
  'as chunks in pieces': [chunked('4\r\n{"a"\r\n'), '3\r\n:1}\r\n0\r\n\r\n'],
  empty: [post('')]
}

/** Who reads it, or one that has been read → what it gets then. */
const SECOND = {
  'raw-body': [req => rawBody(req), 'stream is not readable'],
  'toArray()': [async req => (await req.toArray()).length, 0],
  'pipeline()': [req => pipeline(req, new PassThrough().resume()), undefined]
}

sides('a second reader of a body that kone has read', ({ it, serve }) => {
  for (const [how, [head, ...rest]] of Object.entries(ARRIVES)) {
    for (const [name, [read, expected]] of Object.entries(SECOND)) {
      for (const when of ['at once', 'in a later turn']) {
        it(`should get nothing, and not wait: ${name}, ${when}, a body that comes ${how}`, async () => {
          const { talk, sockets } = await serve(app => app.use(async ctx => {
            if (ctx.path === '/next') return (ctx.body = 'next')
            const bytes = ctx.request.readBody()
            if (when !== 'at once' || bytes instanceof Promise) await bytes
            if (when !== 'at once') await turn()
            const outcome = await read(ctx.req).catch(err => err.message)
            ctx.body = [`${await bytes}`, outcome, ctx.req.complete]
          }))
          const client = await talk(head)
          for (const part of rest) {
            await waitFor(() => sockets[0]?.bytesRead >= head.length, 'the first part')
            client.write(part)
          }
          await client.until(/\]$/)
          assert.deepEqual(JSON.parse(client.text.replace(/^[^]+\r\n\r\n/, '')), [how === 'empty' ? '' : '{"a":1}', expected ?? null, true])
          await client.ask(get('/next'), /next$/)
        })
      }
    }
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
