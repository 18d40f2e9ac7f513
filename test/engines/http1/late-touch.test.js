'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { execFile } = require('node:child_process')
const path = require('node:path')
const { promisify } = require('node:util')

const share = require('../../helpers/share')

const { KONE_MUTANTS } = process.env

/**
 * Every so many-th case of the table: no divisor of the numbers of touches and moments, so that each comes with most others.
 * Each version of Node has others; `make fuzz` has all.
 */
const STEP = KONE_MUTANTS ? 53 : share(29, share.long(17, 1))
const FROM = Number(process.versions.node.split('.')[0]) % STEP

/** Cases from the seed 1; `make fuzz` has others. */
const RANDOM = String(KONE_MUTANTS ? 30 : share(60, share.long(100, 800)))

describe('a response that other code touches late', () => {
  // In a process of its own, because what an app writes behind the end is an error that nobody catches.
  const passes = async (t, ...args) => {
    const { NODE_TEST_CONTEXT, ...env } = process.env
    const run = promisify(execFile)(process.execPath, [path.join(__dirname, 'late-touch.js'), '--failures', '3', ...args], { env })
    const { stdout } = await run.catch(err => assert.fail(`${err.stdout}${err.stderr}`))
    t.diagnostic(stdout)
  }

  it('should be whole, and its connection go on: each touch at each moment of each response', t => {
    return passes(t, '--table', '--step', String(STEP), '--from', String(FROM), '--no-shrink')
  })

  it('should be so for several touches, readers and bodies of requests at random', t => {
    return passes(t, '--seed', '1', '--cases', RANDOM)
  })
})
