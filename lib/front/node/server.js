'use strict'

const { channel } = require('diagnostics_channel')
const { EventEmitter } = require('events')
const http = require('http')
const process = require('process')
const calls = require('../call')
const { isPatched } = require('./patches')

/**
 * Finds out what other code does with a server:
 *
 * - whether it needs what only node's own code does;
 * - whether it sees every request (agents, socket.io, a second 'request' listener). The front notifies it as node:http
 *   does: with node's own objects, by 'request' and node's diagnostics channels.
 */

const { IncomingMessage, ServerResponse } = http

/** Node then accepts what the front would reject: bytes after `Connection: close`. */
const LENIENT = [...process.execArgv, process.env.NODE_OPTIONS].join(' ').includes('--insecure-http-parser')

const { emit } = EventEmitter.prototype

const kUpgrade = Symbol.for('kone.upgrade')

const started = channel('http.server.request.start')
const created = channel('http.server.response.created') // published by node's constructor
const finished = channel('http.server.response.finish')

// ---- who needs node:http

const PATCHED = 'patched methods of http.IncomingMessage, OutgoingMessage or ServerResponse'

/** Why this server's requests cannot be handled by the front now; '' when they can. */
function reasonForNode (server, host) {
  if (isPatched()) return PATCHED
  if (server.maxRequestsPerSocket > 0) return 'server.maxRequestsPerSocket'
  // Since Node 24 `httpValidation` decides where it is set. The front leaves what 'relaxed' allows to node.
  const { httpValidation, insecureHTTPParser } = server
  const isInsecure = httpValidation === undefined ? insecureHTTPParser ?? LENIENT : httpValidation === 'insecure'
  if (isInsecure) return 'an insecure HTTP parser'
  if (server.httpAllowHalfOpen) return 'server.httpAllowHalfOpen'
  if (server.rejectNonStandardBodyWrites) return 'server.rejectNonStandardBodyWrites'
  return host.reason()
}

/** Why this server never gets a front: classes of its own, or options that only node's code knows. '' when it can. */
function special (server) {
  for (const symbol of Object.getOwnPropertySymbols(server)) {
    const value = server[symbol]
    if (symbol.description === 'IncomingMessage' && value !== IncomingMessage) return "the server's own IncomingMessage"
    if (symbol.description === 'ServerResponse' && value !== ServerResponse) return "the server's own ServerResponse"
    if (symbol.description === 'kUniqueHeaders' && value) return "the server's option uniqueHeaders"
    if (symbol.description === 'OptimizeEmptyRequestsOption' && value) {
      return "the server's option optimizeEmptyRequests"
    }
  }
  return ''
}

// ---- who sees every request

/** Does anybody but the host's listener, and that of drain.js, which needs no objects, see this server's requests? */
function isWatched (server, listener, drainListener) {
  const { request: listeners } = server._events // one, or a list
  const isAlone = listeners === listener || (drainListener !== null && Array.isArray(listeners) &&
    listeners.length === 2 && listeners[0] === drainListener && listeners[1] === listener)
  return !isAlone || isEmitPatched(server) ||
    started.hasSubscribers || created.hasSubscribers || finished.hasSubscribers
}

/** The `emit` that ../../engines/upgrade.js puts in its place is no patch: it calls the prototype's. */
function isEmitPatched (server) {
  return server.emit !== emit && (server.emit[kUpgrade] !== true || Object.getPrototypeOf(server).emit !== emit)
}

/** Is it a 'request' listener of the server, not one that another listener calls? */
function isListening (server, listener) {
  const { request: listeners } = server._events
  return listeners === listener || (Array.isArray(listeners) && listeners.includes(listener))
}

/** Publishes and emits what node does when a request has arrived. */
function request (server, req, res) {
  if (started.hasSubscribers) started.publish({ request: req, response: res, socket: req.socket, server })
  calls.emit(server, 'request', req, res)
}

/** Publishes what node does when a response was flushed. */
function responseFinished ({ res, incoming: { connection: { server, socket } } }) {
  if (finished.hasSubscribers) finished.publish({ request: res.req, response: res, socket, server })
}

module.exports = {
  PATCHED, reasonForNode, special, created, finished, isEmitPatched, isListening, isWatched, request, responseFinished
}
