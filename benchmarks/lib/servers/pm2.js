'use strict'

const fs = require('node:fs')
const net = require('node:net')
const os = require('node:os')
const path = require('node:path')
const { execFile } = require('node:child_process')
const { once } = require('node:events')
const { promisify } = require('node:util')
const cpu = require('../run/cpu')
const { root } = require('./kone')
const { koneVersion } = require('./versions')
const { measure } = require('../run/measure')
const { row } = require('../run/result')
const { verify } = require('../run/verify')
const { middle } = require('../run/stats')
const { block, short } = require('../report/text')
const bar = require('../run/progress')

const run = promisify(execFile)

/**
 * An app of kone in pm2's cluster mode, with a daemon of its own: requests per second, and what `pm2 list` shows.
 *
 * @param {Lab} lab
 * @param {{ name: string, file: string }} contender file: exports the app
 * @param {{ expected: object, load: object, generators: object }} how
 * @return {Promise<object|null>} a section for `finish`
 */
exports.cluster = async function (lab, { name, file }, { expected, load, generators }) {
  const bin = path.join(root, 'node_modules/pm2/bin/pm2')
  if (!fs.existsSync(bin)) {
    lab.miss(name, 'npm install pm2 in the root')
    return null
  }
  if (process.platform !== 'linux') {
    lab.miss(name, 'its CPU time and memory are read from /proc: Linux alone has that')
    return null
  }

  const workload = 'cluster'
  const home = fs.mkdtempSync(path.join(os.tmpdir(), 'kone-pm2-'))
  const instances = os.availableParallelism()
  const port = await freePort()
  const env = {
    ...process.env,
    NODE_ENV: 'production',
    KONE_CLUSTER: 'pm2',
    PM2_HOME: home,
    PORT: String(port),
    INSTANCES: String(instances)
  }
  const ours = (...args) => run(lab.options.node, [path.join(root, 'pm2.js'), ...args], { cwd: root, env })
  const pm2 = (...args) => run(lab.options.node, [bin, ...args], { cwd: root, env })
  const daemon = () => Number(fs.readFileSync(path.join(home, 'pm2.pid'), 'utf8'))
  const forget = lab.atEnd(() => {
    kill(daemon)
    fs.rmSync(home, { recursive: true, force: true })
  })

  try {
    await ours(file)
    const { body, bytes } = await verify(port, {}, expected)
    lab.result.contenders.push({ name, version: koneVersion() })
    const list = async () => parse((await pm2('jlist')).stdout)
    const workers = (await list()).map(({ pid }) => pid)
    const server = { name, port, usage: async () => cpu.usage(daemon()) }
    const { cell, resident } = await rounds(lab, { workload, server, load }, workers, generators)
    lab.keep([cell])
    if (!cell.rejected) lab.result.rows.push(row({ workload, contender: name, metric: 'memory', unit: 'bytes/worker' }, resident))

    const shown = (await pm2('list', '--no-color')).stdout.trim()
    if (!cell.rejected) console.log(`\n${block({ name, body, sample: middle(cell.samples) })}`)
    console.log(`\n$ pm2 list\n${shown}`)
    Object.assign(lab.result.derived, { pm2: { instances, list: shown.split('\n') } })
    return section(lab.result, name, await list(), bytes)
  } catch (err) {
    lab.miss(name, `it does not start under pm2: ${(err.stderr || err.message).trim().split('\n')[0]}`)
    return null
  } finally {
    await ours('stop').catch(() => {})
    await pm2('kill').catch(() => {})
    kill(daemon)
    fs.rmSync(home, { recursive: true, force: true })
    forget()
  }
}

async function rounds (lab, { workload, server, load }, workers, generators) {
  const { rounds, quick } = lab.options
  const cell = { workload, server, load, samples: [], discarded: [], rejected: null }
  const resident = []
  const progress = bar(rounds)
  for (let round = 1; round <= rounds && !cell.rejected; round++) {
    progress.tick(`round ${round} of ${rounds}: ${server.name}`)
    const once = { workload, server, load }
    await measure([once], { rounds: 1, warm: quick ? 1 : 3, generators })
    cell.samples.push(...once.samples)
    cell.discarded.push(...once.discarded.map(one => ({ ...one, round })))
    cell.rejected = once.rejected
    const bytes = workers.map(cpu.resident)
    resident.push(bytes.reduce((sum, one) => sum + one, 0) / workers.length)
  }
  progress.end()
  return { cell, resident }
}

function section ({ rows }, name, list, bytes) {
  const found = metric => rows.find(row => row.workload === 'cluster' && row.contender === name && row.metric === metric)
  const [rate, memory, latency] = ['throughput', 'memory', 'latency'].map(found)
  const MB = value => `${(value / 1e6).toFixed(1)} MB`
  const workers = list.map(({ pm_id: id, pid, pm2_env: { exec_mode: mode, status, restart_time: restarts }, monit }) =>
    [String(id), mode.replace('_mode', ''), String(pid), status, String(restarts), MB(monit.memory)])
  return {
    heading: 'every middleware on, in a cluster by pm2: autocannon, 100 connections',
    table: [['id', 'mode', 'pid', 'status', 'restarts', 'memory'], ...workers],
    notes: [
      rate && `${Math.round(rate.median).toLocaleString('en')} requests/s, ${short(latency.median)} ms, ` +
        `${MB(memory.median)} per worker (${MB(memory.min)}–${MB(memory.max)}), ${bytes} bytes per answer`,
      'the workers have all cores and share them with the load; CPU includes the daemon, which writes the log'
    ].filter(Boolean)
  }
}

// pm2 may say other things before.
function parse (text) {
  return JSON.parse(text.split('\n').findLast(line => line.startsWith('[{')))
}

async function freePort () {
  const server = net.createServer().listen(0)
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  await once(server, 'close')
  return port
}

// The daemon is no child of the lab, and its workers may outlive it.
function kill (daemon) {
  try {
    for (const pid of cpu.family(daemon())) process.kill(Number(pid), 'SIGKILL')
  } catch {} // it is gone, as it should be
}
