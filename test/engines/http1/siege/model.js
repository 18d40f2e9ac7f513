'use strict'

const { bytesOf } = require('../acts')
const { KINDS } = require('./handlers')
const { HANGS, LIMIT, isStalled, letterOf, patternOf } = require('./plan')

/*
 * What a client may expect of a plan, and for which reasons a server may end a connection.
 *
 * Times are compared with slack: both processes share a machine with others, so what happened later than it could
 * have is never a finding, and what happened a little earlier than it should have is not one either.
 */

/** Of a timeout that must have passed, the share that has to be seen. */
const SHARE = 0.8

/** Between what happens in one process and what the other notices of it, in ms. */
const LAG = 50

/**
 * The response that a request gets when nothing interferes. `whole` false: its body never ends; `kills`: its handler ends
 * the connection; `hangs`: it never comes; `pattern`: what the body repeats, or null.
 */
function expected (request, client, index) {
  const { method, handler, body } = request
  const { kind, size, destroy } = handler
  const letter = letterOf(client, index)
  const pattern = Buffer.from(patternOf(kind, letter))
  const response = { status: 200, length: size * pattern.length, pattern, whole: true, hangs: false }
  const text = (status, phrase) => Object.assign(response, { status, length: phrase.length, pattern: Buffer.from(phrase) })
  const stalled = body !== null && isStalled(request)

  const refused = handler.read === 'limit' && body !== null && body.length > LIMIT
  if (refused) text(413, `the body is longer than ${LIMIT} bytes`)
  else if (kind === '204' || kind === '304') Object.assign(response, { status: Number(kind), length: 0 })
  else if (kind === 'nothing') text(404, 'Not Found')
  else if (kind === 'throw') text(500, 'Internal Server Error')
  else if (kind === 'json') Object.assign(response, { length: size + '{"letter":""}'.length, pattern: null })
  else if (kind === 'pieces') Object.assign(response, { length: piecesOf(letter).length, pattern: piecesOf(letter) })
  else if (kind === 'failing stream' || kind === 'stuck') response.whole = method === 'HEAD'
  if (method === 'HEAD') response.length = 0
  response.hangs = (HANGS.includes(kind) && !refused) || (stalled && waitsForBody(handler.read, body))
  response.kills = (destroy !== null && !refused) || (kind === 'failing stream' && !refused)
  return response
}

/** The bytes of a response that is written in pieces of every encoding. */
function piecesOf (letter) {
  return Buffer.concat(KINDS.pieces(letter).filter(([name]) => name === 'write').map(([, value, encoding]) => bytesOf(value, encoding)))
}

/** Does a handler that reads in this way wait for more of a body than is sent? */
function waitsForBody (read, { length, chunked, sent }) {
  if (read === 'limit') return chunked ? sent <= LIMIT : length <= LIMIT
  if (read === 'half') return sent === 0
  return read === 'body' || read === 'stream'
}

/** What is wrong with a response; '' if nothing is. */
function mismatch (response, request, client, index) {
  const { status, length, whole } = expected(request, client, index)
  const id = response.headers['x-id']
  if (id !== undefined && id !== `${client}.${index}`) return `the response of ${id}`
  if (response.status !== status) return `status ${response.status} in place of ${status}`
  if (!whole) return 'whole, though its body failed'
  if (response.length !== length) return `${response.length} bytes in place of ${length}`
  if (response.wrong !== -1) return `byte ${response.wrong} of ${length} is wrong: ${response.text}`
  return ''
}

/** Statuses that a server sends without asking the app. */
const BARE = [400, 408, 431, 503]

/** Why the server may have ended this connection at `at`, give or take `lag`, in its words; none is a finding. */
function reasons (seen) {
  return Object.keys(REASONS).filter(name => REASONS[name](seen))
}

