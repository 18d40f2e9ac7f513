'use strict'

const cluster = require('node:cluster')

/*
 * node cluster.js WORKERS FILE ARGS: a contender in several processes, which the lab sees as one.
 */

const [, , workers, ...args] = process.argv

process.on('disconnect', end)
process.on('message', what => {
  requestAll(what).then(usages => process.send({
    cpu: usages.reduce((sum, { cpu }) => sum + cpu, process.cpuUsage().user + process.cpuUsage().system),
    resident: usages.reduce((sum, { resident }) => sum + resident, process.memoryUsage().rss)
  }))
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
  for (const { process } of Object.values(cluster.workers)) process.kill('SIGKILL')
  exitAfterWorkers()
}

function exitAfterWorkers () {
  if (Object.keys(cluster.workers).length === 0) process.exit()
}

function requestAll (what) {
  return Promise.all(Object.values(cluster.workers).map(worker => {
    worker.send(what)
    return message(worker)
  }))
}

function message (worker) {
  return new Promise(resolve => worker.once('message', resolve))
}
