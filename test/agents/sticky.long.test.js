'use strict'

const { after, before, describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { fork } = require('node:child_process')
const { once } = require('node:events')
const path = require('node:path')
const { io } = require('socket.io-client')

const { install } = require('../helpers/area')
const request = require('../helpers/request')

const TIMEOUT = 120_000
const PATIENCE = 30_000 // of a client, beside other tests

describe('@socket.io/sticky', () => {
  before(() => { install('agents') })

  for (const [title, args] of [
    ['with koa', ['koa', 'node']],
    ['with kone', ['kone', 'node']],
    ['with kone, also in the primary', ['kone', 'kone']]
  ]) {
    describe(title, () => {
      let child, port
      before(async () => {
        child = fork(path.join(__dirname, 'sticky.js'), args, { env: { ...process.env, NODE_TEST_CONTEXT: undefined } })
        const [message] = await once(child, 'message')
        port = message.port
      })
      after(async () => {
        child.disconnect()
        if (child.exitCode === null) await once(child, 'exit')
      })

      const ask = async (method, target, body) => (await request(port, `${method} ${target}`, { body })).text

      it('should respond to requests of the app', { timeout: TIMEOUT }, async () => {
        for (let i = 0; i < 4; i++) assert.equal(await ask('GET', `/${i}`), `GET /${i} `)
        const large = 'x'.repeat(100_000)
        assert.equal(await ask('POST', '/upload', large), `POST /upload ${large}`)
      })

      it('should execute no body as a request', { timeout: TIMEOUT }, async () => {
        const body = 'GET /admin HTTP/1.1\r\nHost: a\r\n\r\n'
        assert.equal(await ask('POST', '/upload', body), `POST /upload ${body}`)
      })

      // The primary learns from a message of the worker who has a session. The client's next request may overtake it, with
      // koa, too: the other worker then refuses it, and the client connects anew.
      async function connected (transports, act) {
        const client = io(`http://127.0.0.1:${port}`, { transports, forceNew: true, reconnection: false })
        const overtaken = new Promise(resolve => client.once('disconnect', (reason, { description } = {}) => resolve(description === 400)))
        const isOvertaken = await Promise.race([overtaken, act(client)])
        client.disconnect()
        if (isOvertaken) await connected(transports, act)
      }

      for (const transports of [['polling'], ['websocket'], ['polling', 'websocket']]) {
        it(`should keep a session with its worker: ${transports.join(', ')}`, { timeout: TIMEOUT }, async () => {
          await connected(transports, async client => {
            assert.equal(await client.timeout(PATIENCE).emitWithAck('ask', 'one'), 'one!')
            assert.equal(await client.timeout(PATIENCE).emitWithAck('ask', 'two'), 'two!')
          })
        })
      }
    })
  }
})
