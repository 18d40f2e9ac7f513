'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { fork } = require('node:child_process')
const { once } = require('node:events')
const path = require('node:path')

const { talk } = require('./sides')
const share = require('../../helpers/share')

const KB = 1024
const REQUESTS = 25

// A buffer that is being read into (256 KB) may be there at the end of a batch and not at its start, or the other way
// round. It counts less with every batch; what the app keeps does not.
const MIN_BATCHES = 2
const MAX_BATCHES = 10

// What a value may keep beside itself and more than Koa's, in bytes: the heap is not exact. A read is
// four times as much.
const SPARE = 3 * KB

const KEPT = [
  'path', 'url', "a query's value", 'a parameter', 'ctx.get()', 'a value of ctx.headers', 'a cookie'
]

/** Request number `i`, whose values are its own and longer than what V8 copies in any case. */
const request = (i, more, body = '') => {
  const value = `value-number-${i}-of-many`
  return `${body ? 'POST' : 'GET'} /kept-by-the-app/${value}?value=${value}&other=1 HTTP/1.1\r\n` +
    `Host: ${value}.example.com\r\nX-Value: ${value}\r\nCookie: a=1; value=${value}; b=2\r\n` +
    `${more}${body && `Content-Length: ${body.length}\r\n`}\r\n${body}`
}

/** Unlike for every request, so that nothing is shared. */
const padding = (i, size) => `${i} `.padEnd(size, String(i))

const READS = {
  'with a large header beside it': i => [request(i, `X-Large: ${padding(i, 14 * KB)}\r\n`), 1],
  'with a body behind it': i => [request(i, '', padding(i, 28 * KB)), 1],
  'with pipelined requests around it': i => [request(i, `X-Own: ${padding(i, 14 * KB)}\r\n`).repeat(3), 3]
}

/** The server of keeper.js, a process that ends with the test. */
async function start (t, side) {
  const env = { ...process.env, NODE_TEST_CONTEXT: undefined }
  const child = fork(path.join(__dirname, 'keeper.js'), [side], { execArgv: ['--expose-gc'], stdio: ['ignore', 'ignore', 'inherit', 'ipc'], env })
  t.after(() => child.kill('SIGKILL'))
  const message = async () => {
    const [value] = await Promise.race([once(child, 'message'), once(child, 'exit').then(() => [])])
    return value ?? assert.fail(`${side} has ended`)
  }
  const { port } = await message()
  return {
    talk: () => talk(port),
    ask (what) {
      child.send(what)
      return message()
    }
  }
}

describe('what an app keeps of a request', { concurrency: false }, () => {
  let koa
  for (const side of ['front', 'front, ctx.res touched']) {
    it(`should keep no more than itself, ${side}`, { timeout: 300000 }, async t => {
      koa ??= await measure(t, 'koa')
      const front = await measure(t, side)
      for (const what of Object.keys(koa)) {
        assert(front[what] - koa[what] < SPARE, `${what}: ${front[what]} bytes, ${koa[what]} with Koa`)
      }
    })
  }

  /** Bytes per value, by what is kept of which read. */
  async function measure (t, side) {
    const child = await start(t, side)
    const client = await child.talk()
    const held = {}
    for (const [i, [read, make]] of Object.entries(READS).entries()) {
      for (const what of share(KEPT.slice(0, 2), KEPT.filter((one, at) => at % 3 === i))) {
        await child.ask({ keep: what })
        await send(client, make, 0, REQUESTS)
        const before = await child.ask('stats')
        let each = Infinity
        for (let batch = 1; batch <= MAX_BATCHES && (batch <= MIN_BATCHES || each >= SPARE); batch++) {
          await send(client, make, batch * REQUESTS, (batch + 1) * REQUESTS)
          const after = await child.ask('stats')
          each = Math.round((bytes(after) - bytes(before)) / (after.kept - before.kept))
        }
        held[`${what}, ${read}`] = Math.max(0, each)
      }
    }
    client.destroy()
    return held
  }

  async function send (client, make, from, to) {
    for (let i = from; i < to; i++) {
      const [text, responses] = make(i)
      client.text = ''
      client.write(text)
      while (client.text.split('\r\n\r\nkept').length <= responses) await once(client.socket, 'data')
    }
  }

  const bytes = ({ heapUsed, external }) => heapUsed + external
})
