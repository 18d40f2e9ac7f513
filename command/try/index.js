'use strict'

const os = require('node:os')
const { setTimeout: sleep } = require('node:timers/promises')
const { version } = require('../../package.json')
const { checkFile } = require('../file')
const { print, printJSON } = require('../print')
const { Client } = require('./client')
const { differences, Mask } = require('./difference')
const { whyOf } = require('./known')
const { lines } = require('./lines')
const { Processes, Untried } = require('./processes')
const { isSafe, requestsOf } = require('./requests')

const SIDES = ['koa', 'koa again', 'kone']
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP']
const ROUNDS = 3
const AGAIN = 3   // how often a difference must come again
const MOST = 40   // at most, for a difference that does not come each time

/**
 * `kone try`: runs an app on Koa, on Koa again and on kone, sends each the same requests, and prints where kone differs
 * from what both Koas respond.
 *
 * @param {string[]} command as a shell takes it, or the file of an app alone
 * @param {object} values of the flags
 * @param {boolean} isFile
 * @return {Promise<number>} exit code: 0 the same, 1 different, 2 could not try, or that of a signal
 */
module.exports = async function tryApp (command, values, isFile) {
  const processes = new Processes()
  let interrupt
  const interrupted = new Promise(resolve => { interrupt = resolve })
  for (const signal of SIGNALS) process.on(signal, interrupt)
  try {
    const requests = requestsOf(values)
    const program = isFile ? [process.execPath, ...flagsOf(command[0])] : command
    const result = await Promise.race([resultOf(processes, program, requests, values), interrupted])
    if (SIGNALS.includes(result)) return 128 + os.constants.signals[result]
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
    for (const signal of SIGNALS) process.off(signal, interrupt)
  }
}

async function resultOf (processes, program, requests, values) {
  await processes.open()
  const trial = new Trial(side => processes.start(side, program, values.port))
  await trial.start()
  const result = await trial.run(requests)
  if (values.measure) result.measured = await require('./measure')(trial, values, progress)
  return result
}

function flagsOf (file) {
  try {
    const { path, flags } = checkFile(file, { transpile: true })
    return [...flags, path]
  } catch (err) {
    throw new Untried(err.message)
  }
}

class Trial {
  /** @param {(side: string) => Promise<Side>} startApp */
  constructor (startApp) {
    this.startApp = startApp
    this.sides = []
    this.clients = []
  }

  /** One after the other: what an app does once at its start (a migration) is not done three times at once. */
  async start () {
    for (const side of SIDES.keys()) await this.startSide(side)
  }

  async startSide (side) {
    progress(`starts the app on ${SIDES[side]}`)
    const { server } = this.sides[side] = await this.startApp(SIDES[side])
    const { asked } = server
    this.clients[side] = new Client(server, asked > 0 ? `localhost:${asked}` : 'localhost')
  }

  /** @param {(routes: string[]) => { requests: object[], left: number }} requestsOf */
  async run (requestsOf) {
    const { requests, left } = requestsOf(await this.sides.at(-1).ask('routes'))
    const others = [...new Set(requests.map(({ method }) => method).filter(method => !isSafe(method)))]
    if (others.length > 0) print([`sends ${others.join(', ')} to three processes, which really do what they ask for`], process.stderr)
    this.tried = requests.map(request => ({ request, mask: new Mask(), last: null, seen: new Map() }))
    for (let round = 0; round < ROUNDS; round++) await this.round(round)
    for (const one of this.tried) one.found = await this.confirmed(one)
    progress('')
    const differences = this.tried.flatMap(({ found }) => found)
    const failed = this.tried.filter(({ last }) => last.failure !== undefined)
      .map(({ request, last }) => ({ request: name(request), failure: last.failure }))
    if (differences.length === 0 && failed.length === requests.length) {
      throw new Untried(`no request got a response: ${failed[0].request}: ${failed[0].failure} (kone/docs/api/try.md)`)
    }
    return {
      koa: this.sides[0].server.koa,
      kone: version,
      node: process.versions.node,
      requests: requests.length,
      left,
      same: this.tried.filter(({ found, last }) => found.length === 0 && last.failure === undefined).length,
      statuses: this.tried.map(({ last }) => last.status ?? null),
      failed,
      masked: this.tried.map(({ request, mask }) => ({ request: name(request), what: mask.names }))
        .filter(({ what }) => what.length > 0),
      differences
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
      all[i][side] = await this.ask(side, this.tried[i].request)
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

  /** An app whose process a request has ended is started again, for the other requests. */
  async ask (side, request) {
    const response = await this.clients[side].ask(request)
    const exit = response.failure === undefined ? null : await this.sides[side].ended()
    if (exit === null) return response
    this.clients[side].close()
    await this.sides[side].stop() // what started it (npm, a watcher) may still run
    await this.startSide(side)
    return { failure: `its process ended (${exit})` }
  }

  /** @return {object[]} parts in which kone differs from both Koas, which do not differ there */
  compare (one, [koa, again, kone]) {
    one.mask.add(differences(koa, again))
    one.last = koa
    const other = new Set(differences(again, kone).map(({ key }) => key))
    const found = differences(koa, kone).filter(({ key }) => other.has(key))
      .map(part => ({ ...part, known: whyOf(part.key, koa, kone, one.request) }))
    for (const part of found) if (!one.seen.has(part.key)) one.seen.set(part.key, part)
    return found
  }

  /**
   * A difference is there again, three times, while the two Koas do not differ in it. One that comes with each tenth
   * request is sent more often.
   */
  async confirmed (one) {
    const candidates = () => [...one.seen.values()].filter(part => !one.mask.has(part))
    if (candidates().length === 0) return []
    const counts = new Map()
    for (let i = 0; i < MOST && candidates().some(({ key }) => (counts.get(key) ?? 0) < AGAIN); i++) {
      progress(`again: ${name(one.request)}`)
      const responses = []
      for (const side of [[2, 0, 1], [1, 2, 0], [0, 1, 2]][i % 3]) {
        responses[side] = await this.ask(side, one.request)
      }
      for (const { key } of this.compare(one, responses)) counts.set(key, (counts.get(key) ?? 0) + 1)
    }
    return candidates().filter(({ key }) => counts.get(key) >= AGAIN)
      .map(({ key, a, b, known }) => ({ request: name(one.request), key, koa: a, kone: b, known }))
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
