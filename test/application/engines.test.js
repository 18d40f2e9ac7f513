'use strict'

const assert = require('node:assert/strict')
const http = require('node:http')
const http2 = require('node:http2')

const { Incoming } = require('../../lib/engines/fetch/incoming')
const engines = require('../helpers/engines')

engines('an engine of these tests', ({ it, see, engine }) => {
  it('should be the one it is called', async () => {
    const [incoming, outgoing, version] = await see(ctx => [ctx.incoming, ctx.outgoing, ctx.incoming.httpVersion], 'GET /')
    const onHttp2 = engine === 'http2'
    const onFastPath = /^(?:http1|fetch|inject$)/.test(engine)
    assert.equal(incoming instanceof http.IncomingMessage, !onHttp2 && !onFastPath)
    assert.equal(outgoing instanceof http.ServerResponse, !onHttp2 && !onFastPath)
    assert.equal(incoming instanceof http2.Http2ServerRequest, onHttp2)
    assert.equal(version, onHttp2 ? '2.0' : '1.1')
    if (onFastPath) assert.equal(incoming.req !== null, engine.endsWith('-materialised'))
    assert.equal(incoming instanceof Incoming, engine.startsWith('fetch'))
  })
})
