'use strict'

/*
 * The siege: `make siege ARGS="--seconds 600"`, with the flags of generator.js (without --cases, --seconds is 180) and
 *
 *   --lanes N          how many at a time
 *   --scenario TEXT    only the directed ones whose title has TEXT
 *   --random           none of the directed ones
 *   --ignore TEXT      findings with TEXT do not count; may be given several times
 *   --soak N           no conversations: what N connections leave behind in memory (`make soak`)
 */

const { fork } = require('node:child_process')
const path = require('node:path')
const { monitorEventLoopDelay } = require('node:perf_hooks')

const { main } = require('../generator')
const { converse } = require('./clients')
const { KINDS } = require('./handlers')
const { judge } = require('./invariants')
const isException = require('./exceptions')
const { RULES, TOUCHES, crowd, generate } = require('./plan')
const scenarios = require('./scenarios')

const ENGINES = ['node:http', 'front']
const MB = 1024 * 1024

/** What the front may have in memory beyond node:http, in bytes. */
const MEMORY = 16 * MB

/** For how much longer than node:http the event loop may be blocked, in ms of CPU. */
const BLOCK = 50

/** What the heap may grow by per 1,000 connections, in bytes. */
const GROWTH = MB

/** How many times as many connections come when it seems to grow by more. */
const LONGER = 5

/** How often it is looked whether this process stands still, in ms. */
const PERIOD = 10

/** How often a finding is tried again: one that does not return is printed, but fails nothing. */
const AGAIN = 3

/** A process that says nothing for so long hangs, in ms. */
const SILENCE = 90_000

/** One process with one engine. */
class Engine {
  constructor (name) {
    this.name = name
    this.start()
  }

  start () {
    const { KONE_HTTP1, NODE_TEST_CONTEXT, ...env } = process.env
    this.stderr = ''
    this.alive = true
    this.child = fork(path.join(__dirname, 'servers.js'), [this.name], {
      execArgv: ['--expose-gc', '--expose-internals'],
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      serialization: 'advanced',
      env
    })
    this.child.stderr.setEncoding('utf8').on('data', text => { this.stderr = (this.stderr + text).slice(-4000) })
    this.died = new Promise(resolve => {
      this.child.once('exit', (code, signal) => {
        this.alive = false
        resolve({ type: 'died', detail: `${signal || `exit code ${code}`}\n${this.stderr}` })
      })
    })
    this.ready = this.reply()
  }

  reply () {
    let timer
    const silence = new Promise(resolve => {
      timer = setTimeout(resolve, SILENCE, { type: 'died', detail: `no reply for ${SILENCE} ms` })
    })
    let listener
    const message = new Promise(resolve => {
      listener = resolve
      this.child.once('message', listener)
    })
    return Promise.race([message, this.died, silence]).finally(() => {
      clearTimeout(timer)
      this.child.off('message', listener)
    })
  }

  /** One question at a time. */
  ask (message) {
    this.ready = this.ready.then(() => {
      if (!this.alive) return this.died
      const reply = this.reply()
      this.child.send(message, () => {})
      return reply
    })
    return this.ready
  }

  /** @return {Promise<{ findings: object[], records: object[], report: object|null }>} */
  async converse (conversation, exact = false) {
    const opened = await this.ask({ type: 'open', conversation, exact })
    if (opened.type === 'died') return this.dead(opened)
    const turns = () => this.ask({ type: 'turn' })
    const delay = monitorEventLoopDelay({ resolution: PERIOD })
    delay.enable()
    const isSecure = conversation.arrival === 'tls'
    const records = await Promise.all(conversation.clients.map((client, i) => converse(opened.port, client, i, isSecure, turns)))
    delay.disable()
    const report = await this.ask({ type: 'close' })
    if (report.type === 'died') return this.dead(report)
    const stalled = Math.max(report.stalled, delay.max / 1e6)
    const findings = judge(conversation, records, { ...report, stalled })
      .map(finding => ({ side: this.name, ...finding }))
      .filter(finding => !isException(finding, conversation))
      .map(({ where, detail, ...rest }) => ({ ...rest, detail: `${where}${detail && `: ${detail}`}` }))
    return { findings, records, report }
  }

