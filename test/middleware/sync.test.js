'use strict'

const assert = require('node:assert/strict')
const http = require('node:http')
const { describe, it } = require('node:test')
const set = require('kone/middleware')

const Kone = require('../helpers/kone')

const KEYS = ['k'.repeat(32)]
const ALL = {
  session: set.session(),
  'session, sealed': set.session({ store: set.session.sealedCookie({ keys: KEYS }) }),
  csrf: set.csrf(),
  rateLimit: set.rateLimit(),
  cors: set.cors({ origin: 'http://a.com', credentials: true }),
  helmet: set.helmet(),
  favicon: set.favicon(),
  etag: set.etag(),
  conditionalGet: set.conditionalGet(),
  timeout: set.timeout(1000)
}

describe('a chain that never waits', () => {
  for (const [name, fn] of Object.entries(ALL)) {
    it(`should stay synchronous with ${name}`, () => {
      const app = new Kone()
      const req = new http.IncomingMessage(null)
      req.method = 'GET'
      req.url = '/'
      req.headers = { 'if-none-match': '"x"' }
      const ctx = app.createContext(req, new http.ServerResponse(req))
      const run = Kone.compose([fn, ctx => { ctx.body = 'hi' }])
      assert.equal(run(ctx), Kone.compose.ENDED)
      assert.equal(ctx.body, 'hi')
    })
  }
})
