'use strict'

const { execFileSync } = require('node:child_process')
const path = require('node:path')
const { installed } = require('../../lib/servers/binaries')
const { table } = require('../../lib/report/text')
const { median } = require('../../lib/run/stats')

/*
 * What `app.fetch(new Request())` and reading its Response cost on this Node, Bun and Deno: frameworks take turns in one
 * process, beside a bare handler, the floor. CPU time includes garbage collection. The cheapest round counts, because
 * other work on the machine makes rounds longer, never shorter.
 *
 *    make bench-fetch
 */

const ROUNDS = 100
const REQUESTS = 1500 // of each contender in a round

/** The versions that test/engines/fetch/runtimes.test.js runs. */
const RUNTIMES = {
  node: () => [process.execPath],
  bun: () => [installed('bun@1.4.5', 'bun/bin/bun.exe'), 'run'],
  deno: () => [installed('deno@2.9.6', 'deno/deno'), 'run', '-A', '--no-check']
}

for (const [name, command] of Object.entries(RUNTIMES)) {
  const [file, ...args] = command()
  const run = (...args) => execFileSync(file, args, { encoding: 'utf8', env: { ...process.env, NODE_ENV: 'production' } })
  const [version] = /\d\S*/.exec(run('--version'))
  const found = JSON.parse(run(...args, path.join(__dirname, 'rounds.mjs'), String(ROUNDS), String(REQUESTS)))
  for (const [what, rounds] of Object.entries(found)) {
    const hono = Math.min(...rounds.hono)
    const rows = Object.entries(rounds).map(([one, all]) =>
      [one, Math.min(...all), median(all), Math.min(...all) / hono].map(cell => cell.toFixed?.(2) ?? cell))
    console.log(`${what}, ${name} ${version}: CPU time of a request, ${ROUNDS} rounds of ${REQUESTS}\n`)
    console.log(`${table([['', 'cheapest round, µs', 'median, µs', 'cheapest ÷ hono'], ...rows])}\n`)
  }
}
