'use strict'

const path = require('node:path')
const { LIMIT, buffer, items, text } = require('./_work')

const VIEWS = path.join(__dirname, 'views')

exports.package = 'fastify'
exports.about = 'onRequest hooks for middleware'

exports.start = function ([subject, n]) {
  const app = require('fastify')({ bodyLimit: LIMIT })

  const subjects = {
    middleware () {
      for (let i = 0; i < n; i++) app.addHook('onRequest', async () => {})
      app.get('/', hello)
    },

    routes () {
      for (let i = 1; i <= n; i++) app.get(`/kind-${i}/:id`, async request => request.params.id)
    },

    headers: () => app.get('/', hello),

    connections: () => app.get('/', hello),

    body () {
      app.addContentTypeParser('application/octet-stream', { parseAs: 'buffer' }, async (request, body) => body)
      app.post('/', async request => String(request.body.length))
    },

    response () {
      app.get('/', async request => buffer(Number(request.query.n)))
    },

    session () {
      app.register(require('@fastify/cookie'))
      app.register(require('@fastify/session'), { secret: 'a secret of more than thirty-two characters', cookie: { secure: false } })
      const visit = async ({ session }) => {
        session.count = (session.count || 0) + 1
        return String(session.data.length)
      }
      app.get('/', visit)
      app.get('/login', async request => {
        request.session.data = text(Number(n))
        return visit(request)
      })
    },

    template () {
      app.register(require('@fastify/view'), { engine: { nunjucks: require('nunjucks') }, root: VIEWS })
      app.get('/', (request, reply) => reply.view('list.html', { items: items(Number(request.query.n)) }))
    }
  }

  subjects[subject]()
  return (port, host, backlog) => app.listen({ port, host, backlog }).then(() => app.server)
}

async function hello () {
  return 'Hello World'
}
