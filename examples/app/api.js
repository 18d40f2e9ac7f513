'use strict'

const { z } = require('zod')
const validate = require('kone/middleware/validate')

const Page = z.object({ limit: z.coerce.number().int().min(1).max(50).default(20) })
const Entry = z.object({ text: z.string().trim().min(1).max(500) })

/**
 * @param {Router} router
 * @param {{ store, live }} parts
 */
exports.routes = function (router, { store, live }) {
  // <api>
  router.get('/api/entries', validate({ query: Page }), ctx => {
    ctx.body = store.entries(ctx.valid.query.limit)
  })

  router.get('/api/entries/:id', ctx => {
    ctx.body = store.entry(Number(ctx.params.id))
    if (!ctx.body) ctx.throw(404, 'No such entry')
  })

  const entry = validate({ body: Entry })
  router.post('/api/entries', signedIn, entry, ctx => {
    ctx.status = 201
    ctx.body = store.add(ctx.session.user, ctx.valid.body.text)
  })

  router.get('/api/live', ctx => live.send(ctx.sse()))
  // </api>

  // what the button of the first page sends many of
  router.get('/api/ping', ctx => { ctx.body = { pong: true } })

  // the form for one entry, where no script makes the path
  router.get('/api/entry', ctx => ctx.redirect(`/api/entries/${encodeURIComponent(ctx.query.id)}`))
}

function signedIn (ctx, next) {
  if (!ctx.session.user) ctx.throw(401, 'Sign in first')
  return next()
}
