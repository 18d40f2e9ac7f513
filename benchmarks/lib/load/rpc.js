'use strict'

const worker = require('./worker')

/**
 * Calls in a closed loop: a number of connections, on each a number of calls in flight. HTTP goes over raw sockets,
 * the other protocols through their own clients. A response other than that of the verified call is an error.
 *
 *    const { run } = rpc({ pin })
 *    await run({ port, protocol: 'http', connections: 50, seconds: 2, method: 'ping', path: '/rpc/ping', … })
 *    await run({ port, protocol: 'bolt', method: 'ping', args: [], isSingle: true }) // { value } of one call
 */
module.exports = ({ pin }) => worker(require.resolve('./rpc-worker'), { pin })
