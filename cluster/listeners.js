'use strict'

const net = require('node:net')
const { acceptQueued } = require('../lib/engines/drain')

/**
 * What the primary accepts connections on, for its workers. node:cluster makes a net.Server for each, and takes the
 * handle from it. It closes the handle when a message of the last worker comes, whoever waits in the queue then.
 */

const handles = new Set()

const { listen } = net.Server.prototype
net.Server.prototype.listen = function (...args) {
  this.once('listening', () => {
    const { _handle: handle } = this
    process.nextTick(() => {
      if (this._handle === null) handles.add(handle)
    })
  })
  return listen.apply(this, args)
}

/**
 * Accept no more for the workers: the clients that had connected before are handed to them first.
 *
 * @return {Promise}
 */
function stopListening () {
  return Promise.all(Array.from(handles, handle => new Promise(resolve => {
    acceptQueued(fn => {
      const { onconnection } = handle
      handle.onconnection = function (...args) {
        fn()
        return onconnection.apply(this, args)
      }
    }, () => {
      handle.close()
      resolve()
    })
  })))
}

const holders = new WeakMap() // connection → the worker's process that it was sent to last

/**
 * Close the connection that a worker has not taken when it dies. Node waits for its reply for ever, and keeps for ever
 * what the last worker has refused because it had closed its server; so the client waits.
 *
 * @param {cluster.Worker} worker
 */
function closeUntaken ({ process: child }) {
  const untaken = new Map() // number of node's message → connection
  const { send } = child
  child.send = function (message, handle, ...rest) {
    if (message?.act === 'newconn') {
      untaken.set(message.seq, handle)
      holders.set(handle, child)
    }
    return send.call(this, message, handle, ...rest)
  }
  child.on('internalMessage', ({ ack, accepted }) => {
    if (accepted) untaken.delete(ack)
  })
  child.once('close', () => {
    for (const handle of untaken.values()) if (holders.get(handle) === child) handle.close()
  })
}

module.exports = { closeUntaken, stopListening }
