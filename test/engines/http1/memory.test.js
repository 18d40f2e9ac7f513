'use strict'

const assert = require('node:assert/strict')
const { setTimeout: wait } = require('node:timers/promises')
const v8 = require('node:v8')
const vm = require('node:vm')

const { get, sides } = require('./sides')

v8.setFlagsFromString('--expose-gc')
const gc = vm.runInNewContext('gc')

const CONNECTIONS = 200
const KB = 1024

sides('a silent connection', ({ it, serve }) => {
  /** Bytes of the heap per connection, each of which sent `text(i)` and got `answers` responses. */
  async function held (text, answers = 1) {
    const { talk } = await serve(app => app.use(async ctx => {
      await ctx.request.readBody()
      ctx.body = 'hello'
    }))
    const clients = []
    const before = await heap()
    for (let i = 0; i < CONNECTIONS; i++) {
      const client = await talk(text(i))
      await client.until(new RegExp(`(?:hello[^]*){${answers}}$`))
      client.text = ''
      clients.push(client)
    }
    return (await heap() - before) / clients.length
  }

  async function heap () {
    for (let i = 0; i < 5; i++) {
      await wait(10)
      gc()
    }
    return process.memoryUsage().heapUsed
  }

  // unlike the ones before, so that nothing is kept only once
  const own = i => `X-Own: ${i} ${'x'.repeat(100)}\r\n`
  const post = (i, body) => `POST / HTTP/1.1\r\nHost: a\r\n${own(i)}Content-Length: ${body.length}\r\n\r\n${body}`

  it('should keep nothing of the body that came with its headers', async () => {
    const small = await held(i => post(i, 'small'))
    const large = await held(i => post(i, 'x'.repeat(30 * KB)))
    assert(large - small < 4 * KB, `${large} bytes, ${small} without a body`)
  })

  it('should keep nothing of the requests in front of headers that is not complete', async () => {
    const begun = i => get('/', own(i)).slice(0, -2)
    const one = await held(i => get('/', own(i)) + begun(i))
    const many = await held(i => get('/', `X-Large: ${'x'.repeat(10 * KB)}\r\n`).repeat(3) + begun(i), 3)
    assert(many - one < 4 * KB, `${many} bytes, ${one} behind one request`)
  })
})
