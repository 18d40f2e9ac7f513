'use strict'

const { Client, bytes } = require('../measure/client')
const { pairedRatio, standardError } = require('../measure/stats')
const { print } = require('../print')

const CONNECTIONS = 50
const ROUND = 250_000  // µs of CPU time of one process, about; a shorter one is as dear as the garbage collection in it
const ROUNDS = 8       // in the seconds that are given, at least
const LEAST = 6        // rounds
const PRECISE = 0.05   // standard error of the ratio, relative
const DEAREST = 3      // and as many of the cheapest
const TRIED = 200      // requests, to find out what one costs; again,
const WARM = 500       // ms of it, because a process that has just started is slow

/**
 * `kone try --measure`: the CPU time per request of the three processes, in alternating rounds.
 *
 * @param {Trial} trial that has run
 * @param {{ seconds?: string, only?: string, all?: boolean }} values of the flags
 * @return {Promise<object>} for lines() of measured.js
 */
module.exports = async function measure (trial, { seconds = '20', only, all = false, json = false }) {
  const within = Number(seconds)
  const left = []
  const cells = trial.tried.filter(one => isMeasured(one, only, left)).map(one => new Cell(trial, [one]))
  const say = text => { if (!json) print([text], process.stderr) }
  if (cells.length > 0) say(`sends ${TRIED} requests or more each to ${namesOf(cells)}, for ${WARM / 1000} s: to find the dearest and the cheapest`)
  for (const cell of cells) await cell.calibrate(within)
  const good = cells.filter(({ reason }) => reason === null)
  const chosen = [...all ? good : extremes(good), ...cells.filter(({ reason }) => reason !== null)]
  const mix = good.length > 1 ? [new Cell(trial, good.map(({ tried: [one] }) => one), good)] : []
  const planned = [...chosen, ...mix]
  const willing = planned.filter(({ reason }) => reason === null)
  if (willing.length > 0) say(`measures ${namesOf(willing)}: up to ${figure(willing, within)} requests, ${within} s each`)
  for (const cell of planned) await cell.measure(within)
  const done = planned.filter(({ reason }) => reason === null)
  const least = done.filter(cell => !mix.includes(cell)).sort((a, b) => b.ratio.median - a.ratio.median)[0]
  for (const cell of new Set([least, ...mix])) if (done.includes(cell)) await cell.profile()
  return {
    connections: CONNECTIONS,
    left,
    fallbacks: await trial.sides.at(-1).ask('fallbacks'),
    rows: planned.map(cell => cell.result)
  }
}

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

function extremes (cells) {
  const sorted = [...cells].sort((a, b) => b.cost - a.cost)
  return [...new Set([...sorted.slice(0, DEAREST), ...sorted.slice(-DEAREST)])]
}

const namesOf = cells => cells.map(({ name }) => name).join(', ')

function figure (cells, seconds) {
  const total = cells.reduce((sum, { rate, requests }) => sum + Math.max(rate * seconds, 2 * 3 * requests), 0)
  return Number(total.toPrecision(1)).toLocaleString('en')
}

/** One request, or several in turn. */
class Cell {
  constructor (trial, tried, cells) {
    this.trial = trial
    this.tried = tried
    this.isMix = cells !== undefined
    this.name = this.isMix ? 'the mix' : nameOf(tried[0].request)
    this.reason = null
    this.cost = 0   // µs on Koa
    this.rate = this.isMix ? cells.length / cells.reduce((sum, { rate }) => sum + 1 / rate, 0) : 0 // requests a second
    this.requests = this.isMix ? Math.max(...cells.map(({ requests }) => requests)) : 0 // of a round
    this.samples = [[], [], []]
    this.packages = null
    this.loads = trial.clients.map((client, side) => {
      return new Load(trial.sides[side].server, tried.map(one => partsOf(one, client)))
    })
  }

