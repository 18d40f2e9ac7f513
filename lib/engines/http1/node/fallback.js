'use strict'

const http = require('http')
const { isReplaced } = require('./patches')

/** Finds out whether other code needs what only node's own code does. */

const { IncomingMessage, ServerResponse } = http

/** Node then accepts what the front would reject: bytes after `Connection: close`. */
const LENIENT = [...process.execArgv, process.env.NODE_OPTIONS].join(' ').includes('--insecure-http-parser')

/** Why this server's requests cannot be handled by the front now; '' when they can. */
function reason (server, host) {
  if (isReplaced()) return "patched methods of ServerResponse that kone's front replaces"
  if (server.maxRequestsPerSocket > 0) return 'server.maxRequestsPerSocket'
  // Since Node 24 `httpValidation` decides where it is set. The fast path leaves what 'relaxed' allows to node.
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

module.exports = { reason, special }
