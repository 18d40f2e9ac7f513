'use strict'

/*
 * The siege: `make siege ARGS="--seconds 600"`.
 *
 *   --seed N           the first conversation (default: a random one, printed); the i-th has the seed N + i
 *   --conversations N  how many; `--seed N` alone means one
 *   --seconds N        for how long (default 180)
 *   --lanes N          how many at a time
 *   --scenario TEXT    only the directed ones whose title has TEXT
 *   --random           none of the directed ones
 *   --no-shrink        show a finding as it was found
 *   --replay FILE      one conversation, as a finding prints it
 *   --ignore TEXT      findings with TEXT do not count; may be given several times
 *   --soak N           no conversations: what N connections leave behind in memory (`make soak`)
 */

const { fork } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { inspect } = require('node:util')

const commandLine = require('../../../../tools/command-line')
const { shrink } = require('../../../helpers/shrink')
const { Pairs } = require('../acts')
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

/** How often a finding is tried again: one that does not return is printed, but fails nothing. */
const AGAIN = 3

/** How long making a conversation smaller may take, in ms. */
const SHRINK = 40_000

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

  async ask (message) {
    await this.ready
    if (!this.alive) return this.died
    const reply = this.reply()
    this.child.send(message, () => {})
    return reply
  }

  /** @return {Promise<{ findings: object[], records: object[], report: object|null }>} */
  async converse (conversation, exact = false) {
    const opened = await this.ask({ type: 'open', conversation, exact })
    if (opened.type === 'died') return this.dead(opened)
    const records = await Promise.all(conversation.clients.map((client, i) => converse(opened.port, client, i, conversation.arrival === 'tls')))
    const report = await this.ask({ type: 'close' })
    if (report.type === 'died') return this.dead(report)
    const findings = judge(conversation, records, report)
      .map(finding => ({ engine: this.name, ...finding }))
      .filter(finding => !isException(finding, conversation))
    return { findings, records, report }
  }

  async dead ({ detail }) {
    await this.stop()
    this.start()
    return { findings: [{ engine: this.name, what: 'the process dies', where: 'server', detail }], records: [], report: null }
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
    const find = (what, detail) => findings.push({ engine: 'front', what, where: 'server', detail, measured: true })
    if (node.report !== null && front.report !== null) {
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

  /** The shortest conversation found that still shows one of the findings. */
  shrink (conversation, findings) {
    return shrink(conversation, findings, RULES, async next => {
      const found = (await this.run(next)).filter(finding => findings.some(one => same(one, finding)))
      return found.length > 0 && found
    }, SHRINK)
  }

  stop () {
    return Promise.all(this.engines.map(engine => engine.stop()))
  }
}

function same (a, b) {
  return a.engine === b.engine && a.what === b.what
}

/**
 * Run conversations until the time is over or they are done.
 *
 *    const { failures } = await siege({ seed: 1, conversations: 50 })
 */
async function siege ({
  seed, conversations = Infinity, seconds = Infinity, least = 0, lanes: width = 2, directed = [], shrink: shrinks = true,
  failures: most = 5, ignored, print = () => {}
}) {
  const until = Date.now() + seconds * 1000
  const lanes = Array.from({ length: width }, () => new Lane(ignored))
  const failures = []
  const unconfirmed = []
  const titled = [...directed]
  const pairs = new Pairs([...Object.keys(KINDS), ...TOUCHES.map(([name]) => name)])
  let made = 0
  let done = 0

  function take () {
    if (titled.length > 0) {
      const [title, conversation] = titled.shift()
      return { title, again: `--scenario ${JSON.stringify(title)}`, conversation }
    }
    const isOver = Date.now() > until && made >= least
    if (made >= conversations || isOver || failures.length >= most) return null
    const number = seed + made++
    return { title: `seed ${number}`, again: `--seed ${number}`, conversation: generate(number) }
  }

  async function work (lane) {
    for (let one = take(); one !== null; one = take()) {
      for (const { requests } of one.conversation.clients) {
        pairs.add(requests.flatMap(({ handler: { kind, touches = [] } }) => [kind, ...touches.map(([name]) => name)]))
      }
      const found = await lane.run(one.conversation)
      done++
      if (found.length === 0) continue
      const confirmed = await lane.confirm(one.conversation, found)
      if (confirmed.length === 0) {
        unconfirmed.push(`${one.title}: ${found.map(line).join('; ')}`)
        continue
      }
      if (shrinks) print(`${one.title}: ${confirmed.length} findings, looking for a shorter conversation`)
      const small = shrinks ? await lane.shrink(one.conversation, confirmed) : { plan: one.conversation, found: confirmed }
      failures.push(explain(one, confirmed, small))
      print(failures.at(-1))
    }
  }

  const progress = setInterval(() => print(`${done} conversations, ${inspect(sum(lanes), { breakLength: Infinity })}, ` +
    `${failures.length} failures, ${unconfirmed.length} unconfirmed`), 10_000)
  try {
    await Promise.all(lanes.map(work))
  } finally {
    clearInterval(progress)
    await Promise.all(lanes.map(lane => lane.stop()))
  }
  return { failures, unconfirmed, counts: { conversations: done, ...sum(lanes), 'of kinds and touches': String(pairs) } }
}

/**
 * What stays behind of the connections that come and go: bytes of the heap per 1,000 connections, and timers.
 *
 * Some growth comes once: code that is compiled late, garbage that a third gc() takes and the second did not (measured on a
 * loaded machine: up to 300 KB, as much as the limit for 300 connections). While the growth is beyond the limit, more
 * connections come: what comes once is divided by all of them, what each one leaves behind is not.
 */
async function soak ({ seed, connections = 1000, width = 100 }) {
  const engines = ENGINES.map(name => new Engine(name))
  const rounds = Math.ceil(connections / width)
  try {
    return await Promise.all(engines.map(async engine => {
      const comeAndGo = async () => {
        for (let i = 0; i < rounds; i++) await engine.converse(crowd(seed + i, width))
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

function line ({ engine, what, where, detail }) {
  return `${engine}: ${what} (${where}${detail === '' ? '' : `: ${detail}`})`
}

function explain ({ title, again }, findings, { plan, found }) {
  const file = path.join(os.tmpdir(), `kone-siege-${process.pid}-${files++}.json`)
  fs.writeFileSync(file, JSON.stringify(plan))
  return [
    `${title}, Node ${process.version}`,
    ...group(findings).map(text => `  ${text}`),
    `  again: make siege ARGS='${again}'`,
    `  the shortest conversation found: make siege ARGS='--replay ${file}'`,
    ...group(found).map(text => `  ${text}`),
    inspect(plan, { depth: 8, breakLength: 120, maxArrayLength: 20 })
  ].join('\n')
}

let files = 0

/** One line for each kind of finding. */
function group (findings) {
  const kinds = new Map()
  for (const finding of findings) {
    const key = `${finding.engine} ${finding.what}`
    if (!kinds.has(key)) kinds.set(key, { finding, count: 0 })
    kinds.get(key).count++
  }
  return [...kinds.values()].map(({ finding, count }) => `${count} × ${line(finding)}`)
}

function mb (bytes) {
  return `${(bytes / MB).toFixed(1)} MiB`
}

async function main () {
  const number = { type: 'string', value: 'number' }
  const text = { type: 'string', value: 'text' }
  const flags = {
    seed: number,
    conversations: number,
    seconds: number,
    lanes: number,
    failures: number,
    scenario: text,
    replay: { type: 'string', value: 'file' },
    ignore: { ...text, multiple: true, default: [] },
    random: { type: 'boolean' },
    soak: number,
    'no-shrink': { type: 'boolean' }
  }
  const { values } = commandLine('siege', flags, 'test/engines/http1/siege/run.js')
  const { seed = Math.floor(Math.random() * 1e9) } = values
  if (values.soak !== undefined) {
    console.log(`soak: seed ${seed}, Node ${process.version}`)
    process.exitCode = (await left(seed, values.soak)).length > 0 ? 1 : 0
    return
  }
  const random = values.scenario === undefined && values.replay === undefined
  const one = values.seed !== undefined && values.seconds === undefined
  const { conversations = random ? one ? 1 : Infinity : 0 } = values
  const all = values.replay ? [[values.replay, require(path.resolve(values.replay))]] : Object.entries(scenarios)
  const directed = one || values.random ? [] : all.filter(([title]) => random || values.replay || title.includes(values.scenario))
  if (values.scenario !== undefined && directed.length === 0) {
    console.error(`siege: no scenario has ${values.scenario} in its title (see test/engines/http1/siege/scenarios.js)`)
    process.exit(2)
  }
  console.log(`siege: seed ${seed}, Node ${process.version}, ${directed.length} directed conversations first`)
  const { failures, unconfirmed, counts } = await siege({
    seed,
    conversations,
    seconds: values.seconds ?? (conversations === Infinity ? 180 : Infinity),
    lanes: values.lanes ?? (one ? 1 : 2),
    failures: values.failures ?? (random ? 5 : Infinity),
    directed,
    ignored: values.ignore,
    shrink: !values['no-shrink'],
    print: console.log
  })
  for (const text of unconfirmed) console.log(`did not return: ${text}`)
  if (random && !one) failures.push(...await left(seed))
  console.log(`siege: seed ${seed}, Node ${process.version}, ${inspect(counts, { breakLength: Infinity })}, ${failures.length} failures`)
  process.exitCode = failures.length > 0 ? 1 : 0
}

// What is left behind in memory, printed; as failures of the front.
async function left (seed, connections) {
  const failures = []
  for (const { engine, growth, timers, connections: all } of await soak({ seed, connections })) {
    console.log(`${engine}: the heap grew by ${growth} bytes per 1,000 connections (${all}), ${timers} timers are left`)
    if (engine === 'front' && (growth > GROWTH || timers > 0)) failures.push('something is left behind')
  }
  return failures
}

module.exports = { GROWTH, Lane, siege, soak }

if (require.main === module) main()
