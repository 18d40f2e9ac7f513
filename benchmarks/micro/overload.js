'use strict'

const { fork } = require('node:child_process')
const { once } = require('node:events')
const Crowd = require('../lib/load/crowd')
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
const LOADS = [0.5, 1, 2]

if (process.send) serve()
else report()

function serve () {
  const turns = Number(process.env.TURNS)
  const app = new (kone('.'))({ env: 'production' })
  if (process.env.WITH) app.use(kone('middleware/overload')({ maxEventLoopDelay: LIMIT }))
  app.use(async ctx => {
    if (process.env.LATER) await new Promise(resolve => setImmediate(resolve))
    ctx.body = String(compute(turns))
  })
  const server = app.listen(0, '127.0.0.1', () => process.send(server.address().port))
}

async function report () {
  const TURNS = turnsOf(10)
  const rows = [['handler', 'overload()', 'load', 'sent/s', 'accepted/s', 'refused', 'p50, ms', 'p99, ms']]
  for (const LATER of ['', 'yes']) {
    for (const WITH of ['', 'yes']) {
      for (const load of LOADS) {
        const { requests, errors, p50, p99 } = await withServer({ TURNS, LATER, WITH }, load)
        rows.push([LATER ? 'after an await' : 'at once', WITH ? `${LIMIT} ms` : 'none', `${load * 100} %`,
          ...[(requests + errors) / SECONDS, requests / SECONDS].map(rate => rate.toFixed(0)),
          `${(errors / (requests + errors) * 100).toFixed(0)} %`, p50.toFixed(0), p99.toFixed(0)])
      }
    }
  }
  console.log(`Node ${process.versions.node}, rounds of ${SECONDS} s\n\n${table(rows)}`)
}

// Four connections say what the server can do, and warm it up; two hundred send a multiple of that.
async function withServer (env, load) {
  const child = fork(__filename, [], { env: { ...process.env, ...env } })
  const [port] = await once(child, 'message')
  const crowd = new Crowd({ connections: 200 })
  try {
    await crowd.open({ port, connections: 4 })
    const { requestsPerSecond } = await crowd.closed({ seconds: 2 })
    await crowd.open({ port, connections: 200 })
    await crowd.greet()
    return await crowd.paced({ rate: requestsPerSecond * load, seconds: SECONDS })
  } finally {
    crowd.stop()
    child.kill()
    await once(child, 'exit')
  }
}

function compute (turns) {
  let sum = 0
  for (let i = 0; i < turns; i++) sum = (sum * 31 + i) | 0
  return sum
}

/** How many turns of the loop take `ms`. */
function turnsOf (ms) {
  const count = 50_000_000
  const start = performance.now()
  compute(count)
  return Math.round(count * ms / (performance.now() - start))
}
