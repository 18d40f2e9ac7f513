'use strict'

const worker = require('./worker')

/**
 * A generator that makes a connection for every request, for where wrk is missing: autocannon counts the latency
 * of such requests so that it breaks Little's law.
 *
 * @param {{ pin?: string }} on the cores to stay on
 * @return {{ run: Function, stop: Function }}
 */
module.exports = ({ pin }) => worker(require.resolve('./reconnect-worker'), { pin })
