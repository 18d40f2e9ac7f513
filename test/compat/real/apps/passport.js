'use strict'

module.exports = {
  title: 'signing in by koa-passport with a session',
  packages: {
    'koa-passport': '6.0.0',
    'passport-local': '1.0.0',
    'koa-session': '7.0.2',
    'koa-bodyparser': '4.4.1',
    'koa-router': '13.1.1'
  },
  responses: 9,

  async serve () {
    const Koa = require('koa')
    const Router = require('koa-router')
    const bodyParser = require('koa-bodyparser')
    const passport = require('koa-passport')
    const { createSession } = require('koa-session')
    const { Strategy } = require('passport-local')

    const ada = { id: 1, name: 'ada' }
    passport.serializeUser((user, done) => done(null, user.id))
    passport.deserializeUser((id, done) => done(null, id === ada.id && ada))
    passport.use(new Strategy((name, password, done) => done(null, name === ada.name && password === 'lovelace' && ada)))

    const router = new Router()
    router.post('/login', passport.authenticate('local', { successRedirect: '/me', failureRedirect: '/login' }))
    router.post('/login.json', ctx => passport.authenticate('local', async (err, user) => {
      if (err || !user) ctx.throw(401, 'who are you?')
      await ctx.login(user)
      ctx.body = { user }
    })(ctx))
    router.get('/me', ctx => {
      if (!ctx.isAuthenticated()) return ctx.redirect('/login')
      ctx.body = ctx.state.user
    })
    router.post('/logout', async ctx => {
      await ctx.logout()
      ctx.redirect('/')
    })

    const app = new Koa()
    app.silent = true
    app.keys = ['one', 'two']
    app.use(createSession({}, app)).use(bodyParser()).use(passport.initialize()).use(passport.session())
    app.use(router.routes())
    return app.listen(0)
  },

  // The session holds when it ends, and its signature goes with that.
  mask: text => text.replace(/(koa\.sess(?:\.sig)?=)[\w=-]{8,}/g, '$1VALUE')
    .replace(/(expires=)\w{3}, \d\d \w{3} 2\d{3} [\d:]+ GMT/g, '$1TIME'),

  async ask (client) {
    await client.ask('GET /me')
    await client.ask('POST /login', { form: { username: 'ada', password: 'wrong' } })
    await client.ask('POST /login', { form: { username: 'ada', password: 'lovelace' } })
    await client.ask('GET /me')
    await client.ask('POST /logout')
    await client.ask('GET /me')
    await client.ask('POST /login.json', { json: { username: 'ada', password: 'wrong' } })
    await client.ask('POST /login.json', { json: { username: 'ada', password: 'lovelace' } })
    await client.ask('GET /me')
  },

  load: { line: 'POST /login', form: { username: 'ada', password: 'lovelace' }, status: 302 }
}
