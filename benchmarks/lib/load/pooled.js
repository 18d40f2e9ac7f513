'use strict'

const worker = require('./worker')

/**
 * A generator whose connections stay open from round to round, so that rounds of ten thousand do not measure their
 * making; of each group (a contender) in a process of its own, for one may hold but so many descriptors. It ends
 * with a response, not in the middle of one, as responses of 100 MB must.
 *
 *    await run({ group: 'kone', port, connections: 10_000, seconds: 2, path: '/', size: 100 })
 *
 * @param {{ pin?: string }} on the cores to stay on
 * @return {{ run: Function, stop: Function }} run takes `size`, the bytes of a body to post
 */
module.exports = function ({ pin }) {
  const workers = new Map()

  function run (load) {
    if (!workers.has(load.group)) workers.set(load.group, worker(require.resolve('./pooled-worker'), { pin }))
    return workers.get(load.group).run(load)
  }

  function stop () {
    for (const one of workers.values()) one.stop()
  }

  return { run, stop }
}
