'use strict'

const { after, before } = require('node:test')
const assert = require('node:assert/strict')
const { once } = require('node:events')
const http = require('node:http')
const send = require('send')
const serve = require('kone/middleware/static')
const folder = require('../helpers/folder')
const frameworks = require('../helpers/frameworks')
const { random } = require('../helpers/random')

// Ranges are those of `send`, which Express serves files with. Intentional differences, all allowed by RFC 9110, 14.2:
// several ranges, also such that send makes one of, and a last byte before the first one are the whole file. And as
// 14.1.2 demands, a suffix longer than the file is all of it.

const SIZES = { 'empty.txt': 0, 'one.txt': 1, 'small.txt': 1000, 'large.bin': 300_000 }
const bytes = size => Buffer.alloc(size, 'abcdefghijklmnopqrstuvwxyz0123456789')
const root = folder(Object.fromEntries(Object.entries(SIZES).map(([name, size]) => [name, bytes(size)])))

let theirs
before(async () => {
  theirs = http.createServer((req, res) => send(req, req.url, { root }).pipe(res)).listen(0, '127.0.0.1')
  await once(theirs, 'listening')
})
after(() => {
  theirs.close()
  theirs.closeAllConnections()
})

/** One range: within the file, at its edges, beyond it, or none at all. */
function makeRange (rnd, size) {
  const place = () => rnd.pick([0, 1, size - 2, size - 1, size, size + 1, rnd.int(size + 5), 2 ** 40, 2 ** 60]
    .filter(number => number >= 0))
  if (rnd.chance(0.1)) return rnd.pick(['bytes', 'bytes=', 'bytes=-', 'bytes=a-b', 'items=0-1', 'bytes=--1', '0-1', 'bytes=1', 'bytes 0-1'])
  if (rnd.chance(0.25)) return `bytes=-${Math.min(place(), size)}`
  const first = place()
  if (rnd.chance(0.3)) return `bytes=${first}-`
  const last = place()
  return last < first ? `bytes=${last}-${first}` : `bytes=${first}-${last}`
}

frameworks('static beside send', ({ it, Koa, ask }) => {
  const app = [serve(root)]
  const get = async (target, headers) => {
    const res = await fetch(`http://127.0.0.1:${theirs.address().port}${target}`, { headers })
    return { status: res.status, headers: Object.fromEntries(res.headers), body: Buffer.from(await res.arrayBuffer()) }
  }
  const same = async (target, headers) => {
    const [ours, expected] = await Promise.all([ask(app, `GET ${target}`, { headers }), get(target, headers)])
    const what = `${target} ${JSON.stringify(headers)}`
    assert.equal(ours.status, expected.status, what)
    assert.equal(ours.headers['content-range'], expected.headers['content-range'], what)
    if (ours.status === 416) return ours
    assert.equal(ours.headers['content-length'], expected.headers['content-length'], what)
    assert.equal(ours.headers['accept-ranges'], 'bytes')
    assert.ok(ours.body.equals(expected.body), what)
    return ours
  }

  it('should send the same bytes for one range', async () => {
    const statuses = {}
    const rnd = random(7)
    for (const [name, size] of Object.entries(SIZES)) {
      for (let i = 0; i < 60; i++) {
        const { status } = await same(`/${name}`, { Range: makeRange(rnd, size) })
        statuses[status] = (statuses[status] ?? 0) + 1
      }
    }
    for (const status of [200, 206, 416]) assert.ok(statuses[status] >= 20, JSON.stringify(statuses))
  })
})
