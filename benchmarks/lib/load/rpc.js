'use strict'

const worker = require('./worker')

/**
 * Calls in a closed loop: a number of connections, on each a number of calls in flight. HTTP goes over raw sockets,
 * the other protocols through their own clients. A response other than that of the verified call is an error.
 *
 *    const { run } = rpc({ pin })
 *    await run({ port, protocol: 'http', connections: 50, seconds: 2, method: 'ping', path: '/rpc/ping', … })
 *    await run({ port, protocol: 'bolt', method: 'ping', args: [], isSingle: true }) // { value } of one call
 *
 * @param {{ pin?: string }} on the cores to stay on
 * @return {{ run: Function, stop: Function }} a sample has p50 and p99 (ms), `wire` (bytes per call, both ways) and
 *   `counts`, as histogram.js makes them, beside what every generator gives
 */
module.exports = ({ pin }) => worker(require.resolve('./rpc-worker'), { pin })
