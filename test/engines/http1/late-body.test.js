'use strict'

const assert = require('node:assert/strict')
const { once } = require('node:events')
const { performance } = require('node:perf_hooks')
const { PassThrough } = require('node:stream')
const { text } = require('node:stream/consumers')
const { setImmediate: turn } = require('node:timers/promises')

const { chunked, get, last, post, sides, use, waitFor } = require('./sides')
const { wire } = require('./wire')

/** What is sent at first, behind the response, and behind the reader. */
const REQUESTS = {
  'that came whole': [post('hello')],
  'that came in part': [post('hello', '', 10)],
  'whose rest came before': [post('hello', '', 10), 'there'],
  'whose rest comes after': [post('hello', '', 10), '', 'there'],
  'larger than any buffer': [post('x'.repeat(500_000), '', 1_000_000), '', 'x'.repeat(500_000)],
  'in chunks': [chunked('5\r\nhello\r\n0\r\n\r\n')],
  'in chunks, in part': [chunked('5\r\nhello\r\n'), '', '0\r\n\r\n'],
  'of no bytes': [post('')],
  'that is not a size': [get('/')]
}

wire('ctx.request.readBody() after the response was sent', ({ it, serve }) => {
  for (const [what, [first, before = '', after = '']] of Object.entries(REQUESTS)) {
    it(`should reject for a body ${what}`, async () => {
      const requests = []
      const { app, ask, sockets } = await serve(use(ctx => {
        requests.push(ctx)
        ctx.body = 'response'
      }))
      const finished = once(app, 'finish')
      const client = await ask(first, /response$/)
      await finished
      client.write(before)
      await waitFor(() => sockets[0].bytesRead >= first.length + before.length, 'the body')
      await turn()

      let outcome
      const read = async () => requests[0].request.readBody({ limit: 4_000_000 })
      read().then(bytes => { outcome = bytes }, err => { outcome = err })
      await turn()
      client.write(after)
      await waitFor(() => outcome !== undefined, 'an outcome')
      assert.equal(outcome.code, 'KONE_ERR_BODY_USED', `${outcome}`)

      // the connection goes on
      client.write(last('/2'))
      if (what !== 'that came in part') assert.match(await client.all(), /response[^]+response$/)
    })
  }

  for (const [how, read, expected] of [
    ['readBody()', ctx => ctx.request.readBody().catch(err => err.code), 'KONE_ERR_BODY_USED'],
    ['ctx.req', ctx => text(ctx.req).catch(err => err.code), '']
  ]) {
    it(`should not give what was skipped to a reader in the turn in which the response was flushed: ${how}`, async () => {
      let outcome
      const { ask } = await serve(use(ctx => {
        ctx.onFinished(() => read(ctx).then(result => { outcome = result }))
        ctx.body = 'response'
      }))
      const client = await ask(post('hello', '', 10), /response/)
      client.write('there')
      await waitFor(() => outcome !== undefined, 'an outcome')
      assert.equal(outcome, expected)
    })
  }

  it('should give the whole body when the reader came first', async () => {
    let read
    const { app, ask } = await serve(use(ctx => {
      read = ctx.request.readBody()
      ctx.body = 'response'
    }))
    const finished = once(app, 'finish')
    const client = await ask(post('hello', '', 10), /response$/)
    await finished
    await turn()
    client.write('there')
    assert.equal(String(await read), 'hellothere')
  })

  it('should give the whole body to a reader who came in the tick in which the response ended', async () => {
    let body = ''
    let hasEnded = false
    const { ask } = await serve(use(ctx => {
      ctx.respond = false
      ctx.res.end('response')
      ctx.req.setEncoding('utf8').on('data', text => { body += text }).on('end', () => { hasEnded = true })
    }))
    const client = await ask(post('hello', '', 10), /response/)
    client.write('there')
    await waitFor(() => hasEnded, 'the end of the body')
    assert.equal(body, 'hellothere')
  })
})

/** What an app does with ctx.req when its response has ended. */
const TOUCHES = {
  'shows it': req => req.complete,
  'listens for its bytes': req => req.on('data', () => {}),
  'pauses it': req => req.pause(),
  'resumes it': req => req.resume(),
  'pipes it': req => req.pipe(new PassThrough())
}

// What the front does not read is node's when the response has ended.
wire('ctx.req first used when node has the socket', ({ it, serve }) => {
  for (const [what, first, rest = ''] of [
    ['that came whole', post('hello')],
    ['whose rest came before', post('hello', '', 10), 'there'],
    ['in chunks', chunked('5\r\nhello\r\n0\r\n\r\n')],
    ['that is not a size', get('/')]
  ]) {
    for (const [how, touch] of Object.entries(TOUCHES)) {
      it(`should leave the socket to node: a body ${what}, an app that ${how}`, async () => {
        let go
        const { talk, sockets } = await serve(use(async ctx => {
          if (ctx.method === 'TRACE') {
            ctx.body = 'traced'
            return
          }
          await new Promise(resolve => { go = resolve })
          ctx.respond = false
          ctx.res.end('held')
          touch(ctx.req)
        }))
        const client = await talk(first)
        await waitFor(() => go, 'the request')
        const bytes = `${rest}TRACE / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`
        client.write(bytes)
        await waitFor(() => sockets[0].bytesRead >= first.length + bytes.length, 'the rest')
        await turn()
        go()
        assert.match(await client.all(), /held[^]+traced$/)
      })
    }
  }
})

sides('a body that is read behind the end of another one', ({ it, serve }) => {
  it('should end before the event loop waits for anything', async () => {
    const idle = () => performance.eventLoopUtilization().idle
    let waited
    const { talk, sockets } = await serve(use(async ctx => {
      const before = idle()
      await once(ctx.req.resume(), 'end')
      if (ctx.path === '/second') waited = idle() - before
      await waitFor(() => waited !== undefined, 'the second body') // a response would be an event
      ctx.body = 'hello'
    }))
    const first = post('he', '', 5)
    const client = await talk(first)
    await waitFor(() => sockets[0]?.bytesRead >= first.length, 'the first body')
    client.write('llo' + post('hello', '', 5, '/second'))
    await client.until(/hello[^]*hello$/)
    assert.equal(waited, 0)
  })
})
