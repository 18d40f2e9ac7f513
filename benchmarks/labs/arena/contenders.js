'use strict'

const entry = (name, of) => ({ package: of, start: ([folder]) => require(`./apps/${name}`)(folder) })

/*
 * The same app in each framework, as its users write it: its router, its packages for compression and files.
 */
module.exports = {
  kone: entry('kone', 'kone'),
  node: { ...entry('node'), about: 'by hand; files by fs.stat and fs.createReadStream' },
  koa: { ...entry('koa', 'koa'), about: 'with @koa/router, koa-compress, koa-static' },
  fastify: { ...entry('fastify', 'fastify'), about: 'with @fastify/compress, @fastify/static' },
  hono: { ...entry('hono', 'hono'), about: 'on @hono/node-server, with its own compress and serveStatic' }
}
