'use strict'

const BACKLOG = 4096 // connections that may wait to be accepted; what Linux allows by default

/**
 * The other end of server.js, inside a contender: listen on a free port, say which, answer what the lab asks,
 * and end with the lab.
 *
 *    serve(http.createServer(handler))
 *    serve((port, host) => fastify.listen({ port, host }).then(() => fastify.server))
 *
 * @param {{ listen: Function }|Function} app has Node's listen(port, host, backlog), or is such a function; it
 *   gives an http.Server or a promise of one
 */
module.exports = async function serve (app) {
  if (process.send) process.on('disconnect', () => process.exit())

  const listen = app.listen ? (...where) => app.listen(...where) : app
  const server = await listen(0, process.env.HOST || '127.0.0.1', BACKLOG)
  if (!server.listening) await new Promise(resolve => server.once('listening', resolve))

  // Workloads of idle connections ask for more patience than five seconds.
  if (process.env.KEEP_ALIVE) server.keepAliveTimeout = Number(process.env.KEEP_ALIVE)

  const { port } = server.address()
  if (!process.send) return console.log(`http://127.0.0.1:${port}`) // started by hand

  process.on('message', what => {
    if (what === 'collect') global.gc?.()
    const { user, system } = process.cpuUsage()
    process.send({ cpu: user + system, resident: process.memoryUsage().rss })
  })
  process.send({ port })
}
