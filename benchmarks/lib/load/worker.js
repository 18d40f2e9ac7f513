'use strict'

const { spawn } = require('node:child_process')

/** A generator that is a Node process: it takes loads and gives samples by messages. */
module.exports = function worker (file, { pin }) {
  const command = [process.execPath, file]
  if (pin) command.unshift('taskset', '-c', pin)
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

  return { run, stop: () => child.kill('SIGKILL') }
}
