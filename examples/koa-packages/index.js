'use strict'

// Packages that were made for Koa, unmodified.
const path = require('node:path')
const Kone = require('kone')
const Router = require('koa-router')
const bodyParser = require('koa-bodyparser')
const session = require('koa-session-minimal')
const views = require('koa-views')

const app = new Kone()
const router = new Router()
const folder = path.join(__dirname, 'views')

router.get('/', async ctx => {
  const { name = 'stranger', visits = 0 } = ctx.session
  ctx.session.visits = visits + 1
  await ctx.render('index', { name, visits })
})

router.post('/name', ctx => {
  const { name } = ctx.request.body
  ctx.assert(name, 400, 'name required')
  ctx.session.name = name
  ctx.redirect('/')
})

app.use(session({ key: 'visit' }))
app.use(bodyParser())
app.use(views(folder, {
  extension: 'html',
  map: { html: 'nunjucks' },
  options: { settings: { views: folder } }
}))
app.use(router.routes()).use(router.allowedMethods())

const port = process.env.PORT || 3000
app.listen(port, () => console.log(`http://localhost:${port}`))
