'use strict'

const { worker } = require('./worker')

/*
 * What sends load, by name. A generator is made with `{ pin }`, the cores of the load; `run(load)` gives a sample, `stop()`
 * ends its processes. `missing()` says how to get one that is not installed.
 *
 * All take port, protocol, method, path, headers, body, connections, seconds, pipeline, and mark, which is called when
 * connections are 'settled' and when the load is 'over'. wrk alone takes cookies, how many different ones go round,
 * settle, the seconds in which thousands of connections come up, and isFailing, of responses that must all have a status
 * of 400 or more, version, the one of HTTP that the requests have; nginx alone isKept; arrivals and nginx need a rate.
 */

exports.wrk = require('./wrk')

exports.nginx = require('./nginx')

exports.autocannon = inWorkers('./autocannon-worker')

/** Raw sockets, as `kone try --measure` loads an app: one request at a time on each. */
exports.sockets = inWorkers('./sockets-worker')

/**
 * Headers and body in two writes, or in `pieces`, some milliseconds apart, so that the server gets them in as many reads;
 * neither wrk nor autocannon can. The pause bounds the rate: the server is never saturated, and its CPU per request is
 * what counts. Connections are closed after `each` responses, if that is given; `size` is of a body to post.
 */
exports.split = inWorkers('./crowd-worker', 'split')

/** GET over HTTP/2, in a closed loop: on each connection `pipeline` streams at once. */
exports.h2 = inWorkers('./h2-worker')

exports.arrivals = require('./arrivals')

// Kept from round to round, because a new process would measure its own start; one that has ended is replaced.
function inWorkers (file, act) {
  return function ({ pin }) {
    let process
    return {
      run (load) {
        if (!process || process.hasEnded()) process = worker(require.resolve(file), { pin })
        return process.run({ act, ...load })
      },
      stop: () => process?.stop()
    }
  }
}
