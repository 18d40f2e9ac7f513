'use strict'

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const Crowd = require('../load/crowd')
const Program = require('../servers/program')
const Server = require('../servers/server')
const { floorOf } = require('../servers/floor')
const bar = require('./progress')
const { OptionError, nodeBinary, nodeVersion, parse, usage } = require('./options')
const { commit } = require('./commit')
const { machine, pins } = require('./machine')
const { headerDifferences, verify } = require('./verify')
const { rounds } = require('./rounds')
const { doubt, measure, remarks } = require('./measure')
const { harness } = require('./harness')
const { cellRows, row, write } = require('./result')
const Figures = require('../report/figures')
const { sectionsOf } = require('../report/page')
const { table } = require('../report/text')

const GENERATORS = {
  ...require('../load/loops'),
  autocannon: require('../load/autocannon'),
  wrk: require('../load/wrk'),
  rpc: require('../load/rpc'),
  paced: Crowd.paced,
  crowd: Crowd.generator
}

const QUICK = 215_000 // ms that a first look may take
const HARNESS = 12_000 // ms of them that are kept for what the generators cost
const FEW = { connections: 50, settle: undefined } // of a load: what leaks descriptors is warmed by it

/**
 * A lab: it runs when its file is the one that was started; otherwise the file exports the definition.
 *
 * @param {NodeModule} module of the lab
 * @param {object} definition
 * @param {string} definition.name
 * @param {object[]|Function} definition.contenders as contenders.js lists them, or a function that gives them: what it
 *   throws is printed as a mistake on the command line is
 * @param {object} [definition.options] of this lab alone, as options.js takes them
 * @param {Function} definition.probe what a contender is verified with: `(contender, { folder }) => ({ contender, request,
 *   expected, check? })`, folder: an empty one for files; null for a contender that needs more than this machine has
 * @param {(lab: Lab) => Promise<void>} definition.measure
 * @param {object} definition.view what is shown of a result, as report/page.js takes it
 */
exports.lab = function (module, definition) {
  module.exports = definition
  const { contenders } = definition
  if (typeof contenders === 'function') {
    let given
    Object.defineProperty(definition, 'contenders', { enumerable: true, get: () => (given ??= contenders()) })
  }
  if (require.main === module) start(definition, process.argv.slice(2))
}

// From the command line to the exit code; no process is left behind, whatever happens.
async function start (definition, argv) {
  const { name, options: own, measure, view } = definition
  const stop = message => {
    console.error(`${name}: ${message}`)
    return leave(1)
  }
  for (const [signal, number] of [['SIGINT', 2], ['SIGTERM', 15], ['SIGHUP', 1]]) {
    process.once(signal, () => {
      console.error(`\n${name}: ended by ${signal}, nothing is written`)
      leave(128 + number)
    })
  }
  process.once('uncaughtException', err => stop(err.stack))
  try {
    const { contenders } = definition
    const names = contenders.map(contender => contender.name)
    const options = parse(argv, { lab: name, contenders: names, own })
    if (options.help) {
      console.log(usage(name, names, own))
      return
    }
    options.node = await nodeBinary(options.node)
    const lab = new Lab(name, contenders, options, argv)
    await measure(lab)
    await lab.measureHarness()
    show({ lab: name, ...view }, lab.result)
    leave(0)
  } catch (err) {
    if (err instanceof OptionError) {
      console.error(err.message)
      leave(2)
    } else if (['ENOSPC', 'EDQUOT', 'EFBIG', 'EROFS', 'EACCES'].includes(err.code)) {
      stop(`the result cannot be written: ${err.message}`)
    } else {
      stop(err.stack)
    }
  }
}

function show (view, result) {
  for (const { heading, text, table: rows, notes = [] } of sectionsOf(view, new Figures(result))) {
    if (rows) console.log(['', heading, '', ...text ? [text] : [], table(rows), ...notes.map(note => `* ${note}`)].join('\n').replaceAll('`', ''))
  }
  const { machine: { cpu, cores, kernel }, node, derived: { quick, rounds }, skipped } = result
  console.log(`\n${cpu}, ${cores} cores, ${kernel}, Node ${node}, ${rounds} rounds${quick ? ' (quick: a first look, not a result)' : ''}`)
  console.log(path.relative(process.cwd(), write(result)))
  if (skipped.length) {
    console.log(`This result is not complete: there was no time for ${skipped.map(({ part }) => part).join('; ')}. Without --quick everything is measured.`)
  }
}

