'use strict'

const { fork } = require('node:child_process')
const { pairedRatio, shuffle, spread } = require('./stats')
const { short, table } = require('../report/text')

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
 * @param {string} file the script that calls this, started again for each case
 * @param {Object<string, Object<string, () => Function>>} groups of cases; a case makes the function to
 *   measure, which may return a promise. The first of a group is what the others are divided by
 */
module.exports = async function micro (file, groups) {
  if (process.send) return child(groups)

  const rows = [['ns', 'case', 'median', 'fastest', 'slowest', 'ratio', 'spread']]
  for (const [group, cases] of Object.entries(groups)) {
    const figures = await measure(file, group, Object.keys(cases))
    const [reference] = Object.keys(cases)
    for (const name of Object.keys(cases)) {
      const { median, min, max } = spread(figures[name])
      const ratio = name === reference ? null : pairedRatio(figures[name], figures[reference])
      rows.push([
        group, name, short(median), short(min), short(max),
        ratio ? ratio.median.toFixed(2) : '1',
        ratio ? `${ratio.min.toFixed(2)}–${ratio.max.toFixed(2)}` : ''
      ])
    }
  }
  console.log(`Node ${process.version}, CPU time per call, ${ROUNDS} rounds\n\n${table(rows)}`)
}

async function measure (file, group, names) {
  const children = names.map(name => fork(file, [group, name]))
  const figures = Object.fromEntries(names.map(name => [name, []]))
  try {
    for (let round = 0; round < WARM + ROUNDS; round++) {
      for (const child of shuffle([...children])) {
        const ns = await batch(child)
        if (round >= WARM) figures[names[children.indexOf(child)]].push(ns)
      }
    }
  } finally {
    for (const child of children) child.kill()
  }
  return figures
}

function batch (child) {
  return new Promise((resolve, reject) => {
    const failed = code => reject(new Error(`a case ended with code ${code}`))
    child.once('exit', failed)
    child.once('message', ns => {
      child.off('exit', failed)
      resolve(ns)
    })
    child.send('go')
  })
}

/**
 * The figures alone.
 *
 * @param {string} file
 * @param {string} group
 * @param {string[]} names of its cases
 * @return {Promise<Object<string, number[]>>} ns per call, by case, a figure per round
 */
module.exports.measure = measure

/** Measure in this process, started by `measure`, what that asks for. */
module.exports.child = child

function child (groups) {
  const [group, name] = process.argv.slice(2)
  const call = groups[group][name]()
  process.on('disconnect', () => process.exit())
  process.on('message', async () => process.send(await nsPerCall(call)))
}

async function nsPerCall (call) {
  const start = process.cpuUsage()
  let calls = 0
  let used = 0
  while (used < BATCH * 1000) {
    for (let i = 0; i < 100; i++) {
      const result = call()
      if (result !== undefined) await result
    }
    calls += 100
    const { user, system } = process.cpuUsage(start)
    used = user + system
  }
  return used * 1000 / calls
}
