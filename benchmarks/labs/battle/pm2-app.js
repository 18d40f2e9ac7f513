'use strict'

/*
 * kone with every middleware on, as an app that pm2.js serves. It responds with a rendered page.
 */

const kone = require('../../lib/servers/kone')
const set = require('../mw/sets/kone')

const app = new (kone('.'))()
const names = ['jsonp', 'logger', 'static', 'bodyParser', 'session', 'i18n', 'cors', 'csrf', 'helmet', 'favicon', 'template']
for (const name of names) set[name](app)

const router = new (set.Router())()
router.get('/', ctx => ctx.render('page', { greeting: ctx.i18n.__('hello'), user: 'ada', items: ['a', 'b', '<c>'] }))
app.use(router.routes()).use(router.allowedMethods())

module.exports = app
