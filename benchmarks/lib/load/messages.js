'use strict'

/** The worker's end of worker.js: loads come in, samples go out, and the worker ends with the lab. */
module.exports = function serve (run) {
  process.on('disconnect', () => process.exit())
  process.on('SIGINT', () => {}) // Ctrl-C reaches all processes of the terminal; the lab ends its workers
  process.on('message', load => {
    run(load).then(sample => process.send({ sample }), err => process.send({ error: err.message }))
  })
}
