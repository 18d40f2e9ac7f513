'use strict'

const assert = require('node:assert/strict')
const { once } = require('node:events')
const { setImmediate: turn } = require('node:timers/promises')

const { chunked, get, last, post, use, waitFor } = require('./sides')
const { wire } = require('./wire')

/** What is sent at first, behind the response, and behind the reader. */
const REQUESTS = {
  'that came whole': [post('hello')],
  'that came in part': [post('hello', '', 10)],
  'whose rest came before': [post('hello', '', 10), 'there'],
  'whose rest comes after': [post('hello', '', 10), '', 'there'],
  'larger than any buffer': [post('x'.repeat(1_000_000), '', 2_000_000), '', 'x'.repeat(1_000_000)],
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
