'use strict'

const http = require('http')

/**
 * Finds out whether other code needs node's own objects for every request. Compares methods with node's by identity, so
 * that a patch is noticed at the next read.
 */

const { IncomingMessage, OutgoingMessage, ServerResponse } = http
const request = IncomingMessage.prototype
const message = OutgoingMessage.prototype
const response = ServerResponse.prototype

const {
  on: requestOn, emit: requestEmit, read, _read, push, pipe, resume, destroy: requestDestroy, _destroy,
  setTimeout: requestTimeout
} = request
const {
  setHeader, getHeader, removeHeader, appendHeader, getHeaders, setHeaders, hasHeader, getHeaderNames,
  flushHeaders, _send, _storeHeader, addTrailers, setTimeout: responseTimeout
} = message
const {
  on: responseOn, emit: responseEmit, write, end, writeHead, _implicitHeader, assignSocket, detachSocket,
  destroy, writeEarlyHints
} = response

/**
 * A tool that was loaded before kone has patched already. Its patch is an own method where node's class inherits
 * one, or a method that does not look like node's: it has another name, or calls a function with `apply`.
 */
const wrapped = owns(request, 'on', 'emit', 'read', 'push', 'pipe', 'resume', 'destroy') ||
  owns(response, 'on', 'emit', 'write', 'end', 'setHeader', 'getHeader', 'removeHeader', 'flushHeaders', 'destroy') ||
  changed(request, '_read', '_addHeaderLines') ||
  changed(message, 'setHeader', 'getHeader', 'removeHeader', 'appendHeader', 'getHeaders', 'write', 'end', '_send') ||
  changed(response, 'writeHead', '_implicitHeader', 'assignSocket', 'detachSocket')

function owns (proto, ...names) {
  return names.some(name => Object.hasOwn(proto, name))
}

function changed (proto, ...names) {
  return names.some(name => {
    const fn = proto[name]
    return fn.name !== name || /\.apply\(|\.call\(|=>/.test(Function.prototype.toString.call(fn))
  })
}

/** Node then accepts what the front would reject: bytes after `Connection: close`. */
const LENIENT = [...process.execArgv, process.env.NODE_OPTIONS].join(' ').includes('--insecure-http-parser')

/** Why this server's requests cannot be handled by the front now; '' when they can. */
function reason (server, host) {
  if (isPatched()) return 'patched methods of IncomingMessage, OutgoingMessage or ServerResponse'
  if (server.maxRequestsPerSocket > 0) return 'server.maxRequestsPerSocket'
  // Since Node 24 `httpValidation` decides where it is set. The fast path leaves what 'relaxed' allows to node.
  const { httpValidation, insecureHTTPParser } = server
  const isInsecure = httpValidation === undefined ? insecureHTTPParser ?? LENIENT : httpValidation === 'insecure'
  if (isInsecure) return 'an insecure HTTP parser'
  if (server.httpAllowHalfOpen) return 'server.httpAllowHalfOpen'
  if (server.rejectNonStandardBodyWrites) return 'server.rejectNonStandardBodyWrites'
  return host.reason()
}

/** Written out, because V8 optimises comparisons of constant properties away. */
function isPatched () {
  return wrapped ||
    request.on !== requestOn || request.emit !== requestEmit || request.read !== read ||
    request._read !== _read || request.push !== push || request.pipe !== pipe ||
    request.resume !== resume || request.destroy !== requestDestroy ||
    request._destroy !== _destroy || request.setTimeout !== requestTimeout ||
    response.setHeader !== setHeader || response.getHeader !== getHeader ||
    response.hasHeader !== hasHeader || response.removeHeader !== removeHeader ||
    response.appendHeader !== appendHeader || response.setHeaders !== setHeaders ||
    response.getHeaders !== getHeaders || response.getHeaderNames !== getHeaderNames ||
    response.flushHeaders !== flushHeaders || response._send !== _send ||
    response._storeHeader !== _storeHeader || response.addTrailers !== addTrailers ||
    response.setTimeout !== responseTimeout || response.writeEarlyHints !== writeEarlyHints ||
    response.on !== responseOn || response.emit !== responseEmit || response.write !== write ||
    response.end !== end || response.writeHead !== writeHead ||
    response._implicitHeader !== _implicitHeader || response.assignSocket !== assignSocket ||
    response.detachSocket !== detachSocket || response.destroy !== destroy
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

module.exports = { reason, special }
