'use strict'

const { setTimeout: sleep } = require('node:timers/promises')
const { version } = require('../../package.json')
const { checkFile } = require('../file')
const { print, printJSON } = require('../print')
const { Client } = require('./client')
const { differences, Mask } = require('./difference')
const { lines } = require('./lines')
const { Processes, Untried } = require('./processes')
const { requestsOf } = require('./requests')

const SIDES = ['koa', 'koa again', 'kone']
const ROUNDS = 3
const AGAIN = 3   // askings in which a difference must be there again
const MOST = 40   // askings at most, for a difference that is not there each time

/**
 * `kone try`: runs an app on Koa, on Koa again and on kone, sends each the same requests, and prints where kone differs
 * from what both Koas respond.
 *
 * @param {string[]} command as a shell takes it, or the file of an app alone
 * @param {object} values of the flags
 * @param {boolean} isFile
 * @return {Promise<number>} exit code: 0 the same, 1 different, 2 could not try
 */
module.exports = async function tryApp (command, values, isFile) {
  const processes = new Processes()
  const stop = () => processes.stop().then(() => process.exit(130))
  process.once('SIGINT', stop).once('SIGTERM', stop)
  try {
    await processes.open()
    const program = isFile ? [process.execPath, ...flagsOf(command[0])] : command
    const trial = new Trial(values, await started(processes, program, values))
    const result = await trial.run()
    if (values.measure) result.measured = await require('./measure')(trial, values)
    if (values.json) printJSON(result)
    else print(lines(result, isFile ? command : ['--', ...command]))
    return result.differences.length === 0 ? 0 : 1
  } catch (err) {
    if (!(err instanceof Untried)) throw err
    if (values.json) printJSON({ error: err.message })
    else print(`kone: ${err.message}`.split('\n'), process.stderr)
    return 2
  } finally {
    progress('')
    await processes.stop()
    process.off('SIGINT', stop).off('SIGTERM', stop)
  }
}

function flagsOf (file) {
  try {
    const { path, flags } = checkFile(file, { transpile: true })
    return [...flags, path]
  } catch (err) {
    throw new Untried(err.message)
  }
}

/** One after the other: what an app does once at its start (a migration) is not done three times at once. */
async function started (processes, command, { port }) {
  const sides = []
  for (const name of SIDES) {
    progress(`starts the app on ${name}`)
    sides.push(await processes.start(name, command, port))
  }
  return sides
}

class Trial {
  constructor (values, sides) {
    this.values = values
    this.sides = sides
    const [{ server: { asked } }] = sides
    const host = typeof asked === 'number' ? `localhost:${asked}` : 'localhost'
    this.clients = sides.map(({ server }) => new Client(server, host))
  }

  async run () {
    const kone = this.sides.at(-1)
    const { requests, left } = requestsOf(this.values, await kone.ask('routes'))
    this.tried = requests.map(request => ({ request, mask: new Mask(), last: null, seen: new Map() }))
    for (let round = 0; round < ROUNDS; round++) await this.round(round)
    const found = []
    for (const one of this.tried) found.push(...await this.confirmed(one))
    progress('')
    return {
      koa: this.sides[0].server.koa,
      kone: version,
      node: process.versions.node,
      requests: requests.length,
      left,
      same: this.tried.filter(one => !found.some(({ request }) => request === name(one.request))).length,
      statuses: this.tried.map(({ last }) => last.status ?? last.failure),
      masked: this.tried.map(({ request, mask }) => ({ request: name(request), what: mask.names }))
        .filter(({ what }) => what.length > 0),
      differences: found
    }
  }

  /**
   * All processes get all requests in one order, because a request may depend on those before it. In the second round
   * the processes are more than a second apart: what changes with the time differs between the two Koas.
   */
  async round (round) {
    const all = this.tried.map(() => [])
    const hangs = this.tried.map(({ last }) => last?.failure !== undefined)
    const ask = async (i, side) => {
      if (hangs[i]) return // ten seconds each time
      progress(`round ${round + 1} of ${ROUNDS}: ${name(this.tried[i].request)}`)
      all[i][side] = await this.clients[side].ask(this.tried[i].request)
    }
    if (round === 1) {
      for (const side of [1, 2, 0]) {
        for (let i = 0; i < all.length; i++) await ask(i, side)
        if (side !== 0) await sleep(1050)
      }
    } else {
      for (let i = 0; i < all.length; i++) {
        for (const side of round === 0 ? [0, 1, 2] : [2, 1, 0]) await ask(i, side)
      }
    }
    for (const [i, responses] of all.entries()) if (responses.length > 0) this.compare(this.tried[i], responses)
  }

  /** @return {object[]} parts in which kone differs from both Koas, which do not differ there */
  compare (one, [koa, again, kone]) {
    one.mask.add(differences(koa, again))
    one.last = koa
    const other = new Set(differences(again, kone).map(({ key }) => key))
    const found = differences(koa, kone).filter(({ key }) => other.has(key))
    for (const part of found) if (!one.seen.has(part.key)) one.seen.set(part.key, part)
    return found
  }

  /**
   * A difference is there again, three times, while the two Koas do not differ in it. One that comes with each tenth
   * request needs more askings.
   */
  async confirmed (one) {
    const candidates = () => [...one.seen.values()].filter(part => !one.mask.has(part))
    if (candidates().length === 0) return []
    const counts = new Map()
    for (let i = 0; i < MOST && candidates().some(({ key }) => (counts.get(key) ?? 0) < AGAIN); i++) {
      progress(`again: ${name(one.request)}`)
      const responses = []
      for (const side of [[2, 0, 1], [1, 2, 0], [0, 1, 2]][i % 3]) {
        responses[side] = await this.clients[side].ask(one.request)
      }
      for (const { key } of this.compare(one, responses)) counts.set(key, (counts.get(key) ?? 0) + 1)
    }
    return candidates().filter(({ key }) => counts.get(key) >= AGAIN)
      .map(({ key, a, b }) => ({ request: name(one.request), key, koa: a, kone: b }))
  }
}

const name = ({ method, path }) => `${method} ${path}`

let shown = ''

/** A line that the next one replaces, on a terminal only. */
function progress (text) {
  if (!process.stderr.isTTY) return
  process.stderr.write(`\r${text.slice(0, process.stderr.columns - 1).padEnd(shown.length)}\r`)
  shown = text
}
