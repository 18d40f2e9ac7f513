'use strict'

/*
 * What the rule owners lets the files of lib write, by their path below lib.
 */

/** Fields that node does not document; only these files may write them. */
const UNDOCUMENTED = [
  {
    files: /^core\/file-stream\.js$/,
    fields: ['end', '_read', '_destroy', 'pos', 'bytesRead', 'highWaterMark'] // of an fs.ReadStream, and of its state
  },
  { files: /^engines\/drain\.js$/, fields: ['shouldKeepAlive', 'closeIdleConnections'] },
  {
    files: /^front\/node\/|^engines\/(?:fetch\/node|objects\/ended)\.js$/,
    fields: [
      'server', '_httpMessage', 'push', 'unshift', 'setEncoding', 'destroy', 'end', '_final', 'readableFlowing', 'needReadable', // of a socket
      'httpVersionMajor', 'httpVersionMinor', 'httpVersion', 'upgrade', 'joinDuplicateHeaders', // of a request
      'complete', 'aborted', '_dumped', '_consuming',
      'dataEmitted', 'ended', 'endEmitted', 'destroyed', 'closed', 'closeEmitted', 'errored', 'errorEmitted', // of its state
      '_closed', 'socket', 'shouldKeepAlive', 'strictContentLength', 'outputData', 'outputSize', // of a response
      'rawHeaders', '_read', 'sendDate', // of fetch's, too
      '_storeHeader', '_writeRaw', '_finish', '_hasBody', '_headerSent', '_keepAliveTimeout', '_maxRequestsPerSocket', '_onPendingData'
    ]
  }
]

/** Assignments to a stranger that stay: file → what is assigned to → why. */
const EXCEPTIONS = {
  'context.js': {
    'err[key]': 'Koa documents err.status and err.headerSent for app.on("error")'
  },
  'engines/fetch/node.js': {
    'res[kNeedDrain]': 'node clears this mark of its own in its listener for the socket’s drain'
  },
  'front/index.js': {
    'Object.defineProperty(object, name, { value, writable: true, configurable: true, enumerable: false })':
      'closeIdleConnections() and closeAllConnections() of a server close the sockets of the front, too'
  },
  'front/node/handover.js': {
    'server._events[event]': 'on() and off() emit events that the code that has created the server may listen for',
    'listeners[listeners.indexOf(replaced)]': 'the same, where the server has more listeners'
  },
  'front/node/response.js': {
    'res[kNeedDrain]': 'node clears this mark of its own in its listener for the socket’s drain',
    'res[kOutHeaders]': 'where node keeps the fields of a response that this file makes'
  },
  'front/node/probe.js': {
    'Object.assign(server, { maxHeaderSize, insecureHTTPParser, httpValidation, maxHeadersCount })':
      'documented, of a server that it made',
    'this.parser.onIncoming': 'of a parser of its own: node’s own function would emit the request',
    'Object.assign(result, { rawPacket, message, bytesParsed })': 'an error of this parser gets what node gives it'
  },
  'front/node/socket.js': {
    'socket[kAsyncId]': 'node’s own agent sets it when it resets a handle'
  },
  'front/input/headers.js': {
    'pattern.lastIndex': 'the state of a regexp that prepare() made'
  },
  'core/stream.js': {
    'sink.write': 'the header section is built in write(), which throws where nobody can catch it',
    'sink.end': 'the same',
    'Object.assign(sink, { write, end })': 'puts the sink’s own back'
  }
}

/**
 * @param {string} file below lib, with slashes
 * @return {{ fields: string[], exceptions: object }}
 */
module.exports = function strangers (file) {
  const fields = UNDOCUMENTED.find(({ files }) => files.test(file))?.fields ?? []
  return { fields, exceptions: EXCEPTIONS[file] ?? {} }
}

module.exports.files = Object.keys(EXCEPTIONS)
