'use strict'

const errorLine = require('./error-line')

/** ms until a worker that died is replaced: doubled each time that it dies young. */
const FIRST_WAIT = 100
const LONGEST_WAIT = 15000

/** ms after which a worker is not young any more. */
const YOUTH = 10000

/** The place of one worker, filled again when it dies. */
module.exports = class Slot {
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
