'use strict'

const worker = require('./worker')

const loopOf = loop => function ({ pin }) {
  const workers = new Map() // by group
  return {
    run ({ group, ...load }) {
      if (!workers.has(group)) workers.set(group, worker(require.resolve('./loops-worker'), { pin }))
      return workers.get(group).run({ loop, ...load })
    },
    stop () {
      for (const one of workers.values()) one.stop()
    }
  }
}

/**
 * A generator whose connections stay open from round to round, so that rounds of ten thousand do not measure their
 * making; of each `group` (a contender) in a process of its own, because one may hold but so many descriptors. It ends
 * with a response, not in the middle of one, as responses of 100 MB must. It takes `size`, the bytes of a body to post.
 */
exports.pooled = loopOf('pooled')

/**
 * A generator that sends each request's headers and body in two writes, some milliseconds apart, so that the server gets
 * them in two reads; neither wrk nor autocannon can. The pause bounds its rate: the server is never saturated, and its CPU
 * per request is what counts.
 */
exports.split = loopOf('split')
