'use strict'

const { createHash } = require('node:crypto')
const { createReadStream } = require('node:fs')
const { pipeline } = require('node:stream/promises')
const set = require('kone/middleware')
const rateLimit = require('kone/middleware/rateLimit')
const websocket = require('kone/middleware/websocket')
const Readers = require('./readers')
const { THEMES } = require('./views')

const MAX_FILE = 1000 * 1000 // bytes
const MAX_TEXT = 500 // characters
const YEAR = 365 * 24 * 3600e3 // ms
const NAME = /^[\p{L}\p{N}_.-](?:[\p{L}\p{N} _.-]{0,30}[\p{L}\p{N}_.-])?$/u

// What forms say, in the words of the catalogue in locales.
const SAY = {
  text: 'Write 1 to 500 characters.',
  name: 'Use 1 to 32 letters, digits, spaces, dots, hyphens or underscores.',
  short: 'Use 8 characters or more.',
  wrong: 'That is not the password of this name.',
  stranger: 'Sign in first',
  often: 'Too many attempts. Wait a minute, then try again.',
  file: 'Choose a file.',
  large: 'This file is larger than 1 MB. Choose a smaller one.'
}

Object.assign(exports, { MAX_FILE, SAY })

/**
 * @param {Router} router
 * @param {{ app, store, live }} parts
 */
exports.routes = function (router, { app, store, live }) {
  const readers = new Readers(store)
  const attempts = rateLimit({ max: 10, duration: 60 * 1000, throw: true })

  router.get('/', ctx => ctx.render('home', {
    figure: live.latest,
    samples: live.samples,
    passed: app.middleware.map(describe),
    count: store.count()
  }))

  // <guestbook>
  router.get('/guestbook', ctx => showGuestbook(ctx, 200))

  router.post('/guestbook', signedIn, async ctx => {
    const text = field(ctx, 'text')
    if (text === '' || text.length > MAX_TEXT) {
      return showGuestbook(ctx, 400, { text, problem: SAY.text })
    }
    store.add(ctx.session.user, text)
    readers.look()
    ctx.redirect('/guestbook')
  })

  router.get('/guestbook/live', websocket(socket => readers.follow(socket)))
  // </guestbook>

  async function showGuestbook (ctx, status, locals) {
    await ctx.render('guestbook', { entries: store.entries(), count: store.count(), ...locals })
    ctx.status = status
  }

  router.get('/sign-in', ctx => {
    const to = placeAfter(ctx.query.to)
    return ctx.session.user ? ctx.redirect(to) : ctx.render('sign-in', { to })
  })

  // <signIn>
  router.post('/sign-in', forPeople(attempts), async ctx => {
    const name = field(ctx, 'name')
    const password = String(ctx.request.body.password ?? '')
    const problems = {}
    if (!NAME.test(name)) problems.name = SAY.name
    if (password.length < 8) problems.password = SAY.short
    if (problems.name || problems.password) {
      return showSignIn(ctx, 400, problems)
    }
    if (!await store.signIn(name, password)) {
      return showSignIn(ctx, 401, { password: SAY.wrong })
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
    if (!file) return showUpload(ctx, 400, SAY.file)
    const hash = createHash('sha256')
    await pipeline(createReadStream(file.path), hash)
    await ctx.render('upload', { file, sha256: hash.digest('hex') })
  })
  // </upload>

  // The documentation is a site of its own: `make docs` serves it.
  router.get('/docs', async ctx => {
    const site = process.env.DOCS_URL || `http://${ctx.hostname}:4173`
    if (await responds(process.env.DOCS_URL || 'http://localhost:4173')) return ctx.redirect(site)
    await ctx.render('docs', { site })
  })

  router.get('/api', ctx => ctx.render('api', { newest: store.entries(1)[0] }))
}

async function responds (url) {
  try {
    return (await fetch(url, { method: 'HEAD', signal: AbortSignal.timeout(1000) })).ok
  } catch {
    return false
  }
}

/** A file over the limit is refused while it is received, before any route runs. */
exports.explainUpload = async function explainUpload (ctx, next) {
  try {
    await next()
  } catch (err) {
    if (err?.status !== 413 || ctx.path !== '/upload') throw err
    if (err.headers) ctx.set(err.headers)
    await showUpload(ctx, 413, SAY.large)
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
  await ctx.render('sign-in', { notice: SAY.stranger, to: placeAfter(ctx.path) })
  ctx.status = 401
}

/** Too many attempts: the form again, with what was entered. */
function forPeople (attempts) {
  return async function (ctx, next) {
    try {
      await attempts(ctx, next)
    } catch (err) {
      if (err?.status !== 429 || ctx.accepts('json', 'html') !== 'html') throw err
      ctx.set(err.headers)
      await showSignIn(ctx, 429, { all: SAY.often })
    }
  }
}

/** A cookie for a year, and back to the page that the form or link is on. */
function remember (ctx, cookie, value) {
  ctx.cookies.set(cookie, value, { httpOnly: true, sameSite: 'lax', maxAge: YEAR })
  ctx.back('/')
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
