'use strict'

const { PAGE } = require('./settings')

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

/** @throws {Error} of the first one whose new worker has died */
function checkAll (renewals) {
  const failed = renewals.find(({ failure }) => failure !== null)
  if (failed !== undefined) throw failed.failure
}

module.exports = { Renewal, checkAll }