  async dead ({ detail }) {
    await this.stop()
    this.start()
    return { findings: [{ side: this.name, what: 'the process dies', detail }], records: [], report: null }
  }

  async restart () {
    await this.stop()
    this.start()
  }

  async stop () {
    if (this.alive) this.child.kill('SIGKILL')
    await this.died
  }
}

/** Both engines, for one conversation after the other. */
class Lane {
  /** @param {string[]} [ignored] parts of findings that do not count */
  constructor (ignored = []) {
    this.ignored = ignored
    this.engines = ENGINES.map(name => new Engine(name))
    this.counts = { connections: 0, requests: 0, responses: 0 }
  }

  async run (conversation, exact) {
    const [node, front] = exact
      ? [await this.engines[0].converse(conversation, exact), await this.engines[1].converse(conversation, exact)]
      : await Promise.all(this.engines.map(engine => engine.converse(conversation, exact)))
    const findings = [...node.findings, ...front.findings]
    const find = (what, detail) => findings.push({ side: 'front', what, detail, measured: true })
    // On a busy machine a timeout cuts a request on node:http that is handled on the front.
    if (node.report !== null && front.report !== null && node.report.logs.length >= front.report.logs.length) {
      const more = front.report.memory - node.report.memory
      if (more > MEMORY) find('more memory in flight than node:http', `${mb(front.report.memory)}, node:http ${mb(node.report.memory)}`)
      const { block } = front.report
      if (block > node.report.block + Math.max(BLOCK, node.report.block / 2)) {
        find('the event loop is blocked', `${Math.round(block)} ms of CPU, node:http ${Math.round(node.report.block)} ms`)
      }
    }
    for (const { records, report } of [node, front]) {
      this.counts.connections += records.length
      this.counts.requests += report === null ? 0 : report.logs.length
      this.counts.responses += records.reduce((sum, { responses }) => sum + responses.whole.length, 0)
    }
    return findings.filter(finding => !this.ignored.some(text => line(finding).includes(text)))
  }

  /**
   * Again, with new processes, one after the other, and exact memory: only what returns counts. What was measured has
   * to return every time, because a busy machine lets a timeout cut the same request on one engine and not on the other.
   */
  async confirm (conversation, findings) {
    let left = findings
    for (let i = 1; i <= AGAIN && left.length > 0; i++) {
      await Promise.all(this.engines.map(engine => engine.restart()))
      const again = await this.run(conversation, true)
      const returned = again.filter(finding => left.some(one => same(one, finding)))
      if (i === AGAIN || returned.some(({ measured }) => !measured)) return returned
      left = left.filter(one => !one.measured || returned.some(finding => same(one, finding)))
    }
    return []
  }

  stop () {
    return Promise.all(this.engines.map(engine => engine.stop()))
  }
}

function same (a, b) {
  return a.side === b.side && a.what === b.what
}

/**
 * Conversations with both engines, for generator.js.
 *
 *    const { failures } = await run(siege({ lanes: 3 }), { seed: 1, cases: 50 })
 */
function siege ({ lanes: width = 2, ignored, plans = Object.entries(scenarios) } = {}) {
  const lanes = Array.from({ length: width }, () => new Lane(ignored))
  return {
    plans,
    generate,
    lanes: lanes.map(lane => conversation => lane.run(conversation)),
    confirm: (conversation, findings) => lanes[0].confirm(conversation, findings),
    RULES,
    names: [...Object.keys(KINDS), ...TOUCHES.map(([name]) => name)],
    namesOf: ({ clients }) => clients.flatMap(({ requests }) => requests)
      .flatMap(({ handler: { kind, touches = [] } }) => [kind, ...touches.map(([name]) => name)]),
    casesOf: () => [],
    summary: () => sum(lanes),
    async close () {
      await Promise.all(lanes.map(lane => lane.stop()))
      return []
    }
  }
}

