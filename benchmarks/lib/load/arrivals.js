'use strict'

const Crowd = require('./crowd')

/**
 * Independent clients that send `rate` requests a second of all together. One process, which never sleeps. Connections are
 * made, each has sent a request before the load begins, and they are gone afterwards.
 */
module.exports = function arrivals ({ pin }) {
  let crowd = null
  return {
    run ({ mark = () => {}, ...load }) {
      crowd ??= new Crowd({ connections: load.connections, pin, processes: 1 })
      return crowd.hold(load, async () => {
        mark('settled')
        const sample = await crowd.arrivals(load)
        mark('over')
        return sample
      })
    },
    stop: () => crowd?.stop()
  }
}
