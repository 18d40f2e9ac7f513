'use strict'

const { fork } = require('node:child_process')
const { existsSync } = require('node:fs')
const { join } = require('node:path')
const { PAGE } = require('./settings')
const untilReady = require('./until-ready')

/** ms for the app's listeners of 'exit', which end the programs that it has started. */
const END_TIMEOUT = 1000

const WORKER = join(__dirname, 'worker.js')

/**
 * Start the app in a process of its own, beside whatever serves its ports, and end it.
 *
 * @param {object} env of the workers
 * @param {{ cwd?: string, worker?: string, execArgv?: string[], signal?: AbortSignal }} [options] of the workers; the
 *   signal ends it
 * @return {Promise<'http'|'https'>} rejected with one line if it does not come to listen
 */
async function dryRun (env, { cwd = process.cwd(), worker = WORKER, execArgv = process.execArgv, signal } = {}) {
  checkFolder(cwd)
  const child = fork(worker, {
    execArgv,
    cwd,
    env: { ...env, KONE_DRY_RUN: '1' },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc']
  })
  const gone = new Promise(resolve => {
    for (const event of ['exit', 'error']) child.once(event, resolve) // of one that cannot be started only 'error'
  })
  const end = async () => {
    child.send?.('shutdown', () => {}) // not disconnect(): node emits no 'close' then
    await Promise.race([gone, new Promise(resolve => setTimeout(resolve, END_TIMEOUT).unref())])
    child.kill('SIGKILL')
    await gone
  }
  signal?.addEventListener('abort', end)
  try {
    return await untilReady(child, env.PORT)
  } finally {
    await end()
    signal?.removeEventListener('abort', end)
  }
}

/** Node reports that its own program is missing if the folder is. */
function checkFolder (cwd) {
  if (!existsSync(cwd)) throw new Error(`the folder ${cwd}, where it was started, does not exist: make it, or stop and start again${PAGE}`)
}

module.exports = { WORKER, checkFolder, dryRun }
