'use strict'

const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { after, before, describe, it } = require('node:test')
const { list } = require('../../benchmarks/lib/servers/contenders')
const Program = require('../../benchmarks/lib/servers/program')
const { filesOf, unseen } = require('../helpers/messages')

/*
 * What a user reads when the command line of a lab, of make results or of make report is wrong, or a file that they
 * read: what was given, what is expected and where to read on.
 */

const ROOT = path.join(__dirname, '../..')
const FILES = [
  'benchmarks/results.js', 'benchmarks/report.js', 'benchmarks/lib/run/options.js', 'benchmarks/lib/run/lab.js', 'benchmarks/lib/run/session.js',
  'benchmarks/labs/compare/index.js', 'benchmarks/labs/compare/revisions.js', 'benchmarks/labs/versions/index.js', 'benchmarks/lib/servers/contenders.js'
]
const EXCEPTIONS = {
  '`${lab}: ${message}`': 'what refuse() is called with, which is in the table', // eslint-disable-line no-template-curly-in-string
  'it did not start, or ': 'a server that fails during a comparison',
  'git is missing': 'the tests need git',
  '--node ${text}': 'a download that failed', // eslint-disable-line no-template-curly-in-string
  'firstOf(reasons)': 'what a run lacks: results.test.js',
  'stderr.split': 'what a measured server has printed, as its reason in the result'
}

// [program, what is typed (EXTRA=… before it is in the environment), exit code, what was given, what is expected]
const MISTAKES = [
  ['labs/battle', '--ful', 2, 'battle: unknown option --ful', '--full'],
  ['labs/battle', 'full', 2, 'battle: unknown argument full', 'expected --full'],
  ['labs/front', '--rounds', 2, 'front: --rounds needs a value', '--rounds N'],
  ['labs/front', '--rounds 2', 2, 'not 2', '--rounds must be a whole number of at least 3'],
  ['labs/front', '--full=yes', 2, 'not yes', '--full takes no value'],
  ['labs/mw', '--only kao', 2, 'unknown contender kao', 'expected '],
  ['labs/battle', '--node /nowhere/node', 2, 'not /nowhere/node', '--node must be a major version or a binary that runs here'],
  ['labs/versions', '--node FOLDER/node', 2, '/node is not for this lab', 'expected --only or --all'],
  ['labs/static', 'EXTRA=./hphs --help', 2, 'not ./hphs', 'EXTRA must be name=command'],
  ['labs/connections', 'EXTRA=hphs= --help', 2, 'not hphs=', 'EXTRA must be name=command'],
  ['labs/compare', '--ref no-such', 2, 'no-such is no revision', 'expected a branch, a tag or a commit'],
  ['labs/compare', '--workloads hello;helo', 2, 'unknown workload helo', 'expected hello; browser; '],
  ['labs/dropin', '--workloads API;apt', 2, 'unknown workload apt', '; API; '],
  ['labs/compare', '--seconds 0.5', 2, 'not 0.5', '--seconds must be a whole number above 0'],
  ['results.js', '--form x', 2, 'results: unknown flag --form', 'did you mean --from?'],
  ['results.js', '--from', 2, 'results: --from needs a value: <path>'],
  ['results.js', '--from FOLDER/nowhere --to FOLDER/to', 1, '/nowhere', 'make battle ARGS='],
  ['results.js', '--from FOLDER --to FOLDER/to half', 1, 'half.json is refused', 'JSON'],
  ['results.js', '--from FOLDER --to FOLDER/to other', 1, 'other.json is refused', 'it has no rows'],
  ['results.js', '--from FOLDER --to FOLDER/to nobody', 1, 'nobody.json is refused', 'no such file'],
  ['results.js', '--from FOLDER/nowhere --to FOLDER', 1, 'half.json is left out', 'not JSON'],
  ['report.js', '--fast', 2, 'report: unknown flag --fast', 'expected --from, --to, --accept'],
  ['report.js', 'battle', 2, 'report: unknown argument battle'],
  ['report.js', '--from FOLDER/nowhere', 2, '/nowhere', '--from: there is no folder '],
  ['report.js', '--from FOLDER --to FOLDER/to', 0, 'half.json is left out', 'not JSON'],
  ['report.js', '--from FOLDER --to FOLDER/to', 0, 'other.json is left out', 'it has no rows']
]

let folder
let printed = ''

before(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'kone-messages-'))
  fs.writeFileSync(path.join(folder, 'half.json'), '{"lab": "battle",')
  fs.writeFileSync(path.join(folder, 'other.json'), '{"scores": [1]}')
  fs.writeFileSync(path.join(folder, 'table.js'), 'exports.odd = {}')
  fs.writeFileSync(path.join(folder, 'node'), '#!/bin/sh\necho v20.0.0\n', { mode: 0o755 })
})

after(() => fs.rmSync(folder, { recursive: true, force: true }))

describe('an error of the lab', () => {
  for (const [program, typed, code, ...parts] of MISTAKES) {
    it(`should say what is wrong: ${program} ${typed}: ${parts[0]}`, () => {
      const words = typed.replaceAll('FOLDER', folder).split(' ')
      const [, EXTRA] = /^EXTRA=(.*)/.exec(words[0]) ?? []
      const args = EXTRA ? words.slice(1) : words
      const run = spawnSync(process.execPath, [path.join(ROOT, 'benchmarks', program), ...args], {
        encoding: 'utf8', env: { ...process.env, NODE_TEST_CONTEXT: undefined, EXTRA }
      })
      printed += run.stderr
      assert.equal(run.status, code, run.stderr)
      assert.doesNotMatch(run.stderr, /^ +at /m)
      if (code === 2) assert.match(run.stderr, /^[^\n]+\n$/)
      for (const part of parts) assert(run.stderr.includes(part), `no ${part} in: ${run.stderr}`)
      const line = run.stderr.split('\n').find(text => text.includes(parts[0]))
      assert.match(line, / \((?:see )?benchmarks\/README\.md\)$/)
    })
  }

  it('should say which contender is missing, and which one starts no server', () => {
    for (const [mistake, ...parts] of [
      [() => list(path.join(folder, 'table.js'), { only: ['nobody'] }), 'there is no contender nobody in ', 'expected odd'],
      [() => list(path.join(folder, 'table.js')), 'has neither start nor command', 'odd of '],
      [() => Program.extra('hphs'), 'not hphs', 'EXTRA must be name=command']
    ]) {
      assert.throws(mistake, ({ message }) => {
        printed += `${message}\n`
        for (const part of parts) assert(message.includes(part), `no ${part} in: ${message}`)
        return message.endsWith(' (benchmarks/README.md)')
      })
    }
  })

  it('should be in this table, or be listed here', () => {
    assert.deepEqual(unseen(FILES.flatMap(filesOf), printed, EXCEPTIONS, ['OptionError', 'refuse']), [])
  })
})
