'use strict'

/**
 * Runs test files once, side by side: a line per file as it ends, then the slowest, what was skipped, and node's summary.
 *
 *    node test/pass.js test/context/throw.test.js …
 */

const { availableParallelism } = require('node:os')
const { relative, resolve } = require('node:path')
const { run } = require('node:test')
const { spec: Spec } = require('node:test/reporters')

const SLOWEST = 10
const TIMEOUT = 480_000 // ms, per file
// Most files wait longer than they compute.
const CONCURRENCY = Number(process.env.KONE_TEST_CONCURRENCY) || 2 * availableParallelism()

const files = process.argv.slice(2).map(file => resolve(file))

run({ files, concurrency: CONCURRENCY, timeout: TIMEOUT })
  .on('test:fail', () => { process.exitCode = 1 })
  .compose(report)
  .compose(new Spec())
  .pipe(process.stdout)

/** Prints about files itself, and leaves node's reporter the failures and the summary. */
async function * report (events) {
  const ended = []
  const output = new Map()
  const skipped = new Map()
  for await (const event of events) {
    const { type, data } = event
    if (type === 'test:stdout' || type === 'test:stderr') {
      output.set(data.file, (output.get(data.file) ?? '') + data.message)
    } else if (type === 'test:complete' && data.name === data.file) {
      const { duration_ms: ms, passed } = data.details
      ended.push({ file: relative('', data.file), ms })
      console.log(`${passed ? '✔' : '✖'} ${count(ended.length)}/${files.length} ${seconds(ms)}  ${relative('', data.file)}`)
      if (!passed) process.stdout.write(output.get(data.file) ?? '')
      output.delete(data.file)
    } else if (type === 'test:pass' && data.skip !== undefined) {
      const why = typeof data.skip === 'string' && data.skip !== '' ? data.skip : `no reason is given in ${relative('', data.file)}`
      skipped.set(why, (skipped.get(why) ?? 0) + 1)
    } else if (type === 'test:fail') {
      yield event
    } else if (type === 'test:diagnostic' && data.nesting === 0 && ended.length === files.length) {
      if (data.message.startsWith('tests ')) summary(ended, skipped)
      yield event
    }
  }
}

function summary (ended, skipped) {
  if (files.length > SLOWEST) {
    console.log('\nthe slowest files')
    ended.sort((a, b) => b.ms - a.ms)
    for (const { file, ms } of ended.slice(0, SLOWEST)) console.log(`${seconds(ms)}  ${file}`)
  }
  if (skipped.size > 0) console.log('\nskipped')
  for (const [why, times] of skipped) console.log(`${count(times)} ×  ${why}`)
  console.log()
}

function count (n) {
  return String(n).padStart(String(files.length).length)
}

function seconds (ms) {
  return `${(ms / 1000).toFixed(1).padStart(6)} s`
}
