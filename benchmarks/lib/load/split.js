'use strict'

const worker = require('./worker')

/**
 * A generator that sends each request's head and body in two writes, some milliseconds apart, so that the
 * server gets them in two reads; neither wrk nor autocannon can. The pause bounds its rate: the server is
 * never saturated, and its CPU per request is what counts.
 *
 * @param {{ pin?: string }} on the cores to stay on
 * @return {{ run: Function, stop: Function }}
 */
module.exports = ({ pin }) => worker(require.resolve('./split-worker'), { pin })
