'use strict'

const { Pieces } = require('./pieces')
const { nextTick } = require('../../shared/timers')

/**
 * The parts of a response that is sent before its end, be it by the sink of a stream or by node's code. The parts of
 * one tick are one write.
 */
class Parts extends Pieces {
  /** @param {import('./outgoing').Outgoing} outgoing */
  constructor (outgoing) {
    super()
    this.outgoing = outgoing
    this.isScheduled = false
    this.isDue = false // a tick has passed: node would have written these
  }

  /** Send two ticks later, together with the end of the response, which often comes by then. */
  schedule (isDue = false) {
    this.isDue ||= isDue
    if (this.isScheduled) return
    this.isScheduled = true
    nextTick(parts => parts.onTickEnd(), this)
  }

  send () {
    this.isDue = false
    if (this.isEmpty) return
    this.outgoing.responses.stream(this.outgoing)
  }

  /** The connection ends. @param {boolean} isAll also what this tick has written */
  sendDue (isAll) {
    if (isAll || this.isDue) this.send()
  }

  /** Node would have sent them by now. Waits one more tick, because the end of a stream often comes in it. */
  onTickEnd () {
    this.isDue = true
    nextTick(parts => parts.onNextTickEnd(), this)
  }

  onNextTickEnd () {
    this.isScheduled = false
    this.send()
  }
}

module.exports = { Parts }
