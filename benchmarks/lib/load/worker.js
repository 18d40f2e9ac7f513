'use strict'

const { fork } = require('node:child_process')
const { spawn } = require('node:child_process')

/**
 * A generator that is a Node process: it takes loads and answers samples by messages.
 *
 * @param {string} file
 * @param {{ pin?: string }} on the cores to stay on
 * @return {{ run: (load: object) => Promise<object>, stop: () => void }}
 */
module.exports = function worker (file, { pin }) {
  const stdio = ['ignore', 'ignore', 'inherit', 'ipc']
  const child = pin
    ? spawn('taskset', ['-c', pin, process.execPath, file], { stdio })
    : fork(file, { stdio })

  function run (load) {
    return new Promise((resolve, reject) => {
      const ended = code => reject(new Error(`${file} ended with code ${code}`))
      child.once('exit', ended)
      child.once('message', ({ sample, error }) => {
        child.off('exit', ended)
        if (error) reject(new Error(error))
        else resolve(sample)
      })
      child.send(load)
    })
  }

  return { run, stop: () => child.kill('SIGKILL') }
}
