'use strict'

/*
 * lib/serve.js in the language of Node 0.8.
 */

// serve(server), or serve(start) with start(port, host) giving a server or a promise of one
module.exports = function (app) {
  process.on('disconnect', function () { process.exit() })
  process.on('message', function () {
    var usage = process.cpuUsage ? process.cpuUsage() : { user: 0, system: 0 }
    process.send({ cpu: usage.user + usage.system, resident: process.memoryUsage().rss })
  })

  var server = app.listen ? app.listen(0, '127.0.0.1') : app(0, '127.0.0.1')
  if (typeof server.then === 'function') server.then(tell)
  else tell(server)
}

function tell (server) {
  if (server.address()) return process.send({ port: server.address().port })
  server.on('listening', function () { process.send({ port: server.address().port }) })
}