const generators = {}
const endings = new Set()

function leave (code) {
  Server.killAll()
  for (const end of endings) end()
  for (const generator of Object.values(generators)) generator.stop()
  process.exit(code)
}

/** What the labs share: options, servers, generators, rounds, and the result. */
class Lab {
  #warm = new Set() // servers
  #part = '' // name of the part under way
  #prefix = '' // which of how many it is

  constructor (name, contenders, options, argv) {
    this.name = name
    this.options = options
    this.pins = pins()
    this.nodeVersion = nodeVersion(options.node)
    this.contenders = options.only ? contenders.filter(({ name }) => options.only.includes(name)) : contenders
    this.result = {
      lab: name,
      date: new Date().toISOString(),
      node: this.nodeVersion,
      command: ['node', path.relative(path.join(__dirname, '../../..'), process.argv[1]), ...argv].join(' '),
      commit: commit(),
      machine: machine(),
      contenders: [],
      rows: [],
      rejected: [],
      missing: [],
      skipped: [],
      conditions: [],
      harness: [],
      derived: {
        quick: options.quick,
        rounds: options.rounds,
        only: options.only ?? undefined,
        pinned: this.pins,
        about: {},
        remarks: [],
        discarded: [],
        responses: []
      }
    }
  }

  /** The generators that run here, by name; what is missing of these is a line and a note in the result. */
  generators (names = []) {
    for (const name of names) {
      const how = GENERATORS[name].missing?.()
      if (how) this.miss(name, how)
      else generators[name] ??= GENERATORS[name]({ pin: this.pins?.load })
    }
    return generators
  }

  /** The name of the first of these generators that runs here. */
  generator (names = ['wrk', 'autocannon']) {
    const name = names.find(name => this.generators([name])[name])
    if (!name) throw new OptionError(`${this.name}: it needs ${names.join(' or ')}: npm install in benchmarks/`)
    return name
  }

  /**
   * Start contenders, then verify their responses one after the other. Who does not start is missing, who responds with
   * something else is rejected: the others go on.
   *
   * @param {object[]} contenders `{ name, file, args?, env?, flags?, node?, workers?, isSpread? }`, node: the binary of
   *   this one; workers: as many processes in a cluster; isSpread: over all cores, also those of the load
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
    for (const [i, contender] of contenders.entries()) {
      const server = started[i]
      if (!server) continue
      try {
        server.request = typeof request === 'function' ? await request(server) : request
        server.response = await check(server, expected)
        servers.push(server)
        this.#note(contender)
      } catch (err) {
        this.reject(workload, contender.name, err.message)
        await server.stop()
      }
    }

    const floor = servers.find(({ name }) => name === reference)?.response.headers
    const { responses } = this.result.derived
    for (const { name: contender, response: { bytes, headers } } of servers) {
      if (responses.some(one => one.workload === workload && one.contender === contender)) continue
      responses.push({ workload, contender, bytes, headers: floor ? headerDifferences(headers, floor) : [] })
    }
    const kone = below && servers.find(({ name }) => name === 'kone')
    if (kone) servers.push(...await this.start([floorOf(kone, below)], { workload, request: kone.request, expected, check }))
    return servers
  }

  /**
   * A whole part of a lab: start contenders, measure them under their loads, stop them.
   *
   * @param {object[]} contenders as `start` takes them
   * @param {object} question as `start` takes it
   * @param {object} loads by workload; a load may have `not` or `only`, who does not or who alone takes part
   * @param {{ quickWarm?: number }} [how] as `measure` takes it
   * @return {Promise<object[]>} the cells
   */
  async group (contenders, question, loads, how) {
    const servers = await this.start(contenders, question)
    const cells = Object.entries(loads).flatMap(([workload, { not, only, ...load }]) => servers
      .filter(({ name }) => name !== not && (!only || only.includes(name)))
      .map(server => ({ workload, server, load: { ...server.request, ...load } })))
    await this.measure(cells, how)
    await this.stop(servers)
    return cells
  }

