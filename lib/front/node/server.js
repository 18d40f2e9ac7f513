'use strict'

const { channel } = require('diagnostics_channel')
const { EventEmitter } = require('events')
const http = require('http')
const process = require('process')
const calls = require('../call')

/**
 * Finds out what other code does with a server, and with node's requests and responses:
 *
 * - whether it needs what only node's own code does;
 * - whether it sees every request (agents, socket.io, a second 'request' listener). The front notifies it as node:http
 *   does: with node's own objects, by 'request' and node's diagnostics channels;
 * - whether it has patched the prototypes. Their methods are compared with node's by identity, so that a patch is
 *   noticed at once when it comes and when it goes.
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
function requestArrived (server, req, res) {
  if (started.hasSubscribers) started.publish({ request: req, response: res, socket: req.socket, server })
  calls.emit(server, 'request', req, res)
}

/** Publishes what node does when a response was flushed. */
function responseFinished ({ res, incoming: { connection: { server, socket } } }) {
  if (finished.hasSubscribers) finished.publish({ request: res.req, response: res, socket, server })
}

// ---- who has patched node's prototypes

const { prototype: requests } = IncomingMessage
const { prototype: messages } = http.OutgoingMessage
const { prototype: responses } = ServerResponse

const {
  on: requestOn, emit: requestEmit, read, push, pipe: requestPipe, resume, destroy: requestDestroy, _read, _destroy,
  setTimeout: requestTimeout, _addHeaderLines, _addHeaderLine, _addHeaderLineDistinct, _dump, _dumpAndCloseReadable
} = requests
const {
  on: responseOn, emit: responseEmit, setHeader, setHeaders, appendHeader, getHeader, getHeaderNames,
  getRawHeaderNames, getHeaders, hasHeader, removeHeader, setTimeout: responseTimeout, destroy, write, end, cork,
  uncork, pipe: responsePipe, flushHeaders, addTrailers, assignSocket, detachSocket, writeHead, writeHeader,
  writeContinue, writeProcessing, writeEarlyHints, writeInformation, _implicitHeader, _isLenientHeaderValidation,
  _renderHeaders, _storeHeader, _send, _writeRaw, _finish, _flush, _flushOutput
} = responses

/** Node's own methods whose source tells that they are node's. */
const OF_REQUEST = ['setTimeout', '_read', '_addHeaderLines', '_addHeaderLine', '_addHeaderLineDistinct', '_dump']
const OF_MESSAGE = [
  'setHeader', 'setHeaders', 'appendHeader', 'getHeader', 'getHeaderNames', 'getRawHeaderNames', 'getHeaders',
  'hasHeader', 'removeHeader', 'setTimeout', 'destroy', 'write', 'end', 'pipe', 'flushHeaders', 'addTrailers',
  '_renderHeaders', '_storeHeader', '_send', '_writeRaw', '_flush', '_flushOutput'
]
const OF_RESPONSE = [
  'assignSocket', 'detachSocket', 'writeHead', 'writeContinue', 'writeProcessing', 'writeEarlyHints',
  'writeInformation', '_implicitHeader'
]

/**
 * Was a tool loaded before kone, so that the methods above are its patches? Then there is an own method where node's
 * class inherits one, or a method that does not look like node's: it has another name, or calls one with `apply`.
 */
const wasPatched = owns(requests, ['on', 'emit', 'read', 'push', 'pipe', 'resume', 'destroy']) ||
  owns(responses, ['on', 'emit', ...OF_MESSAGE]) || owns(messages, ['on', 'emit']) ||
  changed(requests, OF_REQUEST) || changed(messages, OF_MESSAGE) || changed(responses, OF_RESPONSE)

function owns (proto, names) {
  return names.some(name => Object.hasOwn(proto, name))
}

function changed (proto, names) {
  return names.some(name => {
    if (proto[name] === undefined) return false // Node's versions differ
    const source = Function.prototype.toString.call(proto[name])
    return !source.startsWith(`function ${name}(`) || /\.apply\(|\.call\(|=>/.test(source)
  })
}

/**
 * Is a method patched? Written out, because V8 then replaces the comparisons with a check that nothing has changed
 * (measured: 4 ns in place of 900 for a loop over the names).
 */
function isPatched () {
  return wasPatched ||
    requests.on !== requestOn || requests.emit !== requestEmit || requests.read !== read || requests.push !== push ||
    requests.pipe !== requestPipe || requests.resume !== resume || requests.destroy !== requestDestroy ||
    requests._read !== _read || requests._destroy !== _destroy || requests.setTimeout !== requestTimeout ||
    requests._addHeaderLines !== _addHeaderLines || requests._addHeaderLine !== _addHeaderLine ||
    requests._addHeaderLineDistinct !== _addHeaderLineDistinct || requests._dump !== _dump ||
    requests._dumpAndCloseReadable !== _dumpAndCloseReadable || responses.on !== responseOn ||
    responses.emit !== responseEmit || responses.setHeader !== setHeader || responses.setHeaders !== setHeaders ||
    responses.appendHeader !== appendHeader || responses.getHeader !== getHeader ||
    responses.getHeaderNames !== getHeaderNames || responses.getRawHeaderNames !== getRawHeaderNames ||
    responses.getHeaders !== getHeaders || responses.hasHeader !== hasHeader ||
    responses.removeHeader !== removeHeader || responses.setTimeout !== responseTimeout ||
    responses.destroy !== destroy || responses.write !== write || responses.end !== end || responses.cork !== cork ||
    responses.uncork !== uncork || responses.pipe !== responsePipe || responses.flushHeaders !== flushHeaders ||
    responses.addTrailers !== addTrailers || responses.assignSocket !== assignSocket ||
    responses.detachSocket !== detachSocket || responses.writeHead !== writeHead ||
    responses.writeHeader !== writeHeader || responses.writeContinue !== writeContinue ||
    responses.writeProcessing !== writeProcessing || responses.writeEarlyHints !== writeEarlyHints ||
    responses.writeInformation !== writeInformation || responses._implicitHeader !== _implicitHeader ||
    responses._isLenientHeaderValidation !== _isLenientHeaderValidation ||
    responses._renderHeaders !== _renderHeaders || responses._storeHeader !== _storeHeader ||
    responses._send !== _send || responses._writeRaw !== _writeRaw || responses._finish !== _finish ||
    responses._flush !== _flush || responses._flushOutput !== _flushOutput
}

/** Packages that patch them in production, on purpose. */
const AGENTS = /[\\/]node_modules[\\/](?:dd-trace|newrelic|elastic-apm-node)[\\/]/

/** Has the process loaded such an agent? */
function hasAgent () {
  return Object.keys(require.cache ?? {}).some(file => AGENTS.test(file))
}

module.exports = {
  PATCHED,
  created,
  finished,
  hasAgent,
  isEmitPatched,
  isListening,
  isWatched,
  reasonForNode,
  requestArrived,
  responseFinished,
  special
}
