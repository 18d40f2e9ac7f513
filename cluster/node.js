'use strict'

const cluster = require('node:cluster')
const { readFileSync } = require('node:fs')
const { where } = require('./address')
const control = require('./control')
const { checkFolder, dryRun } = require('./dry-run')
const errorLine = require('./error-line')
const { closeUntaken, stopListening } = require('./listeners')
const { checkPort } = require('./port')
const { Renewal, checkAll } = require('./renewal')
const { BEFORE, PAGE, REPLACED, forWorkers, killTimeout } = require('./settings')
const Slot = require('./slot')
const untilReady = require('./until-ready')

/**
 * Serve an app in workers of this process, which stays.
 *
 * @param {object} settings
 * @param {{ app: string, cwd: string, worker: string }} release its files
 * @return {Promise<{ by: string, protocol: string }>} by whom, when every worker listens
 * @throws {Error} with one line; no worker is left then
 */
async function start (settings, release) {
  const master = new Master(settings, release)
  const reload = () => master.reload()
  const stop = async () => {
    await master.stop()
    endControl()
    setImmediate(() => process.exit(0)) // the client is notified before
  }
  const endControl = await control.serve(settings.port, { status: async () => master.status(), reload, stop })

  process.on('SIGINT', stop)
  process.on('SIGTERM', stop)
  process.on('message', message => {
    if (message === 'shutdown') stop()
  })
  process.on('SIGHUP', () => {
    reload().catch(err => console.error(`kone: not reloaded: ${errorLine(err)}`))
  })

  let protocol
  try {
    protocol = await master.start()
  } catch (err) {
    if (master.stopping) await new Promise(() => {}) // stop() ends this process
    await master.stop()
    endControl()
    throw err
  }
  if (settings.reusePort && !isMigrating()) {
    console.error('kone: a reload will reset the connections that wait for an old worker: ' +
      `sysctl -w net.ipv4.tcp_migrate_req=1 hands them to another one${PAGE}`)
  }
  return { by: `node:cluster, pid ${process.pid}`, protocol }
}

/** Whether the kernel gives the queue of a closed socket to another socket of its port. */
function isMigrating () {
  try {
    return readFileSync('/proc/sys/net/ipv4/tcp_migrate_req', 'latin1').trim() === '1'
  } catch {
    return false // older than Linux 5.14
  }
}

/**
 * Ask the master of a port.
 *
 * @param {'status'|'reload'|'stop'} command
 * @param {{ port: number }} settings
 * @return {Promise<{ result: * }|undefined>} undefined if there is no result
 * @throws {Error} with one line
 */
function ask (command, { port }) {
  return control.ask(port, command)
}

class Master {
  constructor (settings, release) {
    this.settings = settings
    this.release = release
    this.env = forWorkers(settings, release.app)
    this.slots = Array.from({ length: settings.instances }, (_, index) => new Slot(this, index))
    this.draining = new Set()
    this.preceding = new Set() // workers with functions that precede the drain
    this.killAt = Infinity // since stop()
    this.reloading = Promise.resolve() // the start, too
    this.trying = null
    this.stopping = null
    this.stopped = new AbortController()
    // by its path: a new release may have replaced the folder, and in a removed one no process starts
    cluster.setupPrimary({ exec: release.worker, args: [], cwd: release.cwd })
  }

  start () {
    const started = this.fillAll()
    this.reloading = started.catch(() => {})
    return started
  }

  async fillAll () {
    await checkPort(this.settings)
    const protocol = await this.dryRun()
    await Promise.all(this.slots.map(slot => slot.renew()))
    return protocol
  }

  /** One reload after the other, each with the file as it is when its turn comes. */
  reload () {
    const reloaded = this.reloading.then(() => this.replaceAll())
    this.reloading = reloaded.catch(() => {})
    return reloaded
  }

