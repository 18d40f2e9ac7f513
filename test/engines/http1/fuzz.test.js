'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { execFile } = require('node:child_process')
const path = require('node:path')
const { promisify } = require('node:util')

const { smaller } = require('../../helpers/shrink')
const { RULES, generate, steps } = require('./grammar')

// `make fuzz` runs for minutes and from any seed; these cases are the same in every run.
const QUICK = ['--seed', '1', '--cases', '400', '--seconds', '8']

describe('the fuzzer', () => {
  it('should make the same case from the same seed', () => {
    assert.deepEqual(generate(7), generate(7))
    assert.notDeepEqual(generate(7), generate(8))
    assert.deepEqual(steps(generate(7)), steps(generate(7)))
  })

  it('should only make smaller cases of a case', () => {
    const one = generate(3)
    const size = JSON.stringify(one).length
    for (const next of smaller(one, RULES)) assert(JSON.stringify(next).length <= size + 10)
  })

  // In a process of its own, because listeners throw in it.
  it('should find no difference between the front and node:http', async t => {
    const { NODE_TEST_CONTEXT, ...env } = process.env
    const run = promisify(execFile)(process.execPath, [path.join(__dirname, 'fuzz.js'), ...QUICK], { env })
    const { stdout } = await run.catch(err => assert.fail(`${err.stdout}${err.stderr}`))
    t.diagnostic(stdout)
  })
})
