'use strict'

/*
 * What kone and Koa respond with: the same functions, so that only the framework differs.
 */

module.exports = {
  hello: async ctx => { ctx.body = 'Hello World' },

  browser: async ctx => {
    ctx.set('X-Language', ctx.get('Accept-Language'))
    ctx.set('X-Page', ctx.query.page)
    ctx.body = 'Hello World'
  },

  json: async ctx => { ctx.body = { id: 4711, name: 'kone', tags: ['web', 'framework'], fast: true } },

  parser: async ctx => { ctx.body = ctx.request.body }
}
