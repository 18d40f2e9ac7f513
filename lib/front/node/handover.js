'use strict'

const http = require('http')
const { emit } = require('../call')
const { nextTick } = require('../../shared/timers')

/** Node's own connection listener, the first one of every http.Server. */
const [nodeListener] = new http.Server().listeners('connection')

/**
 * Puts `listener` in the place of `replaced`, without the events 'newListener' and 'removeListener': the code that has
 * created the server may listen for them.
 */
function replaceListener (server, event, replaced, listener) {
  const listeners = server._events[event]
  if (listeners === replaced) server._events[event] = listener
  else listeners[listeners.indexOf(replaced)] = listener
}

/**
 * Gives a socket to node:http.
 *
 * @param {Buffer[]} [reads] of this socket that node must parse first
 * @param {string[]} [removed] events for which other code wants no listener of the server
 */
function handOver (server, socket, reads = [], removed = []) {
  const { timeout } = socket
  const readers = socket.rawListeners('data')
  const isSniffed = socket.listenerCount('readable') > 0
  const isDirect = reads.length === 1 && !isSniffed && !socket._readableState.ended
  if (reads.length > 0) readOn(socket)
  if (isDirect) { // without the Readable's machinery, which costs more than node's parser
    socket.readableFlowing = true
    nextTick(pass, socket, reads[0])
  } else if (reads.length > 0) {
    if (!isSniffed) socket.readableFlowing = null
    // Otherwise these reads are emitted before the socket's 'resume', and that event undoes a pause of
    // node's parser: Node 20 would buffer the whole of a chunked body that nobody reads.
    socket._readableState.needReadable = isSniffed
    // Read by read, because node's parser treats bytes after an Upgrade by where a read ends.
    for (const chunk of reads.reverse()) socket.unshift(chunk)
  }
  for (const listener of readers) socket.off('data', listener)
  nodeListener.call(server, socket)
  for (const event of removed) {
    if (event !== 'data' || readers.length > 0) socket.off(event, socket.listeners(event).at(-1))
  }
  // Node's parser would read the handle itself, but for listeners that are added now.
  for (const listener of readers) socket.on('data', listener)
  if (isSniffed) socket.on('data', ignore).off('data', ignore)
  if (reads.length > 0 && socket.timeout !== timeout) socket.setTimeout(timeout || 0)
}

/** Other code than node gets it: a listener for 'data' makes it flow. */
function release (socket) {
  readOn(socket)
  socket.readableFlowing = null
}

/** Reading may have stopped, which the socket's Readable does not know. */
function readOn (socket) {
  if (socket._handle && !socket._handle.reading) socket._read(0)
}

/** Node's listener gets the bytes, and others that were added. */
function pass (socket, chunk) {
  if (socket.readableFlowing) emit(socket, 'data', chunk)
  else socket.unshift(chunk)
}

function ignore () {}

module.exports = { nodeListener, replaceListener, handOver, release }