  /**
   * An old worker drains when its successor has lived for a while; the next one need not wait for that. If a new worker
   * dies before the last one is replaced, the old workers that are left stay.
   */
  async replaceAll () {
    await this.dryRun()
    const renewals = []
    try {
      for (const slot of this.slots) {
        const old = slot.worker
        await slot.renew()
        renewals.push(new Renewal(this, slot, old))
        checkAll(renewals)
      }
      await Promise.all(renewals.map(({ lived }) => lived))
      checkAll(renewals)
    } catch (err) {
      for (const renewal of renewals) renewal.undo()
      throw err
    } finally {
      await Promise.all(renewals.map(({ ended }) => ended))
    }
  }

  /** Resolves when the last worker is gone. */
  stop () {
    if (this.stopping === null) {
      for (const slot of this.slots) slot.leave()
      this.stopping = this.endAll()
      this.stopped.abort()
    }
    return this.stopping
  }

  async endAll () {
    this.killAt = performance.now() + killTimeout(this.settings)
    const { drainTimeout } = this.settings
    const preceding = [...this.preceding].filter(worker => !this.draining.has(worker))
    await Promise.all(preceding.map(worker => before(worker, drainTimeout)))
    await stopListening()
    await Promise.all([this.trying, ...Object.values(cluster.workers).map(worker => this.end(worker))])
  }

  async dryRun () {
    this.checkStopping()
    const tried = dryRun({ ...process.env, ...this.env }, { ...this.release, signal: this.stopped.signal })
    this.trying = tried.catch(() => {})
    return await tried.catch(err => {
      this.checkStopping() // a stop ends it before it listens
      throw err
    })
  }

  async launch (index) {
    checkFolder(this.release.cwd)
    const worker = cluster.fork({ ...this.env, NODE_APP_INSTANCE: String(index) })
    worker.on('error', () => {}) // node responds to a worker that has died meanwhile: EPIPE
    closeUntaken(worker)
    worker.on('message', message => {
      if (message?.before) this.preceding.add(worker)
    })
    worker.once('exit', () => this.preceding.delete(worker))
    await untilReady(worker.process, this.settings.port)
    return worker
  }

  checkStopping () {
    if (this.stopping === null) return
    throw new Error(`the instance on ${where(this.settings.port)} is being stopped: start it again afterwards${PAGE}`)
  }

  /** Let a worker drain, and kill it if it hangs. */
  async end (worker) {
    if (worker.isDead()) return
    this.draining.add(worker)
    const left = this.stopping === null ? killTimeout(this.settings) : this.killAt - performance.now()
    const timer = setTimeout(() => worker.process.kill('SIGKILL'), left)
    if (worker.isConnected()) { // it may be on its way out
      if (this.stopping === null) worker.send(REPLACED, () => {})
      worker.send('shutdown', () => {})
    }
    await new Promise(resolve => worker.once('exit', resolve)) // once() of node:events rejects on 'error'
    clearTimeout(timer)
    this.draining.delete(worker)
  }

  status () {
    const workers = Object.values(cluster.workers).map(worker => ({
      pid: worker.process.pid,
      state: this.stateOf(worker)
    }))
    const waiting = this.slots.filter(slot => slot.worker === null && !slot.isStarting && this.stopping === null)
    return [...workers, ...waiting.map(() => ({ pid: '-', state: 'waiting' }))]
  }

  stateOf (worker) {
    if (this.draining.has(worker)) return 'draining'
    return this.slots.some(slot => slot.worker === worker) ? 'online' : 'starting'
  }
}

/** Let a worker call what precedes its drain, while it accepts. It may hang. */
async function before (worker, timeout) {
  let timer
  await new Promise(resolve => {
    timer = setTimeout(resolve, timeout)
    worker.on('message', message => {
      if (message === BEFORE) resolve()
    })
    worker.once('exit', resolve)
    if (worker.isConnected()) worker.send(BEFORE, () => {})
  })
  clearTimeout(timer)
}

module.exports = { start, ask }
