'use strict'

/**
 * The demo app: live figures of its own process, a guestbook, an upload and an API, on the whole
 * middleware set. `make start` serves it in one process, `npm start` on all cores; it needs nothing but a folder
 * to write to (DATA, default: ./data).
 */

const { join } = require('node:path')
const Kone = require('kone')
const mw = require('kone/middleware')
const Router = require('kone/middleware/router')
const { version } = require('kone/package.json')
const api = require('./api')
const errors = require('./errors')
const Live = require('./live')
const pages = require('./pages')
const { open } = require('./store')
const views = require('./views')

const store = openStore(process.env.DATA || join(__dirname, 'data'))
const live = new Live()
const app = new Kone({ keys: store.keys, proxy: Number(process.env.PROXY_HOPS) || false })
const secure = process.env.SECURE === 'true' // behind TLS
const router = new Router()

app.use(live.count)
app.use(mw.health())
app.use(mw.metrics())
app.use(mw.overload({ maxEventLoopDelay: 2000 }))
app.use(mw.isolate())
app.use(mw.requestId())
app.use(mw.logger({ level: 'auto', nolog: /\.(?:css|js|svg|ico)\b|^\/api\/ping$/ }))
app.use(mw.helmet({
  strictTransportSecurity: secure,
  referrerPolicy: { policy: 'same-origin' }, // the links for language and theme lead back
  contentSecurityPolicy: { directives: { upgradeInsecureRequests: secure ? [] : null } }
}))
app.use(mw.favicon(join(__dirname, 'assets/favicon.svg')))
app.use(mw.compress())
app.use(mw.conditionalGet())
app.use(mw.etag())
app.use(mw.session({ key: 'guestbook', store: mw.session.sealedCookie({ keys: store.keys }) }))
app.use(mw.i18n(app, {
  directory: join(__dirname, 'locales'),
  locales: ['en', 'zh'],
  modes: ['query', 'cookie', 'header']
}))
app.use(mw.template(join(__dirname, 'views'), views.template))
app.use(views.locals)
app.use(errors)
app.use(mw.static(join(__dirname, 'assets'), { maxAge: 24 * 60 * 60 * 1000 })) // pages name a version of each
app.use(mw.timeout(15000))
app.use(mw.cors({ origin: ctx => ctx.path.startsWith('/api/') ? '*' : '' }))
app.use(mw.jsonp())
app.use(mw.rpc(api.calls(store)))
app.use(mw.bodyParser())
// before upload: a form of another site is refused before its files are read
app.use(mw.csrf({ errorHandler: ctx => api.refuse(ctx, router) }))
app.use(pages.explainUpload)
app.use(mw.upload({ limits: { fileSize: pages.MAX_FILE, files: 1 } }))
app.use(mw.sse({ heartbeat: 10000 }))

pages.routes(router, { app, store, live })
api.routes(router, { store, live })
app.use(router.routes())
app.use(mw.openapi(app, { info: { title: 'The guestbook', version } })) // /openapi.json
app.use(router.allowedMethods())

module.exports = app

function openStore (folder) {
  try {
    return open(folder)
  } catch (err) {
    err.message = `cannot keep the guestbook in ${folder}: ${err.message}`
    if (require.main !== module) throw err
    console.error(err.message)
    process.exit(1)
  }
}

if (require.main === module) {
  const port = Number(process.env.PORT || 4000)
  if (!Number.isInteger(port)) throw new TypeError(`PORT must be a number, not ${process.env.PORT}`) // a text is a socket's path
  const server = app.listen(port, () => {
    console.log(`http://localhost:${server.address().port} in one process; on all cores: npm start`)
  })
  server.on('error', err => {
    console.error(`cannot listen on port ${port}: ${err.message}`)
    process.exit(1)
  })
  for (const signal of ['SIGINT', 'SIGTERM']) {
    process.once(signal, () => {
      live.close()
      app.close({ timeout: 3000 }).then(() => process.exit(0))
    })
  }
}