/**
 * What stays behind of the connections that come and go: bytes of the heap per 1,000 connections, and timers.
 *
 * Some growth comes once: code that is compiled late, garbage that a third gc() takes and the second did not (measured on a
 * loaded machine: up to 300 KB, as much as the limit for 300 connections). While the growth is beyond the limit, more
 * connections come: what comes once is divided by all of them, what each one leaves behind is not.
 */
async function soak ({ seed, connections, width = 100, onCrowd }) {
  const engines = ENGINES.map(name => new Engine(name))
  const rounds = Math.ceil(connections / width)
  try {
    return await Promise.all(engines.map(async engine => {
      let served = 0
      const comeAndGo = async () => {
        for (let i = 0; i < rounds; i++) {
          await engine.converse(crowd(seed + i, width))
          served += width
          onCrowd(engine.name, served)
        }
        return engine.ask({ type: 'rest' })
      }
      const first = await engine.ask({ type: 'rest' })
      const before = await comeAndGo() // what is compiled, cached and pooled once has been by then
      const growths = []
      let after
      do {
        after = await comeAndGo()
        const count = (growths.length + 1) * rounds * width
        growths.push(Math.round((after.heap - before.heap) * 1000 / count))
      } while (growths.at(-1) > GROWTH && growths.length < LONGER)
      return {
        engine: engine.name,
        growth: growths.at(-1),
        growths,
        timers: after.timers - first.timers,
        connections: growths.length * rounds * width
      }
    }))
  } finally {
    await Promise.all(engines.map(engine => engine.stop()))
  }
}

function sum (lanes) {
  const total = {}
  for (const { counts } of lanes) {
    for (const [name, number] of Object.entries(counts)) total[name] = (total[name] ?? 0) + number
  }
  return total
}

const line = ({ side, what, detail }) => `${side}: ${what} (${detail})`

const mb = bytes => `${(bytes / MB).toFixed(1)} MiB`

// What is left behind in memory, printed; as failures of the front.
async function left (seed, connections = 1000) {
  const onCrowd = (name, served) => served % 1000 === 0 && console.log(`${name}: ${served} connections`)
  const heaps = await soak({ seed, connections, onCrowd })
  for (const { engine, growth, timers, connections: all } of heaps) {
    console.log(`${engine}: the heap grew by ${growth} bytes per 1,000 connections (${all}), ${timers} timers are left`)
  }
  const [node, front] = heaps
  return front.growth > Math.max(GROWTH, node.growth) || front.timers > 0 ? ['something is left behind'] : []
}

module.exports = { Lane, siege }

if (require.main === module) {
  const number = { type: 'string', value: 'number' }
  const text = { type: 'string', value: 'text' }
  const flags = {
    lanes: number, scenario: text, random: { type: 'boolean' }, ignore: { ...text, multiple: true }, soak: number
  }
  main(__filename, async ({ seed = 1, cases, lanes, scenario, replay, random: isRandom, ignore: ignored, soak: connections }) => {
    const plans = isRandom || cases !== undefined ? [] : Object.entries(scenarios).filter(([title]) => title.includes(scenario ?? ''))
    if (scenario !== undefined && plans.length === 0) {
      console.error(`siege: no scenario has ${scenario} in its title (see test/engines/http1/siege/scenarios.js)`)
      process.exit(2)
    }
    const one = siege(connections === undefined ? { lanes, ignored, plans } : { lanes: 1, plans: [] })
    const isWhole = connections !== undefined || [cases, scenario, replay].every(value => value === undefined)
    return {
      ...one,
      close: async () => [...await one.close(), ...isWhole ? await left(seed, connections) : []],
      options: {
        cases: isWhole && connections === undefined ? Infinity : 0, // but for those that --cases asks for
        seconds: cases === undefined ? 180 : Infinity,
        failures: 5
      }
    }
  }, flags)
}
