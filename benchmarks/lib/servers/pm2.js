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
const { adopt } = require('../run/conditions')
const { doubt, measure } = require('../run/measure')
const { row } = require('../run/result')
const { verify } = require('../run/verify')
const { middle } = require('../run/stats')
const { block } = require('../report/text')

const run = promisify(execFile)

/** An app of kone in pm2's cluster mode, with a daemon of its own: requests per second, and what `pm2 list` shows. */
exports.cluster = async function (lab, { name, app, version }, { expected, load, generator }) {
  const bin = path.join(root, 'node_modules/pm2/bin/pm2')
  if (!fs.existsSync(bin)) {
    lab.miss(name, 'npm install pm2 in the root')
    return
  }
  if (process.platform !== 'linux') {
    lab.miss(name, 'its CPU time and memory are read from /proc: Linux alone has that')
    return
  }

  const workload = 'pm2'
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
    await ours(app)
    const { body, bytes } = await verify(port, {}, expected)
    lab.result.contenders.push({ name, version: version() })
    const list = async () => parse((await pm2('jlist')).stdout)
    const workers = (await list()).map(({ pid }) => pid)
    const server = { name, port, usage: async () => cpu.usage(daemon()) }
    const cell = { workload, server, load }
    adopt(daemon())
    await generator.run({ ...load, port, seconds: lab.options.quick ? 1 : 3 }).catch(() => {}) // fails in the rounds, too
    await lab.rounds([cell], {
      doubt,
      async visit () {
        const sample = await measure(cell, generator)
        const bytes = workers.map(cpu.resident)
        return { ...sample, memory: bytes.reduce((sum, one) => sum + one, 0) / workers.length }
      }
    })
    lab.record([cell])
    const shown = (await pm2('list', '--no-color')).stdout.trim()
    console.log(`\n$ pm2 list\n${shown}`)
    Object.assign(lab.result.derived, { pm2: { instances, bytes, workers: (await list()).map(shownWorker), list: shown.split('\n') } })
    if (cell.rejected) return
    lab.result.rows.push(row({ workload, contender: name, metric: 'memory', unit: 'bytes/worker' }, cell.samples.map(one => one.memory)))
    const sample = middle(cell.samples)
    if (sample.perSecond) console.log(`\n${block({ name, body, sample })}`) // wrk has no figures of each second
  } catch (err) {
    lab.miss(name, `it does not start under pm2: ${(err.stderr || err.message).trim().split('\n')[0]}`)
  } finally {
    await ours('stop').catch(() => {})
    await pm2('kill').catch(() => {})
    kill(daemon)
    fs.rmSync(home, { recursive: true, force: true })
    forget()
  }
}

const shownWorker = ({ pm_id: id, pid, pm2_env: { exec_mode: mode, status, restart_time: restarts }, monit: { memory } }) =>
  ({ id, mode: mode.replace('_mode', ''), pid, status, restarts, memory })

// pm2 may print other lines before.
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
