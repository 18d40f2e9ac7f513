'use strict'

const os = require('node:os')
const { bytes } = require('../measure/client')
const { cost, isPrecise } = require('../measure/cost')
const { Load } = require('../measure/load')
const { disturbance, disturbances } = require('../measure/quiet')
const { rounds } = require('../measure/rounds')
const { median, pairedRatio } = require('../measure/stats')
const { print } = require('../print')

const CONNECTIONS = 50
const ROUND = 1e6      // µs of CPU time of one process, about; a shorter one is as dear as what V8 compiles in it
const LEAST = 6        // rounds
const SIDES = 3
const DEAREST = 3      // and as many of the cheapest
const TRIED = 200      // requests, to find out what one costs; again,
const WARM = 500       // ms of it, because a process that has just started is slow
const COMPILED = 30_000 // requests, behind which V8 compiles little: what it compiles goes by the count of calls
const PIECES = 4       // of a round, in which they are sent
const WARMING = 0.5    // of the seconds, at most
const MACHINE = { cores: os.availableParallelism(), kernel: os.type() }

/**
 * `kone try --measure`: the CPU time per request of the three processes, in alternating rounds.
 *
 * @param {Trial} trial that has run
 * @param {{ seconds?: string, only?: string, all?: boolean, json?: boolean }} values of the flags
 * @param {(text: string) => void} tick shows what is done
 * @return {Promise<object>} for lines() of measured.js
 */
module.exports = async function measure (trial, { seconds = '20', only, all = false, json = false }, tick) {
  const within = Number(seconds)
  const left = []
  const found = trial.tried.filter(one => isMeasured(one, only, left)).map(one => new Row(trial, [one]))
  const say = text => { if (!json) print([text], process.stderr) }
  if (found.length > 0) say(`sends ${TRIED} requests or more each to ${namesOf(found)}, for ${WARM / 1000} s: to find the dearest and the cheapest`)
  for (const row of found) await row.calibrate(within)
  const good = found.filter(({ reason }) => reason === null)
  const chosen = [...all ? good : extremes(good), ...found.filter(({ reason }) => reason !== null)]
  const mixOf = rows => rows.length > 1 ? [new Row(trial, rows.map(({ tried: [one] }) => one), rows)] : []
  const willing = chosen.filter(({ reason }) => reason === null)
  const planned = [...willing, ...mixOf(good)]
  if (willing.length > 0) say(`measures ${namesOf(planned)}: some ${figure(planned, within)} requests, ${within} s each`)
  for (const row of willing) await row.measure(within, tick)
  const least = willing.filter(({ reason }) => reason === null).sort((a, b) => b.ratio.median - a.ratio.median)[0]
  const mix = mixOf(good.filter(({ reason }) => reason === null)) // a limiter may have ended the measurement of one
  for (const row of mix) await row.measure(within, tick)
  const rows = [...chosen, ...mix]
  const done = rows.filter(({ reason }) => reason === null)
  for (const row of done) if (row === least || mix.includes(row)) await row.profile()
  return {
    connections: CONNECTIONS,
    compiled: COMPILED,
    left,
    fallbacks: await trial.sides.at(-1).ask('fallbacks'),
    disturbances: disturbances(done.flatMap(({ recorded }) => recorded), HALF, MACHINE),
    rows: rows.map(row => row.result)
  }
}

const HALF = 0.5 // of the rounds

function isMeasured ({ request: { method, path }, last }, only, left) {
  if (only !== undefined && !matches(only, path)) return false
  const isGood = last.failure === undefined && last.end === 'complete' && ((last.status >= 200 && last.status < 300) || last.status === 304)
  if (!isGood) left.push(`${method} ${path}: ${last.failure ?? (last.end === 'complete' ? last.status : last.end)}`)
  return isGood
}

