'use strict'

const { createHash } = require('node:crypto')
const { createReadStream } = require('node:fs')
const { pipeline } = require('node:stream/promises')
const Router = require('kone/middleware/router')
const rateLimit = require('kone/middleware/rateLimit')

/** What every page shows: who is signed in, and the token that its forms send back. */
exports.locals = function locals (ctx, next) {
  ctx.state.user = ctx.session.user
  ctx.state.path = ctx.path
  return next()
}

/** Errors as pages for people and as JSON for programs. */
exports.errors = async function errors (ctx, next) {
  try {
    await next()
    if (ctx.status === 404 && !ctx.body) ctx.throw(404)
  } catch (err) {
    const status = err.status >= 400 && err.status < 600 ? err.status : 500
    const message = err.expose ? err.message : 'Something broke on our side'
    if (status >= 500) ctx.app.emit('error', err, ctx)
    ctx.status = status
    if (err.headers) ctx.set(err.headers)
    if (ctx.path.startsWith('/api/') || !ctx.accepts('html')) {
      ctx.body = { error: message }
    } else {
      await ctx.render('error', { status, message, user: ctx.state.user })
      ctx.status = status
    }
  }
}

/**
 * @param {Object} store
 * @return {Router}
 */
exports.router = function (store) {
  const router = new Router()
  const page = (view, locals = {}) => ctx => ctx.render(view, { ...locals, csrf: ctx.state._csrf })
  const attempts = rateLimit({ max: 10, duration: 60 * 1000 })

  router.get('/', ctx => ctx.render('home', { entries: store.entries(), csrf: ctx.state._csrf }))

  router.post('/entries', signedIn, async ctx => {
    const text = String(ctx.request.body.text || '').trim()
    if (text === '' || text.length > 500) ctx.throw(400, 'An entry has 1 to 500 characters')
    store.add(ctx.session.user, text)
    ctx.redirect('/')
  })

  router.get('/sign-in', page('sign-in'))

  router.post('/sign-in', attempts, async ctx => {
    const { name, password } = ctx.request.body
    if (!/^[\p{L}\p{N} _.-]{1,32}$/u.test(name) || String(password).length < 8) {
      ctx.throw(400, 'A name of 1 to 32 letters and a password of 8 or more')
    }
    if (!store.signIn(name, String(password))) {
      ctx.status = 401
      await ctx.render('sign-in', { wrong: true, name, csrf: ctx.state._csrf })
      ctx.status = 401
      return
    }
    ctx.sessionHandler.regenerateId()
    ctx.session.user = name
    ctx.redirect('/')
  })

  router.post('/sign-out', ctx => {
    ctx.session = {}
    ctx.redirect('/')
  })

  router.get('/language/:name', ctx => {
    if (!['en', 'zh'].includes(ctx.params.name)) ctx.throw(404)
    ctx.cookies.set('locale', ctx.params.name, { httpOnly: true, sameSite: 'lax', maxAge: 365 * 24 * 3600e3 })
    ctx.redirect('back', '/')
  })

  router.get('/upload', page('upload'))

  router.post('/upload', signedIn, async ctx => {
    const [file] = ctx.request.files || []
    if (!file) ctx.throw(400, 'No file was chosen')
    const hash = createHash('sha256')
    await pipeline(createReadStream(file.path), hash)
    await ctx.render('upload', { file: { ...file, sha256: hash.digest('hex') }, csrf: ctx.state._csrf })
  })

  router.get('/api/entries', ctx => { ctx.body = store.entries() })

  router.get('/api/entries/:id', ctx => {
    ctx.body = store.entry(Number(ctx.params.id))
    if (!ctx.body) ctx.throw(404, 'No such entry')
  })

  router.post('/api/entries', signedIn, ctx => {
    const { text } = ctx.request.body
    if (typeof text !== 'string' || text === '' || text.length > 500) ctx.throw(400, 'text: 1 to 500 characters')
    ctx.status = 201
    ctx.body = store.add(ctx.session.user, text)
  })

  router.get('/clock', ctx => ctx.render('clock', { now: new Date().toISOString().slice(11, 19) }))

  router.get('/api/ticks', ctx => {
    const stream = ctx.sse()
    const tick = () => stream.send({ event: 'tick', data: { now: new Date().toISOString(), pid: process.pid } })
    const timer = setInterval(tick, 1000)
    stream.on('close', () => clearInterval(timer))
    tick()
  })

  return router
}

function signedIn (ctx, next) {
  if (!ctx.session.user) ctx.throw(401, 'Sign in first')
  return next()
}
