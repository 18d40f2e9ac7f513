'use strict'

const { channel } = require('diagnostics_channel')
const { EventEmitter } = require('events')
const calls = require('../call')
const { isPatched } = require('./patches')

/**
 * Finds out whether other code sees every request of a server (agents, socket.io, a second 'request' listener),
 * and notifies it as node:http does: with node's own objects, by 'request' and node's diagnostics channels.
 */

const { emit } = EventEmitter.prototype

const started = channel('http.server.request.start')
const created = channel('http.server.response.created') // published by node's constructor
const finished = channel('http.server.response.finish')

/** Does anybody but the host's listener, and that of drain.js, which needs no objects, see this server's requests? */
function isWatched (server, listener, drainListener) {
  const { request } = server._events
  const isAlone = request === listener || (drainListener !== null && Array.isArray(request) && request.length === 2 &&
    request[0] === drainListener && request[1] === listener)
  return !isAlone || server.emit !== emit || isPatched() ||
    started.hasSubscribers || created.hasSubscribers || finished.hasSubscribers
}

/** Is it a 'request' listener of the server, not one that another listener calls? */
function isListening (server, listener) {
  const { request } = server._events
  return request === listener || (Array.isArray(request) && request.includes(listener))
}

/** Publishes and emits what node does when a request has arrived. */
function request (server, req, res) {
  if (res.socket !== null) calls.emit(res, 'socket', res.socket) // a patched `emit` sees it
  if (started.hasSubscribers) started.publish({ request: req, response: res, socket: req.socket, server })
  calls.emit(server, 'request', req, res)
}

/** Publishes what node does when a response was flushed. */
function responseFinished ({ res, incoming: { connection: { server, socket } } }) {
  if (finished.hasSubscribers) finished.publish({ request: res.req, response: res, socket, server })
}

module.exports = { created, finished, isListening, isWatched, request, responseFinished }
