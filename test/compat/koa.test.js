'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { once } = require('node:events')

const Koa2 = require('koa')
const Koa3 = require('koa3')

const Kone = require('../helpers/kone')
const Kone3 = require('../../lib/koa3')
const { exchange } = require('../helpers/engines')
const apps = require('./apps')

/** The response of a class to an entry of the table, as text without Date. */
async function answer (App, entry, http1) {
  const app = new App(entry.options)
  app.silent = true
  app.http1 = http1
  if (entry.set) entry.set(app)
  for (const fn of entry.middleware) app.use(fn)

  const server = app.listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    const text = await exchange(server.address().port, bytes(entry))
    return text.replace(/^Date: .{29}\r\n/gm, date => date.includes('2024') ? date : '')
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

function bytes ({ ask, headers, body, keepAlive }) {
  const [method, target] = ask.split(' ')
  const fields = { host: 'example.com', ...headers }
  if (body !== undefined && !fields['transfer-encoding']) fields['content-length'] = Buffer.byteLength(body)
  const close = 'Connection: close\r\n'
  const head = `${method} ${target} HTTP/1.1\r\n${lines(fields)}${keepAlive ? '' : close}\r\n${body ?? ''}`
  return keepAlive ? `${head}GET /second HTTP/1.1\r\nHost: example.com\r\n${close}\r\n` : head
}

function lines (fields) {
  return Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`).join('')
}

describe('the same app', () => {
  assert(apps.length >= 120)

  for (const entry of apps) {
    it(`should get a response alike: ${entry.title}`, async () => {
      const front = answer(Kone, entry, true)
      const node = answer(Kone, entry, false)
      const [kone, koneOnNode] = [await front, await node]
      assert.match(kone, /^HTTP\/1\.1 \d/)
      assert.equal(kone, koneOnNode, 'the front and node:http')
      if (entry.expect) assert.match(kone, entry.expect)
      if (entry.hangs) return
      const [koa2, koa3] = [await answer(Koa2, entry), await answer(Koa3, entry)]
      compare(kone, koa2, entry.kone, 'kone and koa 2')
      compare(koa3, koa2, entry.koa3, 'koa 3 and koa 2')

      const [kone3, kone3OnNode] = [await answer(Kone3, entry, true), await answer(Kone3, entry, false)]
      assert.equal(kone3, kone3OnNode, 'the front and node:http under kone@3')
      compare(kone3, koa3, entry.kone3, 'kone@3 and koa 3')
    })
  }
})

// A difference has to be on the list, and what is on the list has to be there.
function compare (actual, expected, reason, who) {
  if (reason === undefined) return assert.equal(actual, expected)
  assert.notEqual(actual, expected, `${who} do not differ, although the table says: ${reason}`)
}
