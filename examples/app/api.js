'use strict'

const { z } = require('zod')
const validate = require('kone/middleware/validate')

const MOST = 50 // entries of a response
const Page = z.object({ limit: z.coerce.number().int().min(1).max(MOST).default(20) })
const Count = z.number().int().min(1).max(MOST).default(1)
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

/** What can be called by name: `this` is ctx. */
exports.calls = store => ({
  count: () => store.count(),
  latest (n) {
    const { data, error } = Count.safeParse(n)
    if (error) this.throw(400, `n: ${error.issues[0].message}`)
    return store.entries(data)
  }
})

/** A form of another site, unless there is nothing that it could have changed: an unknown address, or method of it. */
exports.refuse = function (ctx, router) {
  const { path, route } = router.match(ctx.path, ctx.method)
  const methods = [...new Set(path.flatMap(layer => layer.methods))]
  if (methods.length === 0) ctx.throw(404)
  if (!route) ctx.throw(405, { headers: { Allow: methods.join(', ') } })
  ctx.throw(403, 'Invalid CSRF token')
}

function signedIn (ctx, next) {
  if (!ctx.session.user) ctx.throw(401, 'Sign in first')
  return next()
}
