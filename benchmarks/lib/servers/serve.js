'use strict'

/*
 * The server's end of the channel to the lab, in the language of Node 0.8, for every Node that the lab runs.
 */

var BACKLOG = 4096 // connections that may wait to be accepted; the default limit of Linux

/**
 * Listen on a free port, report it, report usage when the lab requests it, and end with the lab.
 *
 *    serve(http.createServer(handler))
 *    serve((port, host) => fastify.listen({ port, host }).then(() => fastify.server))
 */
module.exports = function serve (app) {
  if (process.send) process.on('disconnect', function () { process.exit() })

  var host = process.env.HOST || '127.0.0.1'
  var server = app.listen ? app.listen(0, host, BACKLOG) : app(0, host, BACKLOG)
  if (typeof server.then === 'function') server.then(listening, fail)
  else listening(server)
}

function listening (server) {
  if (server.address()) return ready(server)
  server.on('listening', function () { ready(server) })
}

function ready (server) {
  // Idle connections must outlive a round, also those that are silent until a hundred thousand are open; the defaults
  // are five seconds after a response, and sixty before the first request.
  if (process.env.KEEP_ALIVE) {
    server.keepAliveTimeout = server.headersTimeout = server.requestTimeout = Number(process.env.KEEP_ALIVE)
  }

  var port = server.address().port
  if (!process.send) return console.log('http://127.0.0.1:' + port) // started by hand

  process.on('message', function (what) {
    if (what === 'collect' && global.gc) global.gc()
    var usage = process.cpuUsage ? process.cpuUsage() : { user: 0, system: 0 }
    process.send({ cpu: usage.user + usage.system, resident: process.memoryUsage().rss })
  })
  process.send({ port: port })
}

function fail (err) {
  console.error(String(err))
  process.exit(1)
}
