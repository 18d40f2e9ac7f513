'use strict'

const { spawn } = require('node:child_process')
const fs = require('node:fs')
const { tmpdir } = require('node:os')
const path = require('node:path')
const { after, describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { setTimeout: sleep } = require('node:timers/promises')
const { need } = require('../helpers/programs')

const LAB = path.join(__dirname, 'fixtures/lab.js')
const FILES = ['moment.node20.json'].map(name => name.replace('20', process.versions.node.split('.')[0]))
const LATER = 5000 // ms in which a process that was forgotten would show

/*
 * What can go wrong while a lab runs, each in a lab of its own and all at once: one line says what it is, no process
 * is left, and no half result is written.
 */

describe('a lab', { skip: process.platform !== 'linux' && 'its processes are found in /proc', concurrency: true }, () => {
  const folder = fs.mkdtempSync(path.join(tmpdir(), 'kone-faults-'))

  after(async () => {
    try {
      assert.deepEqual(left(folder), [], 'a process is left')
      await sleep(LATER)
      assert.deepEqual(left(folder), [], `a process is left ${LATER} ms later`)
    } finally {
      fs.rmSync(folder, { recursive: true })
    }
  })

  it('should end on Ctrl-C with what it has measured and a line, and write nothing', async () => {
    const lab = start('interrupted', ['--only', 'node'])
    await lab.printed(/round 2 of 3/)
    process.kill(-lab.pid, 'SIGINT') // the terminal sends it to the whole group
    const { code, stdout, stderr, files } = await lab.ended
    assert.equal(code, 130)
    assert.match(stdout, /^hello: \w+, 10 connections\n\n.*\n.*\nnode [\d.]+ +[\d.]+ /m)
    assert.match(stderr, /^moment: ended by SIGINT, nothing is written$/m)
    assert.doesNotMatch(stderr, /\n {4}at /)
    assert.deepEqual(files, [])
  })

  it('should end on SIGTERM too', async () => {
    const lab = start('terminated', ['--only', 'node'])
    await lab.printed(/round 1 of 3/)
    process.kill(lab.pid, 'SIGTERM')
    const { code, files } = await lab.ended
    assert.equal(code, 143)
    assert.deepEqual(files, [])
  })

  it('should go on without a contender that dies, and name it with its last words', async () => {
    const { code, stderr, files, result } = await start('dying', ['--only', 'node,dying']).ended
    assert.equal(code, 0, stderr)
    assert.match(stderr, /^dying is left out of hello: .*out of something$/m)
    assert.deepEqual(files, FILES)
    assert.deepEqual(result().rejected.map(({ contender }) => contender), ['dying'])
    assert.ok(result().rows.some(({ contender }) => contender === 'node'))
  })

  // A file that may not grow fails as one on a full disk does.
  it('should say that the disk is full, and leave no half file', async () => {
    const { code, stderr, files } = await start('full', ['--only', 'node'], { shell: 'ulimit -f 1; exec "$0" "$@"' }).ended
    assert.equal(code, 1)
    assert.match(stderr, /^moment: the result cannot be written: EFBIG/m)
    assert.doesNotMatch(stderr, /\n {4}at /)
    assert.deepEqual(files, [])
  })

  it('should say before it measures that its result cannot be written', async () => {
    fs.writeFileSync(path.join(folder, 'file'), '')
    const { code, stderr } = await start('file/out', ['--only', 'node']).ended
    assert.equal(code, 1)
    assert.match(stderr, /^moment: the result cannot be written: ENOTDIR.*\n$/)
  })

  it('should run without wrk, taskset and git', async () => {
    const { code, stderr, result } = await start('bare', ['--only', 'node'], { env: { PATH: '/nowhere' } }).ended
    assert.equal(code, 0, stderr)
    assert.match(stderr, /^wrk is missing: .*brew install wrk$/m)
    const { rows: [{ generator }], commit, derived } = result()
    assert.deepEqual([generator, commit, derived.pinned], ['autocannon', null, null])
  })

  it('should run on one core', { skip: need('taskset') ? false : 'taskset is missing' }, async () => {
    const { code, stderr, result } = await start('one-core', ['--only', 'node'], { shell: 'exec taskset -c 0 "$0" "$@"' }).ended
    assert.equal(code, 0, stderr)
    assert.deepEqual([result().machine.cores, result().derived.pinned], [1, null])
  })

  it('should record what was measured, and under which conditions', async () => {
    const { result } = await start('recorded', ['--only', 'node']).ended
    const { conditions, commit, skipped, command } = result()
    assert.deepEqual(conditions.map(({ part, round }) => [part, round]), [['hello', 1], ['hello', 2], ['hello', 3]])
    assert.match(commit.hash, /^[0-9a-f]{40}$/)
    assert.deepEqual(skipped, [])
    assert.match(command, /^node test\/benchmarks\/fixtures\/lab\.js --only node$/)
  })

  // The lab in a group of its own, its result in a folder of its own, which marks all of its processes.
  function start (name, argv, { shell = 'exec "$0" "$@"', env = {} } = {}) {
    const out = path.join(folder, name)
    const child = spawn('/bin/sh', ['-c', shell, process.execPath, LAB, ...argv], {
      detached: true,
      env: { ...process.env, NODE_OPTIONS: '', ...env, KONE_BENCH_OUT: out },
      stdio: ['ignore', 'pipe', 'pipe']
    })
    let stdout = ''
    let stderr = ''
    child.stdout.on('data', chunk => { stdout += chunk })
    child.stderr.on('data', chunk => { stderr += chunk })
    const ended = new Promise(resolve => child.once('close', code => {
      const files = fs.existsSync(out) ? fs.readdirSync(out).sort() : []
      resolve({ code, stdout, stderr, files, result: () => JSON.parse(fs.readFileSync(path.join(out, FILES[0]), 'utf8')) })
    }))
    const printed = pattern => new Promise((resolve, reject) => {
      const look = () => { if (pattern.test(stderr)) resolve() }
      child.stderr.on('data', look)
      ended.then(() => reject(new Error(stderr)))
    })
    return { pid: child.pid, ended, printed }
  }
})

// Processes with the mark in their environment.
function left (mark) {
  return fs.readdirSync('/proc').filter(name => /^\d+$/.test(name) && Number(name) !== process.pid).filter(pid => {
    try {
      return fs.readFileSync(`/proc/${pid}/environ`, 'latin1').includes(mark)
    } catch {
      return false
    }
  })
}
