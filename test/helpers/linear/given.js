'use strict'

const middleware = require('kone/middleware')
const matches = require('../../../middleware/csrf/segments')
const parseRange = require('../../../middleware/static/range')
const redactor = require('../../../middleware/validate/redact')

const context = require('../context')
const Kone = require('../kone')

const { i18n, router: Router, sse } = middleware

const app = new Kone()
const translate = i18n(app, { locales: { en: { hello: 'hello %s', many: { one: '%d', other: '%d' } } } })
const make = options => context({ url: '/a?b', headers: { host: 'a.com' }, ...options }, undefined, app)
const globs = ['/**/*a*b*c', '/*/[a-c]*?x', '/**/a/**/b/**'].map(matches.compile)

async function translated (use) {
  const ctx = make()
  await translate(ctx, async () => {})
  return use(ctx)
}

/**
 * Calls that apps make with a client's text: a page to go back to, the name of a file, a key. Also parts of kone of which
 * a length is bounded before, without that bound.
 */
module.exports = {
  'ctx.redirect(text)': text => make().redirect(text),
  'ctx.attachment(text)': text => make().attachment(text),
  'ctx.type = text': text => { make().type = text },
  'ctx.etag = text': text => { make().etag = text },
  'ctx.lastModified = text': text => { make().lastModified = text },
  'ctx.set(name, text)': text => make().set('X-A', text),
  'ctx.append(name, text)': text => {
    const ctx = make()
    ctx.append('X-A', text)
    ctx.append('X-A', text)
  },
  'ctx.get(text)': text => make().get(text),
  'ctx.is(text)': text => make({ headers: { 'content-type': 'text/html', 'content-length': '1' } }).is(text),
  'ctx.url = text': text => { make().url = text },
  'ctx.path = text': text => {
    const ctx = make()
    ctx.path = text
    return ctx.path
  },
  'ctx.querystring = text': text => {
    const ctx = make()
    ctx.querystring = text
    return ctx.query
  },
  'ctx.query = { a: text }': text => { make().query = { a: text } },
  'ctx.body = text': text => { make().body = text },
  'ctx.throw(400, text)': text => make().throw(400, text),
  'ctx.cookies.set(name, text)': text => make().cookies.set('a', text),
  'ctx.cookies.get(name)': text => make({ headers: { cookie: text } }).cookies.get('a'),
  'ctx.t(text)': text => translated(ctx => ctx.t(text)),
  'ctx.t(key, text)': text => translated(ctx => ctx.t('hello', text)),
  'ctx.t(text, options)': text => translated(ctx => ctx.t(text, { count: 2 })),
  'ctx.t(key, { name: text })': text => translated(ctx => ctx.t('hello', { name: text })),
  'ctx.i18n.__n(text)': text => translated(ctx => ctx.i18n.__n(text, 2)),
  'Router.url(path, text)': text => Router.url('/:a', { a: text }, { query: text }),
  'stream.send(text)': text => {
    const ctx = make()
    sse()(ctx, () => {})
    const stream = ctx.sse()
    stream.send({ event: text, data: text, id: text })
    stream.destroy()
  },
  'globs of csrf': text => globs.some(glob => matches(glob, text.split('/'), false) || matches(glob, text.split('/'), true)),
  'the message of an issue': text => redactor({ a: 1, b: 'x' })(text, []),
  'the parser of Range': text => parseRange(text)
}
