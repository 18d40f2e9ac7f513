'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')

const share = require('../../helpers/share')
const { OF_KONE, READERS } = require('./acts')
const { run } = require('./generator')
const { REQUESTS, readers } = require('./readers')

const { long } = share
const { KONE_FRONT, KONE_MUTANTS } = process.env

const NAMES = Object.keys(READERS)

/**
 * Every so many-th case of a pair with a reader of kone's own, and of the others. In `make test` each pair comes at least once;
 * in `make test-all` each reader, as the first and as the second one, also meets each request in each way.
 */
const STEPS = KONE_MUTANTS || KONE_FRONT
  ? { kone: 23, others: 53 }
  : { kone: long(share(7, 5), 1), others: long(share(23, 7), 5) }

/** Both in turn, the second one at once or a turn of the event loop later; or while the first one reads. */
const WAYS = {
  'in turn': (first, second) => [['read', first], ['read', second]],
  'a turn later': (first, second) => [['read', first], ['turn'], ['read', second]],
  together: (first, second) => [['begin to read', first], ['read', second]],
  'a turn later, together': (first, second) => [['turn'], ['begin to read', first], ['read', second]]
}

function * pairsOf (first) {
  let number = NAMES.indexOf(first)
  for (const second of NAMES) {
    const isForm = first === 'upload' || second === 'upload'
    const step = STEPS[OF_KONE.includes(first) || OF_KONE.includes(second) ? 'kone' : 'others']
    for (const request of REQUESTS) {
      for (const [title, way] of Object.entries(WAYS)) {
        if (number++ % step !== 0) continue
        const ops = [...way(first, second), ['body', 'read']]
        yield [`${first}, ${second}, ${title}, body ${request}`, { request, isForm, ops }]
      }
    }
  }
}

describe('a second reader of the body of a request', () => {
  for (const first of NAMES) {
    it(`should get what it gets on Koa behind or beside ${first}`, async t => {
      const { failures, cases } = await run({ ...readers, plans: pairsOf(first) }, { cases: 0, failures: 3 })
      t.diagnostic(`${cases} cases`)
      assert(failures.length === 0, failures.join('\n\n'))
    })
  }
})
