'use strict'

const { fork } = require('node:child_process')
const { once } = require('node:events')
const http = require('node:http')
const kone = require('../lib/servers/kone')
const { table } = require('../lib/report/text')

/*
 * How long accepted requests take when more arrive than an app can respond to, with overload() and without it. A
 * handler computes for 10 ms. Requests are sent at a fixed rate, whether there are responses or not, and a latency counts
 * from the time at which a request was due. A round begins on a server that has responded to everything.
 *
 *    node benchmarks/micro/overload.js [seconds of a round]
 */

const SECONDS = Number(process.argv[2]) || 5
const LIMIT = 100 // ms
const CONNECTIONS = 200
const LOADS = [0.5, 1, 2]

if (process.send) serve()
else report()

function serve () {
  const turns = Number(process.env.TURNS)
  const app = new (kone('.'))({ env: 'production' })
  if (process.env.WITH) app.use(kone('middleware/overload')({ maxEventLoopDelay: LIMIT }))
  app.use(async ctx => {
    if (process.env.LATER) await new Promise(resolve => setImmediate(resolve))
    let sum = 0
    for (let i = 0; i < turns; i++) sum = (sum * 31 + i) | 0
    ctx.body = String(sum)
  })
  const server = app.listen(0, '127.0.0.1', () => process.send(server.address().port))
}

async function report () {
  const turns = turnsOf(10)
  const rows = [['handler', 'overload()', 'load', 'sent/s', 'accepted/s', 'refused', 'p50, ms', 'p99, ms']]
  for (const later of ['', 'yes']) {
    const env = { ...process.env, TURNS: turns, LATER: later }
    for (const WITH of ['', 'yes']) {
      for (const load of LOADS) {
        const { sent, took, refused } = await withServer({ ...env, WITH }, async port => open(port, await closed(port) * load))
        took.sort((a, b) => a - b)
        const at = share => took[Math.min(took.length - 1, Math.floor(took.length * share))].toFixed(0)
        rows.push([later ? 'after an await' : 'at once', WITH ? `${LIMIT} ms` : 'none', `${load * 100} %`, (sent / SECONDS).toFixed(0),
          (took.length / SECONDS).toFixed(0), `${(refused / sent * 100).toFixed(0)} %`, at(0.5), at(0.99)])
      }
    }
  }
  console.log(`Node ${process.versions.node}, rounds of ${SECONDS} s\n\n${table(rows)}`)
}

async function withServer (env, run) {
  const child = fork(__filename, [], { env })
  const [port] = await once(child, 'message')
  try {
    return await run(port)
  } finally {
    child.kill()
    await once(child, 'exit')
  }
}

/** How many turns of the loop take `ms`. */
function turnsOf (ms) {
  const count = 50_000_000
  const start = performance.now()
  let sum = 0
  for (let i = 0; i < count; i++) sum = (sum * 31 + i) | 0
  return Math.round(count * ms / (performance.now() - start)) + (sum & 0)
}

/** Requests per second of a few connections, one after another: what the server can do, and warms it up. */
async function closed (port) {
  const agent = new http.Agent({ keepAlive: true })
  const start = performance.now()
  let count = 0
  await Promise.all(Array.from({ length: 4 }, async () => {
    for (; performance.now() - start < 2000; count++) await ask(port, agent)
  }))
  agent.destroy()
  return count / (performance.now() - start) * 1000
}

/** `rate` requests per second, whatever becomes of them. */
async function open (port, rate) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: CONNECTIONS, maxFreeSockets: CONNECTIONS })
  await Promise.all(Array.from({ length: CONNECTIONS }, () => ask(port, agent)))
  const start = performance.now()
  const took = []
  const all = []
  let refused = 0
  for (let sent = 0; sent < rate * SECONDS;) {
    for (; sent < rate * SECONDS && performance.now() - start >= sent / rate * 1000; sent++) {
      const due = start + sent / rate * 1000
      all.push(ask(port, agent).then(status => {
        if (status === 503) refused++
        else took.push(performance.now() - due)
      }))
    }
    await new Promise(resolve => setTimeout(resolve, 1))
  }
  await Promise.all(all)
  agent.destroy()
  return { sent: all.length, took, refused }
}

function ask (port, agent) {
  return new Promise((resolve, reject) => {
    http.get({ port, host: '127.0.0.1', agent }, res => res.resume().on('end', () => resolve(res.statusCode))).on('error', reject)
  })
}
