'use strict'

/*
 * What node itself breaks, each with the reason. They hold for both engines: the front hands connections over to
 * node:http, and its objects do what node's do.
 */

const MAJOR = Number(process.versions.node.split('.')[0])

const EXCEPTIONS = [
  ...['onFinished is not called exactly once', '\'finish\' is not emitted exactly once', 'neither a response nor a cut',
    '\'close\' of res not exactly once', 'a response is cut without a reason', 'reading the body does not settle',
    'a connection is closed without a reason', 'connections stay open when all clients are gone', 'descriptors are left behind',
    'handles or timers are left behind', 'app.close() does not resolve'].map(what => ({
    what,
    reason: 'node does the work of its own listeners and timers behind those of the app, which throw',
    holds: ({ side }, { throws, arrival }) => {
      return throws.length > 0 && (side === 'node:http' || (arrival !== 'accepted' && arrival !== 'tls'))
    }
  })),
  {
    what: '\'close\' of res not exactly once',
    reason: 'up to Node 22 a queued response is not notified when its connection closes',
    holds: ({ detail }) => MAJOR <= 22 && detail === '0 times, queued'
  },
  {
    what: 'neither a response nor a cut',
    reason: 'from Node 24 on destroy() of a queued response does not destroy its connection when its turn comes',
    holds: ({ where }, { clients }) => MAJOR >= 24 &&
      clients[Number(/\d+/.exec(where))].requests
        .some(({ handler }) => handler.kind === 'failing stream' || handler.destroy === 'res')
  },
  {
    what: 'a response is cut without a reason',
    reason: 'closeIdleConnections() of node destroys connections whose response has ended, but is not flushed',
    holds: ({ side }, { call }) => side === 'node:http' && ['closeIdleConnections', 'close'].includes(call?.name)
  },
  {
    what: 'a response is cut without a reason',
    reason: 'node over TLS takes the pause of its parser in the middle of a chunked body for an error (HPE_PAUSED)',
    holds: ({ side, where }, { arrival, clients }) => side === 'node:http' && arrival === 'tls' &&
      clients[Number(/\d+/.exec(where))].requests.some(({ pipelined, body }) => pipelined && body?.chunked)
  },
  {
    what: 'a wrong response',
    reason: 'from Node 24 on a queued response that is destroyed is skipped: the client takes the next one for it',
    holds: ({ side, where }, { clients }) => MAJOR >= 24 && side === 'node:http' &&
      clients[Number(/\d+/.exec(where))].requests.some(({ handler }) => handler.destroy === 'res')
  }
]

/** Whether a finding is a known one. */
module.exports = function isException (finding, conversation) {
  return EXCEPTIONS.some(({ what, holds }) => what === finding.what && holds(finding, conversation))
}
