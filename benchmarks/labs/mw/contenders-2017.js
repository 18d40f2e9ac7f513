'use strict'

/*
 * Koa 2.0 with every middleware on, with the packages of 2017 and in the language of Node 6.
 */

const path = require('path')
const take = require('../../lib/servers/take-2017')

const here = name => path.join(__dirname, 'assets', name)

function koa (args) {
  const workload = args[0]
  const Koa = take('koa')
  const convert = take('koa-convert')
  const log4js = take('koa-log4')
  const Router = take('koa-router')
  const LOCALES = { directory: here('locales'), extension: '.json', locales: ['en', 'zh-CN'], modes: ['query', 'cookie', 'header'] }

  log4js.configure({ appenders: [{ type: 'console' }] })

  const app = new Koa()
  app.use(convert(take('koa-jsonp')()))
  app.use(log4js.koaLogger(log4js.getLogger('http'), { level: 'auto' }))
  app.use(take('koa-static2')('', here('public')))
  app.use(take('koa-bodyparser')())
  app.use(take('koa-session-minimal')())
  take('koa-locale')(app)
  app.use(convert(take('koa-i18n')(app, LOCALES)))
  app.use(convert(take('kcors')()))
  const Csrf = take('koa-csrf').default
  app.use(new Csrf())
  app.use(take('koa-helmet')())
  app.use(take('koa-favicon')(here('public/favicon.ico')))
  app.use(take('koa-views')(here('views'), { map: { html: 'nunjucks' } }))
  app.use((ctx, next) => {
    if (ctx.path !== '/login') return next()
    ctx.session.user = 'ada'
    ctx.body = 'signed in'
    return Promise.resolve()
  })

  const router = new Router()
  router.get('/', ctx => {
    const value = { greeting: ctx.i18n.__('hello'), user: ctx.session.user, items: ['a', 'b', '<c>'] }
    if (workload === 'template') return ctx.render('page', value)
    ctx.body = value
    return Promise.resolve()
  })
  app.use(router.routes()).use(router.allowedMethods())
  app.on('error', err => console.error(err))
  return app
}

module.exports = {
  'koa-2.0.1': { package: 'koa', start: koa },
  'koa-2.0.1-bluebird': {
    package: 'koa',
    start (args) {
      global.Promise = take('bluebird')
      return koa(args)
    }
  }
}