  async calibrate (seconds) {
    const until = performance.now() + WARM
    do {
      const began = performance.now()
      this.cost = await this.cpu(0, TRIED)
      this.rate = TRIED / (performance.now() - began) * 1000
    } while (this.reason === null && performance.now() < until)
    this.requests = Math.max(CONNECTIONS, Math.round(Math.min(ROUND, seconds * 1e6 / ROUNDS) / this.cost))
    this.loads[0].close()
  }

  /** @return {Promise<number>} µs of CPU time per request */
  async cpu (side, requests) {
    const process = this.trial.sides[side]
    const before = await process.ask('usage')
    const reason = await this.loads[side].run(requests)
    const after = await process.ask('usage')
    if (reason !== null) this.reason ??= `${process.name}: ${reason}`
    return (after - before) / requests
  }

  async measure (seconds) {
    const until = performance.now() + seconds * 1000
    for (let round = 0; this.reason === null && (round < 2 || performance.now() < until); round++) {
      for (const side of [[0, 1, 2], [2, 0, 1], [1, 2, 0]][round % 3]) {
        const cost = await this.cpu(side, this.requests)
        if (round > 0) this.samples[side].push(cost) // the first one warms up
      }
      if (round >= LEAST && standardError(this.ratio.rounds) < PRECISE) break
    }
    for (const load of this.loads) load.close()
  }

  get ratio () { return pairedRatio(this.samples[2], this.samples[0]) }

  /** Why not more is saved: what the rest of the time goes to. */
  async profile () {
    const kone = this.trial.sides[2]
    await kone.ask('start')
    await this.loads[2].run(4 * this.requests)
    this.packages = await kone.ask('stop')
    this.loads[2].close()
  }

  get result () {
    const { name, reason, packages } = this
    if (reason !== null) return { name, reason }
    const median = figures => pairedRatio(figures, figures.map(() => 1)).median
    return {
      name,
      kone: this.ratio,
      koa: pairedRatio(this.samples[1], this.samples[0]),
      micros: { koa: median(this.samples[0]), kone: median(this.samples[2]) },
      packages
    }
  }
}

const nameOf = ({ method, path }) => `${method} ${path}`

function partsOf ({ request: { method, path, headers, body = '' }, last }, client) {
  const fields = { Host: client.host, ...headers, ...client.cookieField(headers) }
  return { parts: bytes({ method, path, headers: fields, body: Buffer.from(body).toString('latin1') }), expected: last.status }
}

/** The connections to one process. */
class Load {
  constructor ({ port, protocol }, requests) {
    this.where = { port, isTls: protocol === 'https' }
    this.isHttp1 = !protocol.endsWith('2')
    this.requests = requests
    this.clients = []
  }

  /** @return {Promise<string|null>} why these requests cannot be measured */
  async run (count) {
    if (!this.isHttp1) return 'HTTP/2 is not measured, because kone leaves it to node'
    this.clients = this.clients.filter(({ isOpen }) => isOpen) // a server closes what is idle
    try {
      while (this.clients.length < CONNECTIONS) this.clients.push(await new Client(this.where).open())
    } catch ({ code }) {
      return `the connection failed (${code})`
    }
    let next = 0
    let reason = null
    await Promise.all(this.clients.map(async client => {
      while (next < count && reason === null) {
        const { parts, expected } = this.requests[next++ % this.requests.length]
        reason = await send(client, parts, expected) ?? reason
      }
    }))
    return reason
  }

  close () {
    for (const client of this.clients) client.destroy()
    this.clients = []
  }
}

function send (client, parts, expected) {
  if (!client.isOpen) return 'the connection was closed'
  return new Promise(resolve => client.request(parts, () => {
    const isGood = client.status === String(expected)
    if (isGood && client.isWhole) resolve(null)
    else resolve(isGood || client.status === '' ? 'the connection was closed' : `its status became ${client.status} (it was ${expected})`)
  }))
}
