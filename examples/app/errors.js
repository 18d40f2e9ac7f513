'use strict'

const { format } = require('node:util')

// What people read: a heading, and what they can do. Messages of packages are for programs.
const WORDS = {
  400: ['This request makes no sense to the server', 'Go back, check what you entered, and try again.'],
  json: ['Your JSON is broken at line %d, column %d', 'Correct it there, and send it again.'],
  401: ['Sign in first', 'This part of the demo is for people who are signed in.'],
  403: ['This form was refused', 'It was sent from another site. Open the page here, and send it again.'],
  404: ['There is no such page', 'The address may be mistyped, or the page is gone.'],
  405: ['This address does not accept that method', 'The header Allow of this response has those that it accepts.'],
  413: ['That is too large', 'The limit is 1 MB, of a form and of a file.'],
  415: ['The server cannot read this format', 'Send a form or JSON.'],
  429: ['Too many attempts', 'Wait a minute, then try again.'],
  500: ['Something broke on our side', 'The error is in the log of the server. Try again later.'],
  503: ['The server took too long', 'It is busy. Try again later.']
}

/** Errors as pages for people, and as JSON for programs. */
module.exports = errors

// <errors>
async function errors (ctx, next) {
  try {
    await next()
    if (ctx.status >= 400 && !ctx.body) ctx.throw(ctx.status)
  } catch (err) {
    const status = statusOf(err)
    if (status >= 500) ctx.app.emit('error', err, ctx)
    if (err?.headers) ctx.set(err.headers)
    const place = brokenAt(err)
    const [title, hint] = place ? WORDS.json : wordsFor(status)
    if (isForProgram(ctx)) {
      ctx.body = { error: place ? format(title, ...place) : err?.expose ? err.message : title }
    } else {
      await ctx.render('error', { status, title, hint, place })
    }
    ctx.status = status
  }
}
// </errors>

/** Anything can be thrown, also null. */
function statusOf (err) {
  return err?.status >= 400 && err.status < 600 ? err.status : 500
}

/** [line, column] where the JSON of a client stops being JSON: bodyParser's error says it, and the cause of rpc's. */
function brokenAt (err) {
  const { message, body } = err?.cause ?? err ?? {}
  const found = typeof body === 'string' && /\(line (\d+),? column (\d+)\)/.exec(message)
  return found ? [Number(found[1]), Number(found[2])] : undefined
}

function wordsFor (status) {
  return WORDS[status] || WORDS[status < 500 ? 400 : 500]
}

function isForProgram (ctx) {
  return /^\/(?:api|rpc)\//.test(ctx.path) || ctx.accepts('json', 'html') !== 'html'
}

module.exports.WORDS = WORDS
