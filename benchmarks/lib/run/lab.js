'use strict'

const path = require('node:path')
const Program = require('../servers/program')
const Server = require('../servers/server')
const bar = require('./progress')
const inTime = require('./in-time')
const { OptionError, nodeVersion, parse, usage } = require('./options')
const { machine, pins } = require('./machine')
const { headerDifferences, verify } = require('./verify')
const { measure, remarks } = require('./measure')
const { rowsOf } = require('./result')

const GENERATORS = {
  autocannon: require('../load/autocannon'),
  wrk: require('../load/wrk'),
  split: require('../load/split'),
  reconnect: require('../load/reconnect'),
  rpc: require('../load/rpc'),
  pooled: require('../load/pooled')
}

const QUICK = 215_000 // ms that a first look may take

/**
 * Run a lab from its command line to its exit code, and leave no process behind, whatever happens.
 *
 *    run('battle', { contenders, argv: process.argv.slice(2) }, async lab => { … })
 *
 * @param {string} name
 * @param {{ contenders: object[], argv: string[], own?: object }} of contenders:
 *   `{ name, file, version }`, or `program` in place of the file, as program.js takes it; own: options of this
 *   lab alone, as options.js takes them
 * @param {(lab: Lab) => Promise<void>} main
 */
exports.run = async function (name, { contenders, argv, own }, main) {
  for (const [signal, number] of [['SIGINT', 2], ['SIGTERM', 15], ['SIGHUP', 1]]) {
    process.once(signal, () => leave(128 + number))
  }
  try {
    const names = contenders.map(contender => contender.name)
    const options = parse(argv, { lab: name, contenders: names, own })
    if (options.help) {
      console.log(usage(name, names, own))
      return
    }
    await main(new Lab(name, contenders, options, argv))
    leave(0)
  } catch (err) {
    console.error(err instanceof OptionError ? err.message : err)
    leave(err instanceof OptionError ? 2 : 1)
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

/** What the labs share: options, servers, generators, and the head of the result. */
class Lab {
  #warm = new Set() // servers
  #part = '' // of how many is under way

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
      machine: machine(),
      contenders: [],
      rows: [],
      rejected: [],
      missing: [],
      derived: {
        quick: options.quick,
        rounds: options.rounds,
        only: options.only ?? undefined,
        pinned: this.pins,
        about: {},
        ratios: [],
        remarks: [],
        discarded: [],
        answers: []
      }
    }
  }

  /**
   * The generators that run here; what is missing is a line and a note in the result.
   *
   * @param {string[]} names
   * @return {object} by name
   */
  generators (names) {
    for (const name of names) {
      const how = GENERATORS[name].missing?.()
      if (how) this.miss(name, how)
      else generators[name] ??= GENERATORS[name]({ pin: this.pins?.load })
    }
    return generators
  }

  /**
   * Start contenders, then check their answers one after the other. Who does not start is missing, who
   * answers something else is rejected: the others go on.
   *
   * @param {object[]} contenders `{ name, file, args?, env?, flags?, node? }`, node: the binary of this one
   * @param {{ workload: string, request?: object|Function, expected: object, reference?: string, check?: Function }} question
   *   request may be a function `(server) => Promise<object>`, for one that holds a cookie of that server; check
   *   `(server, expected) => Promise<{ bytes, headers }>` verifies what is not asked over HTTP
   * @return {Promise<Server[]>}
   */
  async start (contenders, { workload, request = {}, expected, reference, check = ask }) {
    const started = await Promise.all(contenders.map(contender => this.#start(contender, workload)))
    const servers = []
    for (const [i, contender] of contenders.entries()) {
      const server = started[i]
      if (!server) continue
      try {
        server.request = typeof request === 'function' ? await request(server) : request
        server.answer = await check(server, expected)
        servers.push(server)
        this.#note(contender)
      } catch (err) {
        this.reject(workload, contender.name, err.message)
        await server.stop()
      }
    }

    const floor = servers.find(({ name }) => name === reference)?.answer.headers
    for (const { name: contender, answer: { bytes, headers } } of servers) {
      if (this.result.derived.answers.some(one => one.workload === workload && one.contender === contender)) continue
      const differences = floor ? headerDifferences(headers, floor) : []
      this.result.derived.answers.push({ workload, contender, bytes, headers: differences })
    }
    return servers
  }

  /**
   * Measure cells in interleaved rounds and keep their rows.
   *
   * @param {object[]} cells `{ workload, server, load }`
   * @param {{ quickWarm?: number }} [how] quickWarm: seconds that a server is warmed in a hurry
   */
  async measure (cells, { quickWarm = 0.4 } = {}) {
    const { quick, rounds } = this.options
    const { warm, warmed } = quick ? this.#hurried(cells, quickWarm) : { warm: 3, warmed: cells }
    const progress = bar(warmed.length + cells.length * rounds)
    await measure(cells, { rounds, warm, warmed, generators, tick: doing => progress.tick(this.#part + doing) })
    progress.end()
    this.keep(cells)
  }

  /** ms that are left; without end unless in a hurry. */
  get timeLeft () {
    return this.options.quick ? QUICK - performance.now() : Infinity
  }

  /**
   * The parts of the lab. In a hurry those that a busy machine leaves no time for are left out, and the result
   * says so.
   *
   * @param {object[]} parts as inTime takes them
   */
  inTime (parts) {
    const skip = name => {
      console.error(`no time left for ${name}`)
      this.result.derived.noTimeFor = [...this.result.derived.noTimeFor ?? [], name]
    }
    const begin = i => { this.#part = `part ${i + 1} of ${parts.length}, ` }
    return inTime(parts, { left: () => this.timeLeft, skip, begin })
  }

  // In a hurry a server is warmed once, and not for whole seconds: wrk knows no others, so autocannon stands in.
  #hurried (cells, warm) {
    const { autocannon } = this.generators(['autocannon'])
    const cold = cells.filter(({ server }) => !this.#warm.has(server) && this.#warm.add(server))
    if (!autocannon) return { warm: 1, warmed: cold }
    const warmed = cold.map(({ server, load }) =>
      ({ server, load: load.generator === 'wrk' ? { ...load, generator: 'autocannon' } : load }))
    return { warm, warmed }
  }

  /**
   * The rows, remarks and rejections of measured cells, into the result.
   *
   * @param {object[]} cells as `measure` of measure.js leaves them
   */
  keep (cells) {
    const { rows, rejected, derived } = this.result
    for (const cell of cells) {
      const { workload, server: { name: contender }, samples, discarded } = cell
      const of = { workload, contender }
      for (const { round, reason } of discarded) derived.discarded.push({ ...of, round, reason })
      if (cell.rejected) {
        rejected.push({ ...of, reason: cell.rejected })
        continue
      }
      rows.push(...rowsOf(cell))
      for (const remark of remarks(samples)) derived.remarks.push({ ...of, remark })
    }
  }

  /**
   * What must be ended however the lab ends, beside its servers and generators.
   *
   * @param {() => void} end done when it returns
   * @return {() => void} forgets it again
   */
  atEnd (end) {
    endings.add(end)
    return () => endings.delete(end)
  }

  /**
   * One more process of a contender that `start` has verified.
   *
   * @param {object} contender
   * @return {Promise<Server>}
   */
  launch (contender) {
    return (contender.program ? Program : Server).start(contender, {
      node: contender.node ?? this.options.node,
      flags: contender.flags,
      pin: this.pins?.server
    })
  }

  miss (name, how) {
    if (this.result.missing.some(one => one.name === name)) return
    console.error(`${name} is missing: ${how}`)
    this.result.missing.push({ name, how })
  }

  /**
   * Leave a contender out of a workload.
   *
   * @param {string} workload
   * @param {string} contender
   * @param {string} reason
   */
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
      else this.miss(contender.name, howToGet(contender, err.message, this.#nodeOf(contender)))
      return null
    }
  }

  #nodeOf ({ node }) {
    return node ? nodeVersion(node) : this.nodeVersion
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

function howToGet ({ name, program }, message, node) {
  if (program) return `it does not start: ${message}`
  if (/Cannot find (module|package)/.test(message)) {
    return `npm install in ${name.startsWith('kone') ? 'the root and in ' : ''}benchmarks/ (${message})`
  }
  return `it does not start on Node ${node}: ${message}`
}

const ask = ({ port, request }, expected) => verify(port, request, expected)
