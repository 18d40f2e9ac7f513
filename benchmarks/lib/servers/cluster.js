'use strict'

const cluster = require('node:cluster')
const { once } = require('node:events')

/*
 * node cluster.js WORKERS FILE ARGS: a contender in several processes, which the lab sees as one.
 */

const [, , workers, ...args] = process.argv
const all = () => Object.values(cluster.workers)
const message = worker => once(worker, 'message').then(([value]) => value)

process.on('disconnect', end)
process.on('message', async what => {
  const replies = all().map(message)
  for (const worker of all()) worker.send(what)
  const own = { cpu: process.cpuUsage().user + process.cpuUsage().system, resident: process.memoryUsage().rss }
  const usages = [own, ...await Promise.all(replies)]
  const sum = name => usages.reduce((total, usage) => total + usage[name], 0)
  process.send({ cpu: sum('cpu'), resident: sum('resident') })
})

cluster.setupPrimary({ exec: require.resolve('./host'), args })
Promise.all(Array.from({ length: Number(workers) }, () => message(cluster.fork())))
  .then(([{ port }]) => process.send({ port }))

let isEnding = false

// Without one of its workers it is not the server that was asked for.
cluster.on('exit', (worker, code) => {
  if (isEnding) exitAfterWorkers()
  else if (code !== 0) process.exit(code || 1)
})

// The workers first: the CPU time of those that outlive their parent would be that of no process of the lab.
function end () {
  isEnding = true
  for (const { process } of all()) process.kill('SIGKILL')
  exitAfterWorkers()
}

function exitAfterWorkers () {
  if (all().length === 0) process.exit()
}
