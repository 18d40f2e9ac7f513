'use strict'

const { spawn } = require('node:child_process')

/*
 * Both ends of the channel between the lab and a generator that is a Node process.
 */

/** The lab's end: loads go to the process of a file, samples come from it. */
exports.worker = function (file, { pin }) {
  const command = [...pin ? ['taskset', '-c', pin] : [], process.execPath, file]
  const child = spawn(command[0], command.slice(1), { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })

  function run ({ mark, ...load }) { // a function is no message
    return new Promise((resolve, reject) => {
      const settle = (act, value) => {
        child.off('exit', ended).off('error', reject).off('message', received)
        act(value)
      }
      const ended = code => settle(reject, new Error(`${file} ended with code ${code}`))
      const received = ({ sample, error }) => error ? settle(reject, new Error(error)) : settle(resolve, sample)
      child.once('exit', ended).once('error', reject).once('message', received)
      child.send(load, err => { if (err) settle(reject, err) })
    })
  }

  return { run, hasEnded: () => child.exitCode !== null || child.signalCode !== null, stop: () => child.kill('SIGKILL') }
}

/** The process's end: `run(load)` gives a promise of a sample. The process ends with the lab. */
exports.serve = function (run) {
  process.on('disconnect', () => process.exit())
  process.on('SIGINT', () => {}) // Ctrl-C reaches all processes of the terminal; the lab ends its workers
  process.on('message', load => {
    run(load).then(sample => process.send({ sample }), err => process.send({ error: err.message }))
  })
}
