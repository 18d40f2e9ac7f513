'use strict'

const { createHash } = require('node:crypto')
const { createReadStream } = require('node:fs')
const { pipeline } = require('node:stream/promises')
const set = require('kone/middleware')
const rateLimit = require('kone/middleware/rateLimit')
const { THEMES } = require('./views')

const MAX_FILE = 1000 * 1000 // bytes
const MAX_TEXT = 500 // characters
const YEAR = 365 * 24 * 3600e3 // ms
const NAME = /^[\p{L}\p{N}_.-](?:[\p{L}\p{N} _.-]{0,30}[\p{L}\p{N}_.-])?$/u

exports.MAX_FILE = MAX_FILE

/**
 * @param {Router} router
 * @param {{ app, store, live }} parts
 */
exports.routes = function (router, { app, store, live }) {
  const attempts = rateLimit({ max: 10, duration: 60 * 1000, throw: true })

  router.get('/', ctx => ctx.render('home', {
    figure: live.latest,
    samples: live.samples,
    passed: app.middleware.map(describe),
    count: store.count()
  }))

  const guestbook = (ctx, locals) => ctx.render('guestbook', {
    entries: store.entries(), count: store.count(), ...locals
  })

  // <guestbook>
  router.get('/guestbook', ctx => guestbook(ctx))

  router.post('/guestbook', signedIn, async ctx => {
    const text = field(ctx, 'text')
    if (text === '' || text.length > MAX_TEXT) {
      await guestbook(ctx, { text, problem: 'Write 1 to 500 characters.' })
      ctx.status = 400
      return
    }
    store.add(ctx.session.user, text)
    ctx.redirect('/guestbook')
  })
  // </guestbook>

  router.get('/sign-in', ctx => ctx.render('sign-in', { to: placeAfter(ctx.query.to) }))

  // <signIn>
  router.post('/sign-in', forPeople(attempts), async ctx => {
    const name = field(ctx, 'name')
    const password = String(ctx.request.body.password ?? '')
    const problems = {}
    if (!NAME.test(name)) {
      problems.name = 'Use 1 to 32 letters, digits, spaces, dots, hyphens or underscores.'
    }
    if (password.length < 8) problems.password = 'Use 8 characters or more.'
    if (problems.name || problems.password) return showSignIn(ctx, 400, problems)

    if (!store.signIn(name, password)) {
      return showSignIn(ctx, 401, { password: 'That is not the password of this name.' })
    }
    ctx.sessionHandler.regenerateId()
    ctx.session.user = name
    ctx.redirect(placeAfter(ctx.request.body.to))
  })
  // </signIn>

  router.post('/sign-out', ctx => {
    ctx.session = {}
    ctx.redirect('/')
  })

  router.get('/language/:name', ctx => {
    if (!['en', 'zh'].includes(ctx.params.name)) ctx.throw(404)
    remember(ctx, 'locale', ctx.params.name)
  })

  router.post('/theme', ctx => {
    const { theme } = ctx.request.body
    if (!THEMES.includes(theme)) ctx.throw(400)
    remember(ctx, 'theme', theme)
  })

  router.get('/upload', ctx => ctx.render('upload'))

  // <upload>
  router.post('/upload', signedIn, async ctx => {
    const [file] = ctx.request.files || []
    if (!file) return showUpload(ctx, 400, 'Choose a file.')
    const hash = createHash('sha256')
    await pipeline(createReadStream(file.path), hash)
    await ctx.render('upload', { file, sha256: hash.digest('hex') })
  })
  // </upload>

  router.get('/api', ctx => ctx.render('api', { newest: store.entries(1)[0] }))
}

/** A file over the limit is refused while it is received, before any route runs. */
exports.explainUpload = async function explainUpload (ctx, next) {
  try {
    await next()
  } catch (err) {
    if (err.status !== 413 || ctx.path !== '/upload') throw err
    if (err.headers) ctx.set(err.headers)
    await showUpload(ctx, 413, 'This file is larger than 1 MB. Choose a smaller one.')
  }
}

async function showUpload (ctx, status, problem) {
  await ctx.render('upload', { problem })
  ctx.status = status
}

async function showSignIn (ctx, status, problems) {
  const { name, to } = ctx.request.body || {}
  await ctx.render('sign-in', { problems, name, to: placeAfter(to) })
  ctx.status = status
}

/** The page to sign in on, where others would get an error. */
async function signedIn (ctx, next) {
  if (ctx.session.user) return next()
  await ctx.render('sign-in', { notice: 'Sign in first', to: placeAfter(ctx.path) })
  ctx.status = 401
}

/** Too many attempts: the form again, with what was entered. */
function forPeople (attempts) {
  return async function (ctx, next) {
    try {
      await attempts(ctx, next)
    } catch (err) {
      if (err.status !== 429 || ctx.accepts('json', 'html') !== 'html') throw err
      ctx.set(err.headers)
      await showSignIn(ctx, 429, { all: 'Too many attempts. Wait a minute, then try again.' })
    }
  }
}

/** A cookie for a year, and back to the page that the form or link is on. */
function remember (ctx, cookie, value) {
  ctx.cookies.set(cookie, value, { httpOnly: true, sameSite: 'lax', maxAge: YEAR })
  ctx.redirect('back', '/')
}

function field (ctx, name) {
  const value = ctx.request.body[name]
  return typeof value === 'string' ? value.trim() : ''
}

/** Where to go after signing in: one of these pages, never an address of the client's choice. */
function placeAfter (to) {
  return ['/upload', '/api'].includes(to) ? to : '/guestbook'
}

/** A middleware as the first page lists it: its name in the set, or that of a function of this app. */
function describe (fn) {
  const given = fn.name.replace(/^bound /, '')
  const name = { serve: 'static', dispatch: 'router' }[given] || given
  return { name, isOwn: !(name in set) && name !== 'allowedMethods' }
}
