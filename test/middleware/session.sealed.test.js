'use strict'

const assert = require('node:assert/strict')
const session = require('kone/middleware/session')
const rows = require('../helpers/session-rows')

const { KEY, jar } = rows
const OLD = 'the old key, that was in use last year'
const NEW = Buffer.alloc(32, 7)

const sealedBy = (...keys) => ({ store: () => session.sealedCookie({ keys }) })
const bytesOf = value => Buffer.from(value, 'base64url')

/** Values that nobody sealed: each byte altered, cut, made up. */
function forged (value) {
  const bytes = bytesOf(value)
  const altered = Array.from(bytes, (byte, i) => Buffer.from(bytes).fill(byte ^ 1, i, i + 1).toString('base64url'))
  const cut = [0, 1, 12, 27, 28, 29, bytes.length - 1].map(n => bytes.toString('base64url', 0, n))
  return [...altered, ...cut, 'x', '%%%', '{"count":9}', 'A'.repeat(5000), '__proto__']
}

/** As long as fits, and not longer. */
async function fills ({ visit, check }) {
  let largest = 0
  const statuses = new Set()
  for (let n = 2800; n < 3100; n += 20) {
    const fill = 'x'.repeat(n)
    const { status, headers, errors } = await visit(`bob${n}: fill="${fill}"`)
    statuses.add(status)
    if (status === 200) {
      largest = headers['set-cookie'][0].length
      await check(`bob${n}: read`, { fill })
    } else {
      assert.deepEqual([status, headers['set-cookie'], errors], [500, undefined, ['KONE_ERR_SESSION_SIZE']])
    }
  }
  assert.deepEqual([...statuses], [200, 500])
  assert.ok(largest <= 4096 && largest > 4000)
}

rows('session.sealedCookie', [
  ['should keep a session in its cookie alone, across workers', sealedBy(OLD),
    ['add', { count: 1 }], sealedBy(OLD), ['add', { count: 2 }]],
  ['should show nothing of the session', sealedBy(OLD),
    ['add', { count: 1 }],
    ({ jars }) => assert.ok(!bytesOf(jars.ann[KEY]).toString('latin1').includes('count'))],
  ['should seal the same session differently each time', sealedBy(OLD),
    ['add', { count: 1 }], ['renew', { count: 1 }, { id: 'new' }], ['read', { count: 1 }]],
  ['should send nothing for an untouched session, and clear an emptied one', sealedBy(OLD),
    ['add', { count: 1 }], ['read', { count: 1 }, { lines: 0 }], ['null', null, { cookie: 'cleared', jar: [] }]],
  ['should open with every key and seal with the first', sealedBy(OLD),
    ['add', { count: 1 }],
    sealedBy(NEW, OLD),
    ['add', { count: 2 }],
    sealedBy(NEW),
    ['add', { count: 3 }],
    sealedBy(OLD),
    ['read', {}]],
  ["should not open another cookie's value", sealedBy(OLD),
    ['add', { count: 1 }], { key: 'admin' }, jar('ann', cookies => ({ admin: cookies[KEY] })), ['read', {}]],
  ['should not open what was altered, cut or made up', sealedBy(OLD),
    ['add', { count: 1 }],
    async ({ jars, check }) => {
      for (const value of forged(jars.ann[KEY])) {
        jars.mallory = { [KEY]: value }
        await check('mallory: read', {})
      }
    }],
  ['should respond with 5xx and set no cookie for a session that does not fit',
    { ...sealedBy(OLD), cookie: { maxAge: 1000, domain: 'example.com' } },
    fills],
  ['should keep the last session that did fit', sealedBy(OLD),
    ['add', { count: 1 }], [`fill="${'x'.repeat(4000)}"`, 500, { lines: 0 }], ['read', { count: 1 }]]
])
