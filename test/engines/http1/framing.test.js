'use strict'

const { it } = require('node:test')
const assert = require('node:assert/strict')

const share = require('../../helpers/share')
const { framing } = require('./framing')
const { run } = require('./generator')

it('should send exactly the responses of an app, whatever it declares about their lengths', async t => {
  const { failures, ...summary } = await run(framing, { seed: 1, cases: share(400, 1_000, 5_000) })
  assert.deepEqual(failures, [])
  t.diagnostic(JSON.stringify(summary))
})