  async stop (servers) {
    await Promise.all(servers.map(server => server.stop()))
  }

  /**
   * Measure cells under their loads, in rounds, and keep their rows.
   *
   * @param {object[]} cells `{ workload, server, load, isRestarted? }`, isRestarted: the server is started anew before
   *   each round, and warmed by few connections
   * @param {{ quickWarm?: number }} [how] quickWarm: seconds that a server is warmed with --quick
   */
  async measure (cells, { quickWarm = 0.4 } = {}) {
    const { seconds, warmed } = this.options.quick ? this.#shortly(cells, quickWarm) : { warmed: cells }
    const progress = bar(Math.max(1, warmed.length))
    for (const cell of warmed) {
      progress.tick(`${this.#prefix}warming ${cell.server.name}`)
      await this.warm(cell, seconds ?? (this.#warm.has(cell.server) ? 1 : 3)) // 1: another load has warmed it before
      this.#warm.add(cell.server)
    }
    progress.end()
    const visit = async cell => {
      if (cell.isRestarted) {
        await cell.server.restart()
        await this.warm({ ...cell, load: { ...cell.load, ...FEW } }, 1)
      }
      return this.sample(cell)
    }
    await this.rounds(cells, { visit, doubt })
    this.record(cells)
  }

  /** One round of a cell `{ server, load }`, as measure.js gives it. */
  sample (cell) {
    return measure(cell, generators[cell.load.generator])
  }

  /** Load before the first round, which is not counted. Who fails here fails in the rounds, where it is counted. */
  async warm ({ server, load }, seconds) {
    await generators[load.generator].run({ ...load, port: server.port, seconds }).catch(() => {})
  }

  /**
   * Visit cells in rounds, with progress; the conditions of each round are kept in the result.
   *
   * @param {object[]} cells
   * @param {{ visit: Function, doubt?: Function, tries?: number, count?: number }} how as rounds.js takes it; count: the
   *   rounds, if not those of the options
   */
  async rounds (cells, { count = this.options.rounds, ...how }) {
    if (!cells.length) return
    const progress = bar(cells.length * count)
    const recorded = await rounds(cells, { ...how, count, tick: doing => progress.tick(this.#prefix + doing) })
    progress.end()
    const part = this.#part || cells[0].workload
    this.result.conditions.push(...recorded.map(one => ({ part, ...one })))
  }

  /** ms that are left for its parts; without end unless with --quick. */
  get timeLeft () {
    return this.options.quick ? QUICK - HARNESS - performance.now() : Infinity
  }

  /** Note a part that there is no time for. */
  skip (part, reason = 'no time left') {
    console.error(`${part} is left out: ${reason}`)
    this.result.skipped.push({ part, reason })
  }

  /**
   * One part after the other; with --quick, as long as there is time for another like the longest so far.
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
    }
    this.#part = this.#prefix = ''
  }

  // With --quick a server is warmed once, and not for whole seconds: wrk knows no others, so autocannon stands in.
  #shortly (cells, seconds) {
    const { autocannon } = this.generators(['autocannon'])
    const cold = cells.filter(({ server }) => !this.#warm.has(server) && this.#warm.add(server))
    if (!autocannon) return { seconds: 1, warmed: cold }
    const warmed = cold.map(({ server, load }) =>
      ({ server, load: load.generator === 'wrk' ? { ...load, generator: 'autocannon' } : load }))
    return { seconds, warmed }
  }

  /** What each generator of this run costs by itself, into the result. */
  async measureHarness () {
    // connections names its loops, too: crowd, open loop
    const names = new Set(this.result.rows.flatMap(({ generator }) => generator ? [generator.split(',')[0]] : []))
    if (this.timeLeft < 0) return this.skip('the cost of the generators')
    if (names.has('crowd')) this.generators(['crowd']) // labs that open thousands of connections start crowds of their own
    const used = [...names].filter(name => generators[name])
    this.result.harness = await harness(used, { generators, pins: this.pins, quick: this.options.quick })
  }

  /** The rows, remarks and rejections of cells, as `rounds` leaves them, into the result. */
  record (cells) {
    const { rows, derived } = this.result
    for (const cell of cells) {
      const { workload, server: { name: contender }, load, samples, discarded } = cell
      const of = { workload, contender }
      for (const { round, reason } of discarded) derived.discarded.push({ ...of, round, reason })
      if (cell.rejected) {
        this.reject(workload, contender, cell.rejected)
        continue
      }
      rows.push(...cellRows(cell))
      if (cell.isRestarted) derived.remarks.push({ ...of, remark: 'started anew before each round' })
      for (const remark of remarks(samples, load)) derived.remarks.push({ ...of, remark })
    }
  }

  /**
   * Rows of other figures than those of a load.
   *
   * @param {object[]} cells as `rounds` leaves them; what was rejected is left out of its workload
   * @param {[string, string, (sample: object) => number, string?][]} figures metric, unit, what it is of a sample, and the
   *   workload, if not that of the cell
   */
  recordFigures (cells, figures) {
    for (const { workload: own, server: { name: contender }, samples, rejected } of cells) {
      if (rejected) this.reject(own, contender, rejected)
      else {
        this.result.rows.push(...figures.map(([metric, unit, of, workload = own]) =>
          row({ workload, contender, metric, unit }, samples.map(of))))
      }
    }
  }

  /** An empty folder, which is gone when the lab ends. */
  folder () {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), `kone-${this.name}-`))
    endings.add(() => fs.rmSync(folder, { recursive: true, force: true }))
    return folder
  }

  /** A crowd of so many connections, which is stopped when the lab ends; in so many processes, if not as it needs. */
  crowd (connections, processes) {
    const crowd = new Crowd({ connections, processes, pin: this.pins?.load })
    endings.add(() => crowd.stop())
    return crowd
  }

  /** What must be ended however the lab ends, beside its servers and generators. Returns a function that forgets it. */
  atEnd (end) {
    endings.add(end)
    return () => endings.delete(end)
  }

  /** One more process of a contender that `start` has verified. */
  launch (contender) {
    return (contender.program ? Program : Server).start(contender, {
      node: contender.node ?? this.options.node,
      flags: contender.flags,
      pin: contender.isSpread ? undefined : this.pins?.server // a cluster has a core for every worker
    })
  }

  /** Note what is not on this machine, and how to get it. */
  miss (name, how) {
    if (this.result.missing.some(one => one.name === name)) return
    console.error(`${name} is missing: ${how}`)
    this.result.missing.push({ name, how })
  }

  /** Leave a contender out of a workload. */
  reject (workload, contender, reason) {
    console.error(`${contender} is left out of ${workload}: ${reason}`)
    this.result.rejected.push({ workload, contender, reason })
  }

  async #start (contender, workload) {
    const how = contender.program?.missing()
    if (how) {
      this.miss(contender.name, how)
      return null
    }
    try {
      return await this.launch(contender)
    } catch (err) {
      if (this.#knows(contender)) this.reject(workload, contender.name, err.message)
      else this.miss(contender.name, howToGet(contender, err.message, nodeVersion(contender.node ?? this.options.node)))
      return null
    }
  }

  #note ({ name, version, about }) {
    if (this.#knows({ name })) return
    this.result.contenders.push({ name, version: version(this.nodeVersion) })
    if (about) this.result.derived.about[name] = about
  }

  #knows ({ name }) {
    return this.result.contenders.some(one => one.name === name)
  }
}

exports.Lab = Lab

function howToGet ({ name, program }, message, node) {
  if (program) return `it does not start: ${message}`
  if (/Cannot find (module|package)/.test(message)) {
    return `npm install in ${name.startsWith('kone') ? 'the root and in ' : ''}benchmarks/ (${message})`
  }
  return `it does not start on Node ${node}: ${message}`
}

const overHttp = ({ port, request }, expected) => verify(port, request, expected)
