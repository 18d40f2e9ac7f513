'use strict'

const assert = require('node:assert/strict')
const { execFile } = require('node:child_process')
const { join } = require('node:path')
const { it } = require('node:test')
const { promisify } = require('node:util')

it('should keep no socket and no context of a burst whose connections are closed', async () => {
  const program = join(__dirname, 'kept-sockets.js')
  const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', program], { timeout: 120e3 })
  const kept = Object.entries(JSON.parse(stdout))
  assert.equal(kept.length, 26)
  assert.deepEqual(kept.filter(([, counts]) => Math.max(...counts) > 0), [], '[kind, [sockets, contexts]]')
})
