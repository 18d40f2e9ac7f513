'use strict'

const assert = require('node:assert/strict')
const { once } = require('node:events')
const net = require('node:net')
const { join } = require('node:path')
const { describe, it } = require('node:test')
const { start } = require('../helpers/child')
const until = require('../helpers/until')

/*
 * The tests of an app fake its timers. Each request has a connection of its own, which the keep-alive timeout ends.
 */

const HOUR = 3600e3
const PATIENCE = 10e3

const ASKED = [
  ['GET', '/text'], ['GET', '/json'], ['GET', '/none'], ['HEAD', '/text'], ['GET', '/error'], ['GET', '/finished'],
  ['POST', '/read', 'body'], ['POST', '/read', 'x'.repeat(100e3)], ['POST', '/text', 'body'],
  ['GET', '/stream'], ['GET', '/file'], ['GET', '/static'], ['GET', '/ctx.res'],
  ['GET', '/inject'], ['GET', '/fetch'],
  ['POST', '/iterated', 'body'], ['POST', '/iterated', 'x'.repeat(100e3)]
]

// Without process.nextTick node itself does not listen or close, and its streams do not flow.
const NEEDS_TICK = ['/stream', '/file', '/static', '/ctx.res', '/iterated', '/inject', '/fetch']

describe('faked timers', () => {
  const expected = run('none')

  for (const by of ['sinon', 'sinon, with nextTick', 'node:test']) {
    for (const when of ['before listen()', 'after listen()', 'and restored']) {
      const hasTick = !by.includes('nextTick') || when === 'and restored'
      if (!hasTick && when === 'before listen()') continue
      it(`should change no response, no timeout and no app.close(): by ${by}, ${when}`, async () => {
        const asked = hasTick ? ASKED : ASKED.filter(([, path]) => !NEEDS_TICK.includes(path))
        const [found, all] = [await run(by, when, asked, hasTick), await expected]
        for (const [what, text] of Object.entries(found)) assert.equal(text, all[what], what)
      })
    }
  }
})

/** What each request got until its connection was closed, by the request. */
async function run (by, when = '', asked = ASKED, closes = true) {
  const child = await start([join(__dirname, 'fake-timers.js'), by, when], { NODE_ENV: 'test' })
  try {
    const found = {}
    await Promise.all(asked.map(async ([method, path, body]) => {
      found[`${method} ${path} ${body?.length ?? ''}`] = await ask(child, method, path, body)
    }))
    for (const [method, path] of asked) await until(() => child.output().includes(`\n${method} ${path}\n`)) // the logger's line
    await until(() => child.output().includes('finished /finished'))
    if (closes) {
      const ended = once(child.process, 'exit')
      await ask(child, 'GET', '/close')
      assert.deepEqual(await ended, [0, null])
    }
    return found
  } finally {
    await child.stop('SIGKILL')
  }
}

async function ask ({ url }, method, path, body = '') {
  const socket = net.connect(new URL(url).port, '127.0.0.1')
  socket.setTimeout(PATIENCE, () => socket.destroy(new Error(`${method} ${path}: the connection stays open`)))
  socket.write(`${method} ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
  const text = Buffer.concat(await socket.toArray()).toString('latin1')
  const [, date] = /^Date: (.*)\r$/m.exec(text)
  assert(Math.abs(Date.parse(date) - Date.now()) < HOUR, date)
  return text.replace(date, 'date').replace(/^ETag: .*\r$/m, 'ETag: that of the process, or, once it was read, of the content\r')
}
