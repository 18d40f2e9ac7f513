'use strict'

const assert = require('node:assert/strict')
const { execFile } = require('node:child_process')
const path = require('node:path')
const { it } = require('node:test')
const { promisify } = require('node:util')

const SIEGE = path.join(__dirname, 'siege/run.js')

// `make soak` sends a million requests.
it('should leave neither timers nor a growing heap behind the clients of a siege', async t => {
  const { stdout } = await promisify(execFile)(process.execPath, [SIEGE, '--seed', '1', '--soak', '300'])
  t.diagnostic(stdout)
  assert.match(stdout, /^front: the heap grew by -?\d+ bytes per 1,000 connections \(\d+\), 0 timers are left$/m)
})
