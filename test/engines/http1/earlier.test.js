'use strict'

const { after, describe, it } = require('node:test')
const assert = require('node:assert/strict')
const http = require('node:http')
const https = require('node:https')

const Kone = require('../../helpers/kone')
const { exchange, open } = require('./harness')
const { run } = require('./program')
const { credentials, get, setUp } = require('./sides')

/** How the second of two requests ends its own response, which is not the current one yet. */
const OWN_FAULTS = {
  'a stream that fails at once': [['body', ['broken']]],
  'a stream that fails later': [['body', ['broken', 'half']]],
  'ctx.res.destroy()': [['destroyRes']],
  'ctx.res.destroy() behind a piece': [['noRespond'], ['write', 'half'], ['destroyRes']]
}

/** And how it ends the connection of both; the model of the output has more. */
const FAULTS = { ...OWN_FAULTS, 'ctx.req.destroy()': [['destroyReq']], 'ctx.socket.destroy()': [['socket.destroy']] }

/** When the first response ends → the faults of the second request, and what it does in front of them. */
const ENDS = { 'in the tick before': [FAULTS, ['endAnother']], later: [OWN_FAULTS] }

for (const isSecure of [false, true]) {
  for (const isFront of [true, false]) {
    describe(`a response in front of one that fails, ${isFront ? 'front' : 'node:http'}, ${isSecure ? 'TLS' : 'plain'}`, () => {
      const listen = server => app => setUp(server, app, isFront).listen(0, '127.0.0.1')
      const side = (isSecure ? credentials().then(keys => https.createServer(keys)) : Promise.resolve(http.createServer()))
        .then(server => open('', listen(server), () => new Kone().use(run)))
      after(async () => (await side).close())

      for (const [when, [faults, ...before]] of Object.entries(ENDS)) {
        for (const [name, fault] of Object.entries(faults)) {
          it(`should arrive when it ends ${when}: ${name}`, async () => {
            const app = [{ ops: [['leave']] }, { ops: [...before, ...fault] }]
            const steps = await exchange(await side, [{ send: Buffer.from(get('/1') + get('/2')) }, { free: true }], { app })
            const text = steps.map(({ got }) => got).join('')
            assert.match(text, /^[^]*?\r\n\r\n(?:by another|at last)/)
          })
        }
      }
    })
  }
}
