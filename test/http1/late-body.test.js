'use strict'

const assert = require('node:assert/strict')
const { once } = require('node:events')
const { setImmediate: turn } = require('node:timers/promises')

const { waitFor } = require('./sides')
const { wire } = require('./wire')

const post = (length, body) => `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n\r\n${body}`
const CHUNKED = 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n'

const REQUESTS = {
  'that came whole': [post(5, 'hello')],
  'that came in part': [post(10, 'hello')],
  'whose rest came before': [post(10, 'hello'), 'there'],
  'whose rest comes after': [post(10, 'hello'), '', 'there'],
  'larger than any buffer': [post(2_000_000, 'x'.repeat(1_000_000)), '', 'x'.repeat(1_000_000)],
  'in chunks': [`${CHUNKED}5\r\nhello\r\n0\r\n\r\n`],
  'in chunks, in part': [`${CHUNKED}5\r\nhello\r\n`, '', '0\r\n\r\n'],
  'of no bytes': [post(0, '')],
  'that is not a size': ['GET / HTTP/1.1\r\nHost: a\r\n\r\n']
}

wire('ctx.request.readBody() after the response was sent', ({ it, serve }) => {
  for (const [what, [first, before = '', after = '']] of Object.entries(REQUESTS)) {
    it(`should reject for a body ${what}`, async () => {
      const requests = []
      const { app, talk, sockets } = await serve(app => app.use(ctx => {
        requests.push(ctx)
        ctx.body = 'response'
      }))
      const finished = once(app, 'finish')
      const client = await talk(first)
      await finished
      await client.until(/response$/)
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
      client.write('GET /2 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
      if (what !== 'that came in part') assert.match(await client.all(), /response[^]+response$/)
    })
  }

  it('should give the whole body when the reader came first', async () => {
    let read
    const { app, talk } = await serve(app => app.use(ctx => {
      read = ctx.request.readBody()
      ctx.body = 'response'
    }))
    const finished = once(app, 'finish')
    const client = await talk(post(10, 'hello'))
    await client.until(/response$/)
    await finished
    await turn()
    client.write('there')
    assert.equal(String(await read), 'hellothere')
  })

  it('should give the whole body to a reader who came in the tick in which the response ended', async () => {
    let body = ''
    let hasEnded = false
    const { talk } = await serve(app => app.use(ctx => {
      ctx.respond = false
      ctx.res.end('response')
      ctx.req.setEncoding('utf8').on('data', text => { body += text }).on('end', () => { hasEnded = true })
    }))
    const client = await talk(post(10, 'hello'))
    await client.until(/response/)
    client.write('there')
    await waitFor(() => hasEnded, 'the end of the body')
    assert.equal(body, 'hellothere')
  })
})
