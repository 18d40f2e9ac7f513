'use strict'

const assert = require('node:assert/strict')
const { spawn } = require('node:child_process')
const { cpSync, readFileSync, rmSync } = require('node:fs')
const { createRequire } = require('node:module')
const { dirname, join } = require('node:path')
const { before, describe, it } = require('node:test')
const { install } = require('../../helpers/area')
const temporary = require('../../helpers/folder')

const ROOT = join(__dirname, '../../..')
const TIMEOUT = 300_000

// An app's tests, by the runners that apps are tested with. None of them is given a flag that ends what is
// still open, so a runner that does not end by itself fails here.
describe('an app under test', () => {
  let area

  before(() => {
    area = install('consumers/runners')
    // as an app has it: a folder in node_modules, not a link to a checkout
    const kone = join(area.folder, 'node_modules/kone')
    rmSync(kone, { recursive: true, force: true })
    for (const entry of ['lib', 'middleware', 'package.json']) {
      cpSync(join(ROOT, entry), join(kone, entry), { recursive: true })
    }
  })

  it('should leave nothing open by node --test', async () => {
    assert.match(await run([process.execPath, '--test', '--test-reporter=tap', 'node.cjs']), /^# pass 7$/m)
  })

  it('should leave nothing open by vitest', async () => {
    const output = await run([process.execPath, area.bin('vitest'), 'run'])
    assert.match(output, /Tests\s+7 passed/)
    assert.doesNotMatch(output, /timed out|hanging/)
  })

  it('should leave nothing open by jest', async () => {
    const output = await run([process.execPath, area.bin('jest'), '--detectOpenHandles'])
    assert.match(output, /^Tests: +7 passed/m)
    assert.doesNotMatch(output, /did not exit|open handle/)
  })

  it('should leave nothing open by jest with its environment jsdom', async () => {
    const output = await run([process.execPath, area.bin('jest'), '--env', 'jsdom'])
    assert.match(output, /^Tests: +4 skipped, 3 passed/m)
    assert.doesNotMatch(output, /did not exit|open handle/)
  })

  // which knows neither the prefix node: nor most globals of the web
  it('should leave nothing open by jest 26', async () => {
    const jest = createRequire(area.require.resolve('jest26/package.json'))
    const config = {
      rootDir: area.folder,
      testMatch: ['**/jest.cjs'],
      moduleFileExtensions: ['js', 'cjs', 'json'],
      runner: jest.resolve('jest-runner'),
      testEnvironment: jest.resolve('jest-environment-node'),
      transform: {},
      moduleNameMapper: { '^supertest$': 'supertest6' }
    }
    const output = await run([process.execPath, area.require.resolve('jest26/bin/jest'), '--config', JSON.stringify(config)])
    assert.match(output, /^Tests: +2 skipped, 5 passed/m)
    assert.doesNotMatch(output, /did not exit|open handle/)
  })

  // three of them look for files that npm leaves out of its tarball; those of its speed depend on the machine
  it('should pass the own tests of koa-classic-server, with kone in the place of koa', async () => {
    const packages = install('packages')
    const folder = temporary()
    cpSync(dirname(packages.require.resolve('koa-classic-server')), folder, { recursive: true }) // jest runs no tests of node_modules
    const config = {
      rootDir: folder,
      modulePaths: [area, packages].map(({ folder }) => join(folder, 'node_modules')),
      moduleNameMapper: { '^koa$': area.require.resolve('kone') },
      testPathIgnorePatterns: ['performance'],
      transform: {}
    }
    await assert.rejects(run([process.execPath, area.bin('jest'), '--config', JSON.stringify(config), '--json', '--outputFile', join(folder, 'results.json')]))
    const { testResults } = JSON.parse(readFileSync(join(folder, 'results.json')))
    const tests = testResults.flatMap(({ assertionResults }) => assertionResults)
    assert.equal(tests.length, 546)
    const failed = tests.filter(({ status }) => status !== 'passed').map(({ fullName }) => fullName)
    assert.deepEqual(failed.filter(name => !name.startsWith('dotFiles — ')), [])
    assert.equal(failed.length, 3)
  })

  /** What a command writes, without colours. It must end, with code 0. */
  function run ([command, ...args]) {
    return new Promise((resolve, reject) => {
      let output = ''
      const { NODE_OPTIONS, NODE_TEST_CONTEXT, ...env } = process.env
      const child = spawn(command, args, { cwd: area.folder, env: { ...env, NO_COLOR: '1', CI: '' } })
      for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => { output += chunk })
      const timer = setTimeout(() => {
        child.kill('SIGKILL')
        reject(new Error(`did not end in ${TIMEOUT} ms:\n${output}`))
      }, TIMEOUT)
      child.on('close', code => {
        clearTimeout(timer)
        if (code === 0) resolve(output)
        else reject(new Error(`exit code ${code}:\n${output}`))
      })
    })
  }
})
