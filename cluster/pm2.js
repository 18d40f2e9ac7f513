'use strict'

const { accessSync, constants, mkdirSync } = require('node:fs')
const { homedir } = require('node:os')
const { join, resolve } = require('node:path')
const { idOf, where } = require('./address')
const { dryRun } = require('./dry-run')
const { checkPort } = require('./port')
const { PAGE, forWorkers, killTimeout, START_TIMEOUT } = require('./settings')

/**
 * Serve an app in pm2's cluster mode, as `kone-PORT` in its list. pm2 is the user's: it is looked for
 * where the command is given and beside kone, and loaded when it is needed.
 */

/** @return {boolean} whether pm2 is there */
function isThere () {
  return find() !== undefined
}

/**
 * @param {object} settings
 * @param {{ app: string, cwd: string, worker: string }} release its files
 * @return {Promise<{ by: string, protocol: string }>} by whom, when every worker listens
 * @throws {Error} with one line; no worker is left then, nor a daemon that was not there before
 */
async function start (settings, release) {
  const env = { ...forWorkers(settings, release.app), PM2_PROGRAMMATIC: '' }
  checkHome()
  await checkPort(settings)
  const protocol = await dryRun({ ...process.env, ...env }, release)

  const pm2 = load()
  const daemon = await isRunning(pm2)
  await call(pm2, 'connect')
  const name = nameOf(settings)
  try {
    if ((await list(pm2, name)).length > 0) await call(pm2, 'delete', name) // stopped or broken: the port is free
    await call(pm2, 'start', { ...options(settings, release), name, env })
    const workers = await list(pm2, name)
    if (workers.length < settings.instances || !workers.every(isOnline)) {
      throw new Error(`not every worker came to listen on ${where(settings.port)}: pm2 logs ${name}${PAGE}`)
    }
  } catch (err) {
    await call(pm2, 'delete', name).catch(() => {})
    if (!daemon) await call(pm2, 'killDaemon').catch(() => {})
    throw err
  }
  return { by: `pm2, as ${name}`, protocol }
}

/**
 * Ask pm2 about a port.
 *
 * @param {'status'|'reload'|'stop'} command
 * @param {{ port: number }} settings
 * @return {Promise<{ result: * }|undefined>} undefined if it has no such instance
 * @throws {Error} with one line
 */
async function ask (command, settings) {
  const pm2 = load()
  if (!await isRunning(pm2)) return undefined
  await call(pm2, 'connect')
  const name = nameOf(settings)
  const workers = await list(pm2, name)
  if (workers.length === 0) return undefined
  return { result: await commands[command](pm2, name, workers, settings) }
}

const commands = {
  async status (pm2, name, workers) {
    return workers.map(({ pid, pm2_env: { status } }) => ({ pid, state: status }))
  },

  async reload (pm2, name, workers, { minLife }) {
    const { env, pm_cwd: cwd, pm_exec_path: worker, node_args: execArgv } = workers[0].pm2_env
    await dryRun(env, { cwd, worker, execArgv })
    await call(pm2, 'reload', name)
    await new Promise(resolve => setTimeout(resolve, minLife)) // pm2 ends the old workers when the new ones listen
    const now = await list(pm2, name)
    const old = new Set(workers.map(worker => worker.pid))
    if (now.length < workers.length || !now.every(isOnline) || now.some(({ pid }) => old.has(pid))) {
      throw new Error(`not every worker was replaced: pm2 logs ${name}${PAGE}`)
    }
  },

  async stop (pm2, name) {
    await call(pm2, 'delete', name)
  }
}

const nameOf = ({ port }) => `kone-${idOf(port)}`

const isOnline = ({ pm2_env: { status, unstable_restarts: restarts } }) => status === 'online' && restarts === 0

function options (settings, { cwd, worker }) {
  return {
    script: worker,
    cwd,
    exec_mode: 'cluster',
    instances: settings.instances,
    node_args: process.execArgv,
    // it listens when it says so, and drains before it is killed
    wait_ready: true,
    listen_timeout: START_TIMEOUT,
    kill_timeout: killTimeout(settings),
    // the app's own children are the app's
    treekill: false,
    // never given up, but not tried without a pause
    exp_backoff_restart_delay: 100,
    max_restarts: Number.MAX_SAFE_INTEGER,
    // nothing of pm2's in the app: both are paid for per request
    pmx: false,
    disable_source_map_support: true
  }
}

function find () {
  try {
    return require.resolve('pm2', { paths: [process.cwd(), __dirname] })
  } catch {
    return undefined
  }
}

function load () {
  const path = find()
  if (path === undefined) throw new Error(`KONE_CLUSTER=pm2, but pm2 is not installed: npm i -D pm2${PAGE}`)
  process.env.PM2_PROGRAMMATIC = 'true' // no banner, no tables
  return require(path)
}

function checkHome () {
  const home = resolve(process.env.PM2_HOME || join(homedir(), '.pm2'))
  try {
    mkdirSync(home, { recursive: true })
    accessSync(home, constants.W_OK)
  } catch (err) {
    throw new Error(`pm2 cannot write to its folder: ${err.message}: set PM2_HOME${PAGE}`)
  }
}

/** Without starting a daemon, which connecting does. */
function isRunning (pm2) {
  return new Promise(resolve => pm2.Client.pingDaemon(resolve))
}

async function list (pm2, name) {
  return (await call(pm2, 'list')).filter(worker => worker.name === name)
}

function call (pm2, method, ...args) {
  return new Promise((resolve, reject) => {
    pm2[method](...args, (err, result) => {
      if (err) reject(err instanceof Error ? err : new Error(`pm2 ${method}: ${err.msg || err}${PAGE}`))
      else resolve(result)
    })
  })
}

module.exports = { isThere, start, ask }
