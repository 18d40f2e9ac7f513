'use strict'

const fs = require('node:fs')
const { codes } = require('../../../../lib/core/errors')

const { BARE, LAG, expected, mismatch, reasons } = require('./model')
const { ENDS, isStalled } = require('./plan')

/*
 * What holds after every conversation, on every engine. A finding is { what, where, detail }: `what` is one of the
 * sentences below and stays the same when a conversation is made smaller.
 */

const MB = 1024 * 1024

/** What two kernels may hold between a server and a client that does not read, in bytes. */
const KERNEL = ['rmem', 'wmem'].map(most).reduce((sum, size) => sum + size) + 2 * MB

function most (name) {
  try {
    return Number(fs.readFileSync(`/proc/sys/net/ipv4/tcp_${name}`, 'latin1').trim().split(/\s+/)[2])
  } catch {
    return 8 * MB
  }
}

/** The header section of a response is never shorter, in bytes. */
const HEADERS = 60

/** How much later than it must app.close() may close an idle connection, and resolve, in ms. */
const SLOW = 1000

/** Listeners of one event on one socket. */
const LISTENERS = 12

/** Errors that a handler may see when it reads a body. */
const BODY_ERRORS = ['KONE_ERR_BODY_ABORTED', 'KONE_ERR_BODY_LIMIT', 'KONE_ERR_BODY_USED', 'ECONNRESET',
  'ERR_STREAM_PREMATURE_CLOSE', 'ABORT_ERR']

/** What app.on('error') may get: nobody but the siege and its clients fails. */
const APP_ERRORS = /^(?:EBROKEN|ETHROWN|ECONNRESET|EPIPE|ABORT_ERR|ERR_STREAM_(?:PREMATURE_CLOSE|DESTROYED)|ERR_HTTP_REQUEST_TIMEOUT|HPE_\w+)$/

/**
 * Judge one conversation on one engine.
 *
 *    judge(conversation, records, report).forEach(({ what, where, detail }) => …)
 */
function judge (conversation, records, report) {
  const findings = []
  const find = (what, where, detail = '', measured = false) => findings.push({ what, where, detail, measured })
  records.forEach((record, index) => judgeConnection(conversation, record, index, report, find))
  judgeServer(report, find)
  return findings
}

function judgeConnection (conversation, record, index, report, find) {
  const client = conversation.clients[index]
  const logs = report.logs.filter(log => log.client === index)
  const where = `client ${index}`
  if (record.refused) {
    const isClosed = conversation.call?.name === 'close' && report.calledAt > 0
    if (report.drainedAt === 0 && !isClosed) find('a connection is refused', where, record.error)
    return
  }
  const connection = report.connections.find(({ port }) => port === record.port)
  const at = Math.min(connection?.closedAt || Infinity, record.endedAt)
  // Whichever process was less busy knows when it began.
  const openedAt = Math.min(record.openedAt, connection?.openedAt ?? Infinity)
  const { whole, bare } = judgeResponses(client, index, record, find)
  const lost = record.responses.partial !== null || record.responses.begun || logs.some(({ request }) => request >= whole)
  const seen = { conversation, client, index, record, connection, logs, report, openedAt, at, whole, lost }

  const stuck = logs.some(({ request }) => {
    return expected(client.requests[request], index, request).hangs || client.requests[request].handler.read === 'half'
  })
  if (record.impatient && !stuck) find('neither a response nor a cut', where, `${whole} of ${record.sent.length} responses`)
  // By so much a process that had no core may be early or late.
  const slack = Math.max(0, report.stalled - blocks(conversation))
  const holds = at => reasons({ ...seen, at, lag: LAG + slack }).length > 0
  if (record.endedBy === 'server' && !holds(at) && !holds(at + slack)) {
    find(lost || bare ? 'a response is cut without a reason' : 'a connection is closed without a reason', where,
      `${whole} of ${record.sent.length} responses whole, ${record.responses.bytes} bytes, ${record.error || 'FIN'}` +
      `${bare ? `, ${bare}` : ''}, ${at - openedAt} ms after connecting`)
  }
  judgeDrain(seen, where, find)
  for (const log of logs) judgeRequest(seen, log, find)
}

/** For how long handlers block the event loop, in ms. */
function blocks ({ clients }) {
  const busy = clients.flatMap(({ requests }) => requests).filter(({ handler }) => handler.kind === 'busy')
  return busy.reduce((sum, { handler }) => sum + handler.size, 0)
}

/** app.close() waits for no connection whose responses the client has. */
function judgeDrain ({ conversation: { drain }, client: { requests }, record, connection, report, whole }, where, find) {
  if (drain === null || connection === undefined || whole < requests.length || record.sent.length < requests.length) return
  const late = connection.closedAt - Math.max(report.drainedAt, record.activeAt) - drain.grace
  if (report.drainedAt > 0 && late > SLOW) find('app.close() waits for an idle connection', where, `${late} ms longer than its grace`, true)
}

