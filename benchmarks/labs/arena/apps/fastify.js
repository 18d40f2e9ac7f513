'use strict'

const fastify = require('fastify')
const { TEXT, items } = require('../data')

module.exports = function (folder) {
  const app = fastify({ bodyLimit: 2 ** 26 })

  app.get('/baseline', async ({ query }) => String(Number(query.a) + Number(query.b)))

  app.get('/json', async () => items())

  app.addContentTypeParser('application/octet-stream', (request, payload, done) => done(null, payload))
  app.post('/upload', async ({ body }) => {
    let bytes = 0
    for await (const chunk of body) bytes += chunk.length
    return String(bytes)
  })

  app.register(async function (app) {
    await app.register(require('@fastify/compress'))
    app.get('/gzip', async () => TEXT)
  })

  app.register(require('@fastify/static'), { root: folder })
  return (port, host, backlog) => app.listen({ port, host, backlog }).then(() => app.server)
}
