'use strict'

const { fork } = require('node:child_process')
const { once } = require('node:events')
const { pairedRatio, shuffle, spread } = require('../lib/run/stats')
const { ratio, short, table } = require('../lib/report/text')

const BATCH = 100 // ms of CPU time
const ROUNDS = 8
const WARM = 5 // rounds that are not counted: compilers work in threads of the same process

/**
 * Compare functions inside one process each, so that none is compiled for what another was given: rounds go
 * round them in random order, figures are CPU time, ratios are paired.
 *
 *    micro(__filename, {
 *      'async, 5': { koa: () => () => koaCompose(five)(ctx), kone: () => () => compose(five)(ctx) }
 *    })
 *
 * @param {string} file the script that calls this, started again for each case; the argument of its command line is what
 *   the names of groups begin with
 * @param {Object<string, Object<string, () => Function>>} groups of cases; a case makes the function to
 *   measure, which may return a promise. The first of a group is what the others are divided by
 */
module.exports = async function micro (file, groups) {
  if (process.send) return child(groups)
  const rows = [['ns', 'case', 'median', 'fastest', 'slowest', 'ratio']]
  for (const group of Object.keys(groups).filter(name => name.startsWith(process.argv[2] ?? ''))) {
    const names = Object.keys(groups[group])
    const figures = await measure(file, group, names)
    for (const name of names) {
      const { median, min, max } = spread(figures[name])
      const over = name === names[0] ? '1' : ratio(pairedRatio(figures[name], figures[names[0]]))
      rows.push([group, name, short(median), short(min), short(max), over])
    }
  }
  console.log(`Node ${process.version}, CPU time per call, ${ROUNDS} rounds\n\n${table(rows)}`)
}

/** The figures alone: ns per call, by case, a figure per round. */
const measure = module.exports.measure = async function (file, group, names) {
  const children = names.map(name => fork(file, [group, name]))
  const figures = Object.fromEntries(names.map(name => [name, []]))
  try {
    for (let round = 0; round < WARM + ROUNDS; round++) {
      for (const child of shuffle([...children])) {
        const ns = await nsOf(child, group)
        if (round >= WARM) figures[names[children.indexOf(child)]].push(ns)
      }
    }
  } finally {
    for (const child of children) child.kill()
  }
  return figures
}

async function nsOf (child, group) {
  const done = new AbortController()
  const ended = once(child, 'exit', done).then(([code]) => { throw new Error(`a case of ${group} ended with code ${code}`) })
  ended.catch(() => {})
  child.send('go')
  const [ns] = await Promise.race([once(child, 'message', done), ended])
  done.abort()
  return ns
}

/** Measure in this process, started by `measure`, what that asks for. */
const child = module.exports.child = function (groups) {
  const [group, name] = process.argv.slice(2)
  const call = groups[group][name]()
  process.on('disconnect', () => process.exit())
  process.on('message', async () => process.send(await nsPerCall(call)))
}

async function nsPerCall (call) {
  const start = process.cpuUsage()
  for (let calls = 100; ; calls += 100) {
    for (let i = 0; i < 100; i++) {
      const result = call()
      if (result !== undefined) await result
    }
    const { user, system } = process.cpuUsage(start)
    if (user + system >= BATCH * 1000) return (user + system) * 1000 / calls
  }
}
