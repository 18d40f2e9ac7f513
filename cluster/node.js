'use strict'

const cluster = require('node:cluster')
const { readFileSync } = require('node:fs')
const { where } = require('./address')
const control = require('./control')
const { checkFolder, dryRun } = require('./dry-run')
const errorLine = require('./error-line')
const { closeUntaken, stopListening } = require('./listeners')
const { checkPort } = require('./port')
const { BEFORE, PAGE, REPLACED, forWorkers, killTimeout } = require('./settings')
const untilReady = require('./until-ready')

/** ms until a worker that died is replaced: doubled each time that it dies young. */
const FIRST_WAIT = 100
const LONGEST_WAIT = 15000

/** ms after which a worker is not young any more. */
const YOUTH = 10000

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

/** A new worker beside the old one, until it has lived for a while. */
class Renewal {
  constructor (master, slot, old) {
    this.master = master
    this.slot = slot
    this.old = old
    this.worker = slot.worker
    this.failure = null
    this.ended = null // the old worker's end
    this.lived = new Promise(resolve => {
      const timer = setTimeout(resolve, master.settings.minLife)
      const { worker } = this
      let reason
      worker.on('message', message => { reason ??= message?.died }) // the app may send anything, null too
      const lose = () => {
        const { exitCode, signalCode } = worker.process
        clearTimeout(timer)
        reason ??= `it ended with ${signalCode ?? `exit code ${exitCode}`}`
        this.failure = new Error(`a new worker died, and no other one is replaced: ${reason}${PAGE}`)
        resolve()
      }
      // What it said last comes before its 'disconnect', and may come after its 'exit'.
      const end = () => worker.isConnected() ? worker.once('disconnect', lose) : lose()
      if (worker.isDead()) end()
      else worker.once('exit', end)
    }).then(() => {
      if (this.failure === null && this.old !== null && master.stopping === null) this.ended = master.end(this.old)
    })
  }

  /** The old worker serves on. */
  undo () {
    if (this.ended !== null || this.old === null || this.master.stopping !== null) return
    this.slot.putBack(this.old)
    this.old = null
    this.ended = this.master.end(this.worker)
  }
}

function checkAll (renewals) {
  const failed = renewals.find(({ failure }) => failure !== null)
  if (failed !== undefined) throw failed.failure
}

/** The place of one worker, filled again when it dies. */
class Slot {
  constructor (master, index) {
    this.master = master
    this.index = index
    this.worker = null
    this.turn = 0 // whoever fills or leaves it last has it
    this.isStarting = false // the worker of this turn
    this.since = 0
    this.wait = FIRST_WAIT
    this.timer = null
  }

  /** Put a new worker here. The one before goes on until somebody ends it. */
  async renew () {
    this.master.checkStopping()
    clearTimeout(this.timer)
    const turn = ++this.turn
    this.isStarting = true
    const worker = await this.master.launch(this.index).catch(err => {
      this.master.checkStopping()
      if (turn === this.turn) {
        this.isStarting = false
        if (this.worker === null) this.retry() // whoever asked for it
      }
      throw err
    })
    if (turn !== this.turn) return this.master.end(worker)
    this.isStarting = false
    this.fill(worker)
  }

  fill (worker) {
    this.worker = worker
    this.since = performance.now()
    let isLost = false
    const lose = () => {
      if (this.worker !== worker) return
      isLost = true
      this.worker = null
      if (performance.now() - this.since >= YOUTH) this.wait = FIRST_WAIT
      if (!this.isStarting) this.retry() // otherwise its successor comes, or the failure of that retries
    }
    worker.once('disconnect', () => { // also by the app, with cluster.worker.disconnect(): it serves nobody any more
      lose()
      if (isLost) this.master.end(worker)
    })
    worker.once('exit', (code, signal) => {
      lose()
      if (isLost) console.error(`kone: worker ${worker.process.pid} ended with ${signal || `exit code ${code}`}`)
    })
  }

  retry () {
    const { turn } = this
    clearTimeout(this.timer)
    this.timer = setTimeout(() => this.renew().catch(err => {
      if (this.turn === turn + 1) console.error(`kone: ${errorLine(err)}`)
    }), this.wait)
    this.wait = Math.min(this.wait * 2, LONGEST_WAIT)
  }

  /** A worker that was here before. */
  putBack (worker) {
    this.turn++
    clearTimeout(this.timer)
    this.isStarting = false
    if (worker.isDead() || !worker.isConnected()) {
      this.worker = null
      return this.retry()
    }
    this.worker = worker
  }

  leave () {
    this.turn++
    clearTimeout(this.timer)
    this.worker = null
  }
}

module.exports = { start, ask }
