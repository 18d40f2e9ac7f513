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

const handedTo = new WeakMap() // connection → the process that has got it last

/**
 * Close the connection that a worker has not taken before it dies: node waits for its reply for ever, and so does the
 * client.
 *
 * @param {cluster.Worker} worker
 */
function closeUntaken ({ process: child }) {
  const last = new Map() // listener → connection: node hands a worker one at a time
  const { send } = child
  child.send = function (message, handle, ...rest) {
    if (message.act === 'newconn') {
      last.set(message.key, handle)
      handedTo.set(handle, child)
    }
    return send.call(this, message, handle, ...rest)
  }
  child.once('close', () => {
    for (const handle of last.values()) if (handedTo.get(handle) === child) handle.close()
  })
}

module.exports = { closeUntaken, stopListening }
