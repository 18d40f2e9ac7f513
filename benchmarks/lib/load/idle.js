'use strict'

const worker = require('./worker')

/**
 * Connections that ask once and then stay: for what an idle keep-alive connection costs a server.
 *
 *    const { run, stop } = idle({ pin })
 *    await run({ port, connections: 10000 }) // all have their answer, all are open until stop()
 *
 * @param {{ pin?: string }} on the cores to stay on
 * @return {{ run: Function, stop: Function }} run resolves to `{ open }`, how many are open
 */
module.exports = ({ pin }) => worker(require.resolve('./idle-worker'), { pin })
