'use strict'

const cluster = require('node:cluster')

// node cluster.js WORKERS FILE ARGS: a contender in several processes, which the lab sees as one.
const [, , workers, exec, ...args] = process.argv

process.on('disconnect', () => process.exit())
process.on('message', what => {
  all(what).then(answers => process.send({
    cpu: answers.reduce((sum, { cpu }) => sum + cpu, process.cpuUsage().user + process.cpuUsage().system),
    resident: answers.reduce((sum, { resident }) => sum + resident, process.memoryUsage().rss)
  }))
})

cluster.setupPrimary({ exec, args })
Promise.all(Array.from({ length: Number(workers) }, () => answer(cluster.fork())))
  .then(([{ port }]) => process.send({ port }))

// A worker that ends leaves fewer to measure: better none.
cluster.on('exit', (worker, code) => {
  if (code !== 0) process.exit(code || 1)
})

function all (what) {
  return Promise.all(Object.values(cluster.workers).map(worker => {
    worker.send(what)
    return answer(worker)
  }))
}

function answer (worker) {
  return new Promise(resolve => worker.once('message', resolve))
}
