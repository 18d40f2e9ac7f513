'use strict'

const http = require('http')

/**
 * Finds out whether other code has patched the prototypes of node's requests and responses. Compares methods with
 * node's by identity, so that a patch is noticed at once when it comes and when it goes.
 */

const request = http.IncomingMessage.prototype
const { prototype: message } = http.OutgoingMessage
const response = http.ServerResponse.prototype

const {
  on: requestOn, emit: requestEmit, read, _read, push, pipe: requestPipe, resume, destroy: requestDestroy, _destroy,
  setTimeout: requestTimeout, _addHeaderLines, _dump
} = request
const {
  setHeader, getHeader, removeHeader, appendHeader, getHeaders, setHeaders, hasHeader, getHeaderNames,
  flushHeaders, _send, _storeHeader, addTrailers, setTimeout: responseTimeout,
  on: responseOn, emit: responseEmit, write, end, writeHead, _implicitHeader, assignSocket, detachSocket,
  destroy, writeEarlyHints, writeContinue, writeProcessing, cork, uncork, pipe: responsePipe,
  _writeRaw, _finish, _flush, _flushOutput, _isLenientHeaderValidation
} = response

/** Node's own methods whose source tells that they are node's. */
const OF_REQUEST = ['setTimeout', '_read', '_addHeaderLines', '_dump']
const OF_FIELDS = [
  'setHeader', 'setHeaders', 'appendHeader', 'getHeader', 'getHeaderNames', 'getHeaders', 'hasHeader', 'removeHeader'
]
const OF_MESSAGE = [
  'setTimeout', 'destroy', '_send', '_writeRaw', '_storeHeader', 'write', 'addTrailers', 'end', '_flush', '_flushOutput',
  'flushHeaders', 'pipe'
]
const OF_RESPONSE = [
  'assignSocket', 'detachSocket', 'writeContinue', 'writeProcessing', 'writeEarlyHints', '_implicitHeader', 'writeHead'
]

/**
 * Was a tool loaded before kone, so that the methods above are its patches? Then there is an own method where node's
 * class inherits one, or a method that does not look like node's: it has another name, or calls one with `apply`.
 */
const wereFieldsPatched = owns(response, OF_FIELDS) || changed(message, OF_FIELDS)
const wasPatched = wereFieldsPatched || owns(request, ['on', 'emit', 'read', 'push', 'pipe', 'resume', 'destroy']) ||
  owns(response, ['on', 'emit', ...OF_MESSAGE]) || owns(message, ['on', 'emit']) ||
  changed(request, OF_REQUEST) || changed(message, OF_MESSAGE) || changed(response, OF_RESPONSE)

/** The same for what the front replaces. */
const REPLACED = ['_writeRaw', '_storeHeader', '_flush', '_flushOutput']
const wasReplaced = owns(response, REPLACED) || changed(message, REPLACED) || changed(response, ['assignSocket', 'detachSocket'])

function owns (proto, names) {
  return names.some(name => Object.hasOwn(proto, name))
}

function changed (proto, names) {
  return names.some(name => {
    if (proto[name] === undefined) return false // Node 20 and 26 differ
    const source = Function.prototype.toString.call(proto[name])
    return !source.startsWith(`function ${name}(`) || /\.apply\(|\.call\(|=>/.test(source)
  })
}

/**
 * Must all calls of methods of node's objects be node's, because one is patched? Written out, because V8 optimises
 * comparisons of constant properties away.
 */
function isPatched () {
  return wasPatched || areFieldsPatched() ||
    request.on !== requestOn || request.emit !== requestEmit || request.read !== read ||
    request._read !== _read || request.push !== push || request.pipe !== requestPipe ||
    request.resume !== resume || request.destroy !== requestDestroy ||
    request._destroy !== _destroy || request.setTimeout !== requestTimeout ||
    request._addHeaderLines !== _addHeaderLines || request._dump !== _dump ||
    response.flushHeaders !== flushHeaders || response._send !== _send || response.addTrailers !== addTrailers ||
    response.setTimeout !== responseTimeout || response.writeEarlyHints !== writeEarlyHints ||
    response.writeContinue !== writeContinue || response.writeProcessing !== writeProcessing ||
    response.on !== responseOn || response.emit !== responseEmit || response.write !== write ||
    response.end !== end || response.writeHead !== writeHead || response._implicitHeader !== _implicitHeader ||
    response.destroy !== destroy || response.cork !== cork || response.uncork !== uncork ||
    response.pipe !== responsePipe ||
    response._isLenientHeaderValidation !== _isLenientHeaderValidation // Node 26 has it
}

/** Must calls that set or read header fields be node's? */
function areFieldsPatched () {
  return wereFieldsPatched ||
    response.setHeader !== setHeader || response.getHeader !== getHeader ||
    response.hasHeader !== hasHeader || response.removeHeader !== removeHeader ||
    response.appendHeader !== appendHeader || response.setHeaders !== setHeaders ||
    response.getHeaders !== getHeaders || response.getHeaderNames !== getHeaderNames
}

/** Is a method patched that the front replaces, so that it would not see the response? */
function isReplaced () {
  return wasReplaced || response._storeHeader !== _storeHeader || response._writeRaw !== _writeRaw ||
    response._finish !== _finish || response._flush !== _flush || response._flushOutput !== _flushOutput ||
    response.assignSocket !== assignSocket || response.detachSocket !== detachSocket
}

/** What node calls when a response ends. */
const NODES = { emit: responseEmit, end, writeHead, uncork, _implicitHeader, _send, _isLenientHeaderValidation }

module.exports = { NODES, areFieldsPatched, isPatched, isReplaced }
