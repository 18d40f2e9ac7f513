'use strict'

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const Crowd = require('../load/crowd')
const generators = require('../load/generators')
const Program = require('../servers/program')
const Server = require('../servers/server')
const { floorOf } = require('../servers/floor')
const { pins } = require('./machine')
const { nodeBinary } = require('./node')
const bar = require('./progress')
const Record = require('./record')
const { headerDifferences, verify } = require('./verify')
const { doubt, measure } = require('../../../command/measure/cost')
const { disturbance } = require('../../../command/measure/quiet')
const { rounds } = require('../../../command/measure/rounds')
const Figures = require('../report/figures')
const { sectionsOf } = require('../report/page')
const { table } = require('../report/text')

const QUICK = 203_000 // ms that a first look may take
const FEW = { connections: 50, settle: undefined } // of a load: what leaks descriptors is warmed by it

/** One run of a lab: its servers and generators, and the steps that fill its record. */
module.exports = class Session extends Record {
  #generators = {} // by name
  #endings = new Set()
  #warm = new Set() // servers
  #part = '' // name of the part under way
  #prefix = '' // which of how many it is
  #unrecorded = null // keeps what the rounds under way have measured
  #printed = new Set() // tables, as text
  #view

  constructor (name, contenders, options, argv, view) {
    const cores = pins()
    super({ name, options, argv, pins: cores })
    this.#view = view
    this.name = name
    this.options = options
    this.pins = cores
    this.contenders = options.only ? contenders.filter(({ name }) => options.only.includes(name)) : contenders
  }

  // ---- what runs beside the lab, and ends with it

  /** The generators that run here, by name; what is missing of these is a line and a note in the result. */
  generators (names = []) {
    for (const name of names) {
      const how = generators[name].missing?.()
      if (how) this.miss(name, how)
      else this.#generators[name] ??= generators[name]({ pin: this.pins?.load })
    }
    return this.#generators
  }

  /** The name of the first of these generators that runs here. */
  generator (names = ['wrk', 'autocannon']) {
    return names.find(name => this.generators([name])[name])
  }

  /** A crowd of so many connections. */
  crowd (connections) {
    const crowd = new Crowd({ connections, pin: this.pins?.load })
    this.atEnd(() => crowd.stop())
    return crowd
  }

  /** An empty folder. */
  folder () {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), `kone-${this.name}-`))
    this.atEnd(() => fs.rmSync(folder, { recursive: true, force: true }))
    return folder
  }

  /** What else must be ended however the lab ends. */
  atEnd (end) {
    this.#endings.add(end)
  }

  end () {
    Server.killAll()
    for (const end of this.#endings) end()
    for (const generator of Object.values(this.#generators)) generator.stop()
  }

  // ---- servers

  /**
   * Start contenders, then verify their responses one after the other. Who does not start is missing, who responds with
   * something else is rejected: the others go on.
   *
   * @param {object[]} contenders `{ name, file, args?, env?, flags?, node?, workers?, isSpread?, within? }`, node: the
   *   binary of this one, or its version; workers: as many processes in a cluster; isSpread: over all cores, also those
   *   of the load; within: ms that it may take to listen
   * @param {{ workload: string, request?: object|Function, expected: object, reference?: string, check?: Function,
   *   floor?: object }} question
   *   floor: the contender `net` is added, which writes the bytes of kone's response, as floor.js takes it;
   *   request may be a function `(server) => Promise<object>`, for one that holds a cookie of that server; check
   *   `(server, expected) => Promise<{ bytes, headers }>` verifies what does not speak HTTP
   * @return {Promise<Server[]>}
   */
  async start (contenders, { workload, request = {}, expected, reference, check = overHttp, floor: below }) {
    const started = await Promise.all(contenders.map(contender => this.#start(contender, workload)))
    const servers = []
    for (const server of started.filter(Boolean)) {
      try {
        server.request = typeof request === 'function' ? await request(server) : request
        server.response = await check(server, expected)
        servers.push(server)
        this.meet(server)
      } catch (err) {
        this.reject(workload, server.name, err.message)
        await server.stop()
      }
    }

    const usual = servers.find(({ name }) => name === reference)?.response.headers
    const { responses } = this.result.derived
    for (const { name: contender, response: { bytes, headers } } of servers) {
      if (responses.some(one => one.workload === workload && one.contender === contender)) continue
      responses.push({ workload, contender, bytes, headers: usual ? headerDifferences(headers, usual) : [] })
    }
    const kone = below && servers.find(({ name }) => name === 'kone')
    if (kone) servers.push(...await this.start([floorOf(kone, below)], { workload, request: kone.request, expected, check }))
    return servers
  }

  /** One more process of a contender that `start` has verified. */
  async launch (contender) {
    return (contender.program ? Program : Server).start(contender, {
      node: await nodeBinary(contender.node ?? this.options.node),
      flags: contender.flags,
      within: contender.within,
      pin: contender.isSpread ? undefined : this.pins?.server // a cluster has a core for every worker
    })
  }

  async stop (servers) {
    await Promise.all(servers.map(server => server.stop()))
  }

  async #start (contender, workload) {
    try {
      const how = contender.program?.missing()
      if (!how) return await this.launch(contender)
      this.miss(contender.name, how)
    } catch ({ message }) {
      if (this.knows(contender.name)) this.reject(workload, contender.name, message)
      else this.miss(contender.name, howToGet(contender, message, contender.node ?? this.result.node))
    }
    return null
  }

  // ---- steps of a measurement

  /**
   * A whole part of a lab: start contenders, measure them under their loads, stop them.
   *
   * @param {object[]} contenders as `start` takes them
   * @param {object} question as `start` takes it
   * @param {object} loads by workload; a load may be a function of the server
   * @param {object} [how] as `measure` takes it
   * @return {Promise<object[]>} the cells
   */
  async group (contenders, question, loads, how) {
    const servers = await this.start(contenders, question)
    const cells = Object.entries(loads).flatMap(([workload, load]) =>
      servers.map(server => ({ workload, server, load: { ...server.request, ...typeof load === 'function' ? load(server) : load } })))
    await this.measure(cells, how)
    await this.stop(servers)
    return cells
  }

  /**
   * Measure cells under their loads, in rounds, and keep their rows.
   *
   * @param {object[]} cells `{ workload, server, load, isRestarted? }`, isRestarted: the server is started anew before
   *   each round, and warmed by few connections
   * @param {{ quickWarm?: number, fullWarm?: number, isEnough?: (cells: object[]) => boolean, which?: string }} [how]
   *   seconds that a server is warmed, for a first look and otherwise; isEnough: as rounds.js takes it; which: for the progress
   */
  async measure (cells, { quickWarm = 0.4, fullWarm = 3, isEnough, which = '' } = {}) {
    const warmings = this.#warmings(cells, quickWarm, fullWarm)
    const progress = bar(Math.max(1, warmings.length))
    for (const { seconds, ...cell } of warmings) {
      progress.tick(`${this.#prefix}${which}warming ${cell.server.name}`)
      await this.warm(cell, seconds)
    }
    progress.end()
    const visit = async cell => {
      if (cell.isRestarted) {
        await cell.server.restart()
        await this.warm({ ...cell, load: { ...cell.load, ...FEW } }, 1)
      }
      return this.sample(cell)
    }
    await this.rounds(cells, { visit, doubt, isEnough, which })
  }

  // For a first look a server is warmed once, by autocannon: wrk knows whole seconds only, and behind nginx the rate is low.
  #warmings (cells, quickWarm, fullWarm) {
    const cold = new Set(cells.filter(({ server }) => !this.#warm.has(server) && this.#warm.add(server)))
    if (!this.options.quick) return cells.map(cell => ({ ...cell, seconds: cold.has(cell) ? fullWarm : 1 }))
    this.generators(['autocannon'])
    const briefly = load => ['wrk', 'nginx'].includes(load.generator) ? { ...load, generator: 'autocannon' } : load
    return [...cold].map(({ server, load }) => ({ server, load: briefly(load), seconds: quickWarm }))
  }

  /** One round of a cell `{ server, load }`, as measure.js gives it. */
  sample (cell) {
    return measure(cell, this.#generators[cell.load.generator])
  }

  /** Load before the first round, which is not counted. Who fails here fails in the rounds, where it is counted. */
  async warm ({ server, load }, seconds) {
    await this.#generators[load.generator].run({ ...load, port: server.port, seconds }).catch(() => {})
  }

  /**
   * Visit cells in rounds, with progress, then record them; the conditions of each round are kept in the result.
   *
   * @param {object[]} cells
   * @param {{ visit: Function, doubt?: Function, isEnough?: Function, tries?: number, count?: number,
   *   record?: (cells: object[]) => void, which?: string }} how as `measure` and rounds.js take it; count: the
   *   rounds, if not those of the options; record: if not `this.record`
   */
  async rounds (cells, { count = this.options.rounds, record = cells => this.record(cells), which = '', ...how }) {
    if (!cells.length) return
    this.#unrecorded = () => record(cells.filter(({ samples, rejected }) => samples?.length > 0 || rejected))
    const progress = bar(cells.length * count)
    const isShared = cells.some(({ server: { contender } }) => contender?.isSpread || contender?.workers > 1)
    const disturbed = this.options.quick ? undefined : round => disturbance(round, this.result.machine, isShared)
    const tick = doing => progress.tick(this.#prefix + which + doing)
    const recorded = await rounds(cells, { ...how, count, disturbance: disturbed, tick })
    progress.end()
    const part = this.#part || cells[0].workload
    this.result.conditions.push(...recorded.map(one => ({ part, ...one })))
    this.#unrecorded = null
    for (const cell of cells) cell.isPrecise = cell.samples.length < count && how.isEnough?.(cells)
    record(cells)
  }

  /** Record what the rounds under way have measured so far; whether there is anything to print. */
  keepWhatIsMeasured () {
    this.#unrecorded?.()
    return this.result.rows.length > 0
  }

  /** Print the tables that are new, or have changed. `isBrief`: not those that are of all parts. */
  print ({ isBrief = false } = {}) {
    if (!this.#view) return
    const sections = sectionsOf(this.#view, new Figures(this.result), { isBrief })
    for (const { heading, text, table: rows, notes = [], isLast } of sections) {
      if (!rows || (isBrief && isLast)) continue
      const shown = ['', heading, '', ...text ? [text] : [], table(rows), ...notes.map(note => `* ${note}`)].join('\n').replaceAll('`', '')
      if (!this.#printed.has(shown)) console.log(shown)
      this.#printed.add(shown)
    }
  }

  /** ms that are left for its parts: of a first look, or without end. */
  get timeLeft () {
    return this.options.quick ? QUICK - performance.now() : Infinity
  }

  /**
   * One part after the other, its tables as soon as it is over; of a first look, as long as there is time for another like
   * the longest so far.
   *
   * @param {{ name: string, act: () => Promise<void>, size?: number, seconds?: number }[]} parts size: how long it takes
   *   beside the others, if not as long; seconds: what its loads alone take
   */
  async inTime (parts) {
    let longest = 0 // ms, of size 1
    for (const [i, { name, act, size = 1, seconds = 0 }] of parts.entries()) {
      if (this.timeLeft < Math.max(longest * size, seconds * 1000)) {
        this.skip(name)
        continue
      }
      this.#part = name
      this.#prefix = `part ${i + 1} of ${parts.length}, `
      const start = performance.now()
      await act()
      longest = Math.max(longest, (performance.now() - start) / size)
      if (i < parts.length - 1) this.print({ isBrief: true })
    }
    this.#part = this.#prefix = ''
  }
}

function howToGet ({ name, program }, message, node) {
  if (program) return `it does not start: ${message}`
  if (/Cannot find (module|package)/.test(message)) {
    return `npm install in ${name.startsWith('kone') ? 'the root and in ' : ''}benchmarks/ (${message})`
  }
  return `it does not start on Node ${node}: ${message}`
}

const overHttp = ({ port, request }, expected) => verify(port, request, expected)
