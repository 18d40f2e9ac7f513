'use strict'

const { channel } = require('node:diagnostics_channel')
const { EventEmitter } = require('node:events')
const calls = require('../call')

/**
 * Finds out whether other code sees every request of a server (agents, socket.io, a second 'request' listener),
 * and notifies it as node:http does: with node's own objects, by 'request' and node's diagnostics channels.
 */

const { emit } = EventEmitter.prototype

const started = channel('http.server.request.start')
const created = channel('http.server.response.created') // published by node's constructor
const finished = channel('http.server.response.finish')

/**
 * Does anybody but the host see this server's requests?
 *
 *    isWatched(server, listener, null) // true when server.emit is patched
 *
 * @param {http.Server} server
 * @param {Function} listener of the host, for 'request'
 * @param {Function|null} own a 'request' listener before it that needs no objects
 * @return {boolean}
 */
function isWatched (server, listener, own) {
  return !isAlone(server._events.request, listener, own) || server.emit !== emit ||
    started.hasSubscribers || created.hasSubscribers || finished.hasSubscribers
}

function isAlone (listeners, listener, own) {
  if (listeners === listener) return true
  return own !== null && Array.isArray(listeners) && listeners.length === 2 &&
    listeners[0] === own && listeners[1] === listener
}

/** Publishes and emits what node does when a request has arrived. */
function request (server, req, res) {
  if (started.hasSubscribers) started.publish({ request: req, response: res, socket: req.socket, server })
  calls.emit(server, 'request', req, res)
}

/** Publishes what node does when a response was flushed. */
function responseFinished (server, socket, res) {
  if (finished.hasSubscribers) finished.publish({ request: res.req, response: res, socket, server })
}

/** @return {boolean} whether a subscriber gets each response when it is constructed */
function seesCreated () {
  return created.hasSubscribers
}

/** @return {boolean} whether a subscriber gets each response that was flushed */
function seesFinished () {
  return finished.hasSubscribers
}

module.exports = { isWatched, seesFinished, request, responseFinished, seesCreated }