/** @return {{ whole: number, bare: number }} how many responses are whole, and the status of the server's own */
function judgeResponses (client, index, record, find) {
  const { responses } = record
  if (responses.error !== null) find('the bytes are not HTTP', `client ${index}`, responses.error)
  for (let i = 0; i < responses.whole.length; i++) {
    const response = responses.whole[i]
    const request = client.requests[i]
    if (request === undefined || !record.sent[i]?.startedAt) {
      if (BARE.includes(response.status) && response.headers['x-id'] === undefined) return { whole: i, bare: response.status }
      find('a response without a request', `client ${index}`, `${response.status} ${response.text}`)
      return { whole: i, bare: 0 }
    }
    const wrong = mismatch(response, request, index, i)
    if (wrong === '') continue
    // The app sends none of these: the server does, and then closes for a reason.
    if (BARE.includes(response.status) && response.headers['x-id'] === undefined) return { whole: i, bare: response.status }
    find('a wrong response', `request ${index}.${i}`, wrong)
  }
  return { whole: responses.whole.length, bare: 0 }
}

function judgeRequest (seen, log, find) {
  const { conversation, conversation: { server }, client, index, record, logs, whole, at } = seen
  const request = client.requests[log.request]
  const where = `request ${index}.${log.request} (${request.method} ${request.handler.kind} ${request.handler.size})`
  const received = log.request < whole
  // A connection with unread input is closed by RST, which takes flushed bytes back.
  const unread = record.error !== '' || record.sent.length > logs.length || client.requests.some(({ body }) => body !== null)
  const arrives = record.endedBy === 'server' && !unread
  if (!log.ownStore) find('a foreign async store', where)
  if (log.starts !== 1) find('a request is dispatched twice', where, `${log.starts} times`)

  if (log.finished.length !== log.listeners) find('onFinished is not called exactly once', where, `${log.finished.length} times`)
  if (server.finish && log.events !== 1) find('\'finish\' is not emitted exactly once', where, `${log.events} times`)
  for (const { sent, error, message, flushed } of log.finished) {
    if (sent) {
      const least = leastBytes(client, index, log.request)
      // What a TLS socket has encrypted and not sent is not known.
      if (flushed < least && conversation.arrival !== 'tls') find('sent, but not flushed', where, `${flushed} of at least ${least} bytes had left the process`)
      else if (!received && arrives) find('sent, but not received', where, `${record.responses.bytes} bytes of at least ${least}`)
      else if (!received && least - record.responses.bytes > KERNEL) find('sent, but no kernel can hold it', where, `${least - record.responses.bytes} bytes are missing`)
    } else {
      if (!Object.hasOwn(codes, error)) find('lost without a code of lib/core/errors.js', where, `${error}: ${message}`)
      // A batch that is cut in its middle is lost as a whole, because nobody can know how much of it was received;
      // of a stream the client may have the last byte before the server knows that it was the last.
      const atOnce = ['string', 'utf8', 'latin1', 'wide', 'surrogates', 'bytes', 'buffer', 'json'].includes(request.handler.kind)
      if (received && atOnce && record.endedBy === 'client' && client.end.how === ENDS.WAIT) find('lost, but received', where, error)
    }
  }

  if (log.res.finish > 1) find('\'finish\' of res more than once', where, `${log.res.finish} times`)
  const isQueued = log.request > 0 && request.pipelined && !received
  if (log.watched && log.res.close !== 1) {
    find('\'close\' of res not exactly once', where, `${log.res.close} times${isQueued ? ', queued' : ''}`)
  }

  if (log.bodies.length !== log.reads) find('reading the body does not settle', where, `${request.handler.read}, ended ${at - log.startedAt} ms later`)
  for (const { length, good, error } of log.bodies) {
    const whole = request.body === null ? 0 : request.body.length
    if (error !== '' && !BODY_ERRORS.includes(error)) find('reading the body fails without a known code', where, error)
    if (error === '' && (length !== whole || !good || (isStalled(request)))) {
      find('the body is not the one that was sent', where, `${length} of ${whole} bytes${good ? '' : ', foreign ones'}, read ${request.handler.read}`)
    }
  }
}

/** That must have left the process when this response is flushed: responses go out in order. */
function leastBytes (client, index, last) {
  let bytes = 0
  for (let i = 0; i <= last; i++) {
    const { length, whole, hangs } = expected(client.requests[i], index, i)
    if (!whole || hangs) return Infinity
    bytes += HEADERS + length
  }
  return bytes
}

function judgeServer (report, find) {
  const { open, closed, drainedAt, closedAt, descriptors, resources, listeners, warnings, errors } = report
  const [name, number] = report.socketListeners
  if (open > 0) find('connections stay open when all clients are gone', 'server', `${open} of ${report.connections.length}`)
  if (!closed) find('app.close() does not resolve', 'server')
  const last = Math.max(drainedAt, ...report.connections.map(({ closedAt }) => closedAt))
  if (drainedAt > 0 && closedAt - last > SLOW) find('app.close() takes longer than its last connection', 'server', `${closedAt - last} ms`, true)
  if (descriptors > 0) find('descriptors are left behind', 'server', String(descriptors))
  if (Object.keys(resources).length > 0) find('handles or timers are left behind', 'server', JSON.stringify(resources))
  if (Object.keys(listeners).length > 0) find('listeners are left behind', 'server', JSON.stringify(listeners))
  if (warnings.length > 0) find('a process warning', 'server', warnings[0])
  if (number > LISTENERS) find('listeners pile up on a socket', 'server', `${number} × '${name}'`)
  const unexpected = errors.find(({ code }) => !APP_ERRORS.test(code) && !Object.hasOwn(codes, code))
  if (unexpected) find('an unexpected error in app.on(\'error\')', 'server', unexpected.stack)
}

module.exports = { judge }