const REASONS = {
  'a request or a response says close' ({ client, record, logs }) {
    const said = record.responses.whole.some(({ headers }) => headers.connection === 'close')
    return said || logs.some(({ request }) => client.requests[request].close || client.requests[request].handler.close)
  },

  'a handler ended it' ({ client, index, logs }) {
    return logs.some(({ request }) => expected(client.requests[request], index, request).kills)
  },

  'the client closed its side' ({ record }) {
    return record.endedBy === 'client'
  },

  'server.timeout' ({ conversation: { server: { timeout } }, client, record, at }) {
    if (timeout === 0) return false
    const slow = client.read.hold >= timeout * SHARE || client.read.rate > 0 || client.write.pause >= timeout * SHARE
    // What was written while the timeout was about to be called is received, and then the connection ends.
    return slow || Math.max(record.silence, at - record.activeAt) >= timeout * SHARE - LAG / 2
  },

  // Only between two messages: never with a response under way.
  'server.keepAliveTimeout' ({ conversation: { server: { keepAliveTimeout } }, record, logs, at, lag, lost }) {
    const last = lastSign(record, logs)
    const overtaken = record.sent.every(({ endedAt }, i) => i < logs.length || endedAt === 0 || at - endedAt < lag)
    return keepAliveTimeout > 0 && logs.length > 0 && !lost && overtaken && at - last >= keepAliveTimeout * SHARE
  },

  // Nobody reads the rest of such a body: the connection is kept, but no request behind it is read.
  'server.keepAliveTimeout behind a body that is not read whole' ({ conversation, client, record, logs, at }) {
    const { keepAliveTimeout } = conversation.server
    const unread = logs.some(({ request }) => {
      const { body, handler } = client.requests[request]
      return body !== null && (handler.read === 'half' || (handler.read === 'limit' && body.length > LIMIT))
    })
    return unread && keepAliveTimeout > 0 && at - lastSign(record, logs) >= keepAliveTimeout * SHARE
  },

  'server.requestTimeout or headersTimeout' ({ conversation: { server }, client, record, openedAt, whole, at, lag }) {
    const shortest = Math.min(server.headersTimeout || Infinity, server.requestTimeout || Infinity)
    const late = since => at - since >= shortest * SHARE - lag
    // A connection without a request counts as one that has begun.
    if (record.sent.length === 0) return late(openedAt)
    const slow = client.read.rate > 0 || client.read.hold > 0
    return record.sent.some(({ startedAt, endedAt }, i) => {
      const incomplete = endedAt === 0 || endedAt > at - lag
      // Sent whole, but perhaps not read: its body has no reader yet, or responses pile up in front of it.
      const unread = i >= whole && (slow || client.requests[i].body !== null)
      return (incomplete || unread) && late(i === 0 ? openedAt : startedAt || Infinity)
    })
  },

  'closeAllConnections()' ({ report: { calledAt }, conversation: { call }, at, lag }) {
    return calledAt > 0 && call.name === 'closeAllConnections' && at >= calledAt - lag
  },

  // Which server.close() calls, too.
  'closeIdleConnections()' ({ report: { calledAt }, conversation: { call }, lost, at, lag }) {
    return calledAt > 0 && ['closeIdleConnections', 'close'].includes(call.name) && !lost && Math.abs(at - calledAt) <= lag
  },

  'the deadline of app.close()' ({ conversation: { drain }, report: { drainedAt }, at }) {
    return drain !== null && drainedAt > 0 && at >= drainedAt + drain.timeout * SHARE
  },

  'closed before the server accepted it' ({ conversation: { call }, report: { drainedAt, calledAt }, connection }) {
    return connection === undefined && (drainedAt > 0 || (call?.name === 'close' && calledAt > 0))
  },

  'silent for the grace of app.close()' ({ conversation: { drain }, report: { drainedAt }, record, logs, at, lost }) {
    if (drain === null || drainedAt === 0 || at < drainedAt || lost) return false
    const last = Math.max(drainedAt, lastSign(record, logs))
    return at - last >= drain.grace * SHARE - LAG / 2
  },

  // It takes back what the client has not read: node destroys a socket whose input is not read, and so do we.
  'reset behind a response that closes' ({ record, logs }) {
    return record.error === 'ECONNRESET' && logs.some(({ draining }) => draining)
  }
}

/** When a request or the end of a response was last seen on a connection. */
function lastSign ({ openedAt }, logs) {
  return Math.max(openedAt, ...logs.flatMap(({ startedAt, finished }) => [startedAt, ...finished.map(one => one.at)]))
}

module.exports = { BARE, LAG, expected, mismatch, reasons }
