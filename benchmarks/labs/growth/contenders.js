'use strict'

const kone = require('../../lib/servers/kone')
const { read } = require('../../lib/servers/send')
const SUBJECTS = require('./subjects')

/*
 * The app of each subject.
 */

const LIMIT = 200e6 // bytes of a body

const standard = schema => ({ '~standard': { version: 1, vendor: 'bench', validate: value => ({ value }), jsonSchema: { input: () => schema } } })

const mounted = (load, by) => ([subject, n]) => {
  const app = new (load())()
  SUBJECTS[subject].mount(app, by, n)
  return app
}

module.exports = {
  kone: {
    package: 'kone',
    start: mounted(() => kone('.'), {
      Router: () => kone('middleware/router'),
      serialize: schema => [kone('middleware/validate')({ response: standard(schema), serialize: true })],
      session: () => kone('middleware/session')(),
      template: () => kone('middleware/template'),
      read: ctx => ctx.request.readBody({ limit: LIMIT })
    })
  },

  koa: {
    package: 'koa',
    about: 'with koa-router, koa-session-minimal, koa-views',
    start: mounted(() => require('koa'), {
      Router: () => require('koa-router'),
      serialize: () => [], // JSON.stringify
      session: () => require('koa-session-minimal')(),
      template: () => require('koa-views'),
      read: ctx => read(ctx.req)
    })
  },

  fastify: {
    package: 'fastify',
    about: 'onRequest hooks for middleware',
    start ([subject, n]) {
      const app = require('fastify')({ bodyLimit: LIMIT })
      SUBJECTS[subject].fastify(app, n)
      return (port, host, backlog) => app.listen({ port, host, backlog }).then(() => app.server)
    }
  }
}
