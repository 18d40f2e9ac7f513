'use strict'

/**
 * The demo app: a guestbook on the whole middleware set. `make start` serves it, `npm start` in a
 * cluster; it needs nothing but a folder to write to (DATA, default: ./data).
 */

const { join } = require('node:path')
const Kone = require('kone')
const mw = require('kone/middleware')
const routes = require('./routes')
const { open } = require('./store')

const store = openStore(process.env.DATA || join(__dirname, 'data'))
const app = new Kone({ keys: store.keys, proxy: Number(process.env.PROXY_HOPS) || false })
const secure = process.env.SECURE === 'true' // behind TLS
const views = {
  options: {
    globals: { languages: { en: 'English', zh: '中文' } },
    filters: { iso: ms => new Date(ms).toISOString() },
    trimBlocks: true,
    lstripBlocks: true
  }
}

app.use(mw.health())
app.use(mw.isolate())
app.use(mw.requestId())
app.use(mw.logger({ level: 'auto', nolog: /\.(css|js|svg|ico)$/ }))
app.use(mw.timeout(15000))
app.use(mw.helmet({
  strictTransportSecurity: secure,
  referrerPolicy: { policy: 'same-origin' }, // the language links lead back
  contentSecurityPolicy: { directives: { upgradeInsecureRequests: secure ? [] : null } }
}))
app.use(mw.favicon(join(__dirname, 'assets/favicon.svg')))
app.use(mw.compress())
app.use(mw.conditionalGet())
app.use(mw.etag())
app.use(mw.static(join(__dirname, 'assets'), { maxAge: 60 * 60 * 1000 }))
app.use(mw.session({ key: 'guestbook', store: mw.session.sealedCookie({ keys: store.keys }) }))
app.use(mw.i18n(app, {
  directory: join(__dirname, 'locales'),
  locales: ['en', 'zh'],
  modes: ['query', 'cookie', 'header']
}))
app.use(mw.template(join(__dirname, 'views'), views))
app.use(routes.errors)
app.use(mw.cors({ origin: ctx => ctx.path.startsWith('/api/') ? '*' : '' }))
app.use(mw.rpc({ count: () => store.entries().length, latest: (n = 1) => store.entries(Math.min(n, 50)) }))
app.use(mw.upload({ limits: { fileSize: 1024 * 1024, files: 1 } }))
app.use(mw.bodyParser())
app.use(mw.csrf())
app.use(mw.sse({ heartbeat: 10000 }))
app.use(routes.locals)

const router = routes.router(store)
app.use(router.routes())
app.use(router.allowedMethods())

app.final(mw.jsonp.final())

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
  const port = process.env.PORT || 4000
  const server = app.listen(port, () => console.log(`http://localhost:${server.address().port}`))
  server.on('error', err => {
    console.error(`cannot listen on port ${port}: ${err.message}`)
    process.exit(1)
  })
  for (const signal of ['SIGINT', 'SIGTERM']) {
    process.once(signal, () => app.close({ timeout: 3000 }).then(() => process.exit(0)))
  }
}
