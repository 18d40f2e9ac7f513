'use strict'

const { before, describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { once } = require('node:events')
const https = require('node:https')
const net = require('node:net')
const { Readable } = require('node:stream')
const { setTimeout: pause } = require('node:timers/promises')
const tls = require('node:tls')
const { generate } = require('selfsigned')

const Kone = require('../helpers/kone')

/** How the second of two requests ends its own response, which is not the current one yet. */
const OWN_FAULTS = {
  'a stream that fails at once': ctx => { ctx.body = failing([]) },
  'a stream that fails later': ctx => { ctx.body = failing(['half']) },
  'ctx.res.destroy()': ctx => { ctx.res.destroy() },
  'ctx.res.destroy() behind a piece': ctx => {
    ctx.respond = false
    ctx.res.write('half')
    ctx.res.destroy()
  }
}

/** And how it ends the connection of both. */
const FAULTS = {
  ...OWN_FAULTS,
  'ctx.req.destroy()': ctx => { ctx.req.destroy() },
  'ctx.socket.destroy()': ctx => { ctx.req.socket.destroy() },
  'ctx.socket.destroySoon()': ctx => { ctx.req.socket.destroySoon() },
  'ctx.socket.end()': ctx => { ctx.req.socket.end() },
  'server.closeAllConnections()': ctx => { ctx.req.socket.server.closeAllConnections() }
}

function failing (chunks) {
  return Readable.from((async function * () {
    yield * chunks
    throw new Error('broken')
  })())
}

describe('a response that was complete before another one failed', () => {
  let key
  let cert
  before(async () => {
    ({ private: key, cert } = await generate([{ name: 'commonName', value: 'localhost' }]))
  })

  for (const secure of [false, true]) {
    for (const http1 of [true, false]) {
      describe(`${http1 ? 'front' : 'node:http'}, ${secure ? 'TLS' : 'plain'}`, () => {
        for (const [name, fault] of Object.entries(FAULTS)) {
          it(`should arrive when ${name} follows in the same tick`, async t => {
            const texts = await run(t, { secure, http1 }, (one, ctx) => {
              one.outgoing.end('whole')
              return fault(ctx)
            })
            assert.equal(texts.match(/\r\n\r\n(.{5})/)?.[1], 'whole', texts)
          })
        }
        for (const [name, fault] of Object.entries(OWN_FAULTS)) {
          it(`should arrive when it ends after ${name}`, async t => {
            const texts = await run(t, { secure, http1 }, async (one, ctx) => {
              pause(45).then(() => one.outgoing.end('whole'))
              return fault(ctx)
            })
            assert.equal(texts.match(/\r\n\r\n(.{5})/)?.[1], 'whole', texts)
          })
        }
      })
    }
  }

  /** Two pipelined requests; `act` gets the contexts of both. Returns what the client received until the end. */
  async function run (t, { secure, http1 }, act) {
    const app = new Kone({ http1 })
    app.silent = true
    let one = null
    app.use(ctx => {
      if (one !== null) return act(one, ctx)
      one = ctx
      ctx.respond = false
      ctx.status = 200
    })
    const server = secure
      ? (http1 ? app.attach(https.createServer({ key, cert })) : https.createServer({ key, cert }, app.callback()))
      : app.listen(0, '127.0.0.1')
    if (secure) server.listen(0, '127.0.0.1')
    t.after(() => { server.closeAllConnections(); server.close() })
    await once(server, 'listening')

    const to = { port: server.address().port, host: '127.0.0.1', rejectUnauthorized: false }
    const client = secure ? tls.connect(to) : net.connect(to)
    client.on('error', () => {}) // a reset, behind the response
    client.setEncoding('latin1')
    let texts = ''
    client.on('data', text => { texts += text })
    client.write('GET /first HTTP/1.1\r\nHost: a\r\n\r\nGET /second HTTP/1.1\r\nHost: a\r\n\r\n')
    // From Node 24 on node leaves the connection open when a queued response was destroyed.
    await new Promise(resolve => {
      client.on('close', resolve)
      client.on('data', () => { if (texts.includes('whole')) resolve() })
    })
    client.destroy()
    return texts
  }
})