function matches (glob, path) {
  const parts = glob.split('*').map(part => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${parts.join('.*')}$`).test(path)
}

function extremes (rows) {
  const sorted = [...rows].sort((a, b) => b.cost - a.cost)
  return [...new Set([...sorted.slice(0, DEAREST), ...sorted.slice(-DEAREST)])]
}

const namesOf = rows => rows.map(({ name }) => name).join(', ')

function figure (rows, seconds) {
  const total = rows.reduce((sum, { rate, requests }) => sum + Math.max(rate * seconds, 2 * SIDES * requests), 0)
  return Number(total.toPrecision(1)).toLocaleString('en')
}

/** One request, or several in turn: a cell of rounds.js for each process. */
class Row {
  constructor (trial, tried, rows) {
    this.tried = tried
    this.isMix = rows !== undefined
    this.name = this.isMix ? 'the mix' : nameOf(tried[0].request)
    this.reason = null
    this.cost = 0   // µs on Koa
    this.rate = this.isMix ? rows.length / rows.reduce((sum, { rate }) => sum + 1 / rate, 0) : 0 // requests a second
    this.requests = this.isMix ? Math.max(...rows.map(({ requests }) => requests)) : 0 // of a round
    this.recorded = []
    this.warmed = COMPILED // requests, of the process that got the fewest
    this.packages = null
    this.cells = trial.sides.map((side, i) => ({
      workload: this.name,
      server: side,
      load: loadOf(side.server, tried.map(one => partsOf(one, trial.clients[i])))
    }))
  }

  async calibrate (seconds) {
    const [koa] = this.cells
    const until = performance.now() + WARM
    do {
      const sample = await this.tryIt(koa, TRIED)
      if (sample === null) return
      this.cost = sample.cpu
      this.rate = sample.requestsPerSecond
    } while (performance.now() < until)
    this.requests = inRound(seconds, this.cost)
    koa.load.close()
  }

  /** @return {Promise<object|null>} null if these requests cannot be measured: `reason` */
  async tryIt (cell, requests) {
    try {
      return await sampled(cell, requests)
    } catch (err) {
      this.reason = `${cell.server.name}: ${err.message}`
      return null
    }
  }

  async measure (seconds, tick) {
    const until = performance.now() + seconds * 1000
    for (const cell of this.cells) {
      if (this.reason !== null) break
      tick(`warms ${this.name}, ${cell.server.name}`)
      await this.warm(cell, performance.now() + seconds * 1000 * WARMING / this.cells.length)
    }
    if (this.reason === null) {
      this.requests = inRound(seconds, this.cost)
      this.recorded = await rounds(this.cells, {
        count: Infinity,
        tries: 1,
        tick,
        visit: cell => sampled(cell, this.requests),
        disturbance: round => performance.now() < until ? disturbance(round, MACHINE) : undefined,
        isEnough: cells => this.isOver(cells) || (cells[0].samples.length >= 2 && performance.now() >= until)
      })
    }
    for (const { load } of this.cells) load.close()
  }

  /** New connections for each piece, because what closes one is compiled, too, and what depends on it once more. */
  async warm (cell, until) {
    const piece = Math.max(CONNECTIONS, Math.round(this.requests / PIECES))
    let sent = 0
    do {
      const sample = await this.tryIt(cell, piece)
      if (sample === null) return
      if (cell === this.cells[0]) this.cost = sample.cpu
      sent += piece
      cell.load.close()
    } while (sent < COMPILED && performance.now() < until)
    this.warmed = Math.min(sent, this.warmed)
  }

  isOver (cells) {
    const failed = cells.find(({ rejected }) => rejected)
    if (failed) this.reason = `${failed.server.name}: ${failed.rejected}`
    return this.reason !== null || isPrecise(cells, LEAST)
  }

  ratioOf (at) {
    const [figures, koa] = [this.cells[at], this.cells[0]].map(({ samples }) => samples.map(({ cpu }) => cpu))
    return pairedRatio(figures, koa)
  }

  get ratio () { return this.ratioOf(2) }

  /** Why not more is saved: what the rest of the time goes to. */
  async profile () {
    const { server, load } = this.cells[2]
    await server.ask('start')
    await load.run({ requests: this.requests }).catch(() => {}) // a limiter may refuse from now on
    this.packages = await server.ask('stop')
    load.close()
  }

  get result () {
    const { name, reason, packages, warmed } = this
    if (reason !== null) return { name, reason }
    const [koa,, kone] = this.cells
    const of = (name, { samples }) => median(samples.map(sample => sample[name]))
    return {
      name,
      kone: this.ratio,
      koa: this.ratioOf(1),
      micros: { koa: of('cpu', koa), kone: of('cpu', kone) },
      busy: { koa: of('busy', koa), kone: of('busy', kone) }, // share of the time in which it ran or waited for a core
      warmed,
      packages
    }
  }
}

/** How many requests a round has. */
const inRound = (seconds, cost) =>
  Math.max(CONNECTIONS, Math.round(Math.min(ROUND, seconds * 1e6 * (1 - WARMING) / SIDES / LEAST) / cost))

const sampled = ({ server, load }, requests) => cost(server, () => load.run({ requests }))

const nameOf = ({ method, path }) => `${method} ${path}`

function partsOf ({ request: { method, path, headers, body = '' }, last }, client) {
  const parts = bytes({ method, path, headers: client.fieldsOf(headers), body: Buffer.from(body).toString('latin1') })
  return { parts, status: String(last.status), isHead: method === 'HEAD' }
}

function loadOf ({ port, protocol }, requests) {
  if (protocol.endsWith('2')) return { run: async () => { throw new Error('HTTP/2 is not measured, because kone leaves it to node') }, close () {} }
  return new Load({ port, isTls: protocol === 'https', connections: CONNECTIONS }, requests)
}
