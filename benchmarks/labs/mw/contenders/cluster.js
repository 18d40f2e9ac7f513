'use strict'

/*
 * kone with every middleware on, as an app that pm2.js serves: what app.js is to the lab. It answers a rendered page.
 */

const set = require('./kone')

const app = set.create()
const names = ['jsonp', 'logger', 'static', 'bodyParser', 'session', 'i18n', 'cors', 'csrf', 'helmet', 'favicon', 'template']
for (const name of names) set[name](app)

const router = new (set.Router())()
router.get('/', ctx => ctx.render('page', { greeting: ctx.i18n.__('hello'), user: 'ada', items: ['a', 'b', '<c>'] }))
app.use(router.routes()).use(router.allowedMethods())

module.exports = app
