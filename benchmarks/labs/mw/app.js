'use strict'

const TEXT = 'Text that is worth compressing, as pages and JSON are.\n'.repeat(80)

/** One app for both sides: all middleware, without or with a rendered template, or one middleware alone. */
module.exports = function (app, set, workload) {
  const workloads = {
    plain: whole(async ctx => {
      ctx.body = { greeting: ctx.i18n.__('hello'), user: ctx.session.user, items: ['a', 'b', '<c>'] }
    }),
    template: whole(ctx => ctx.render('page', {
      greeting: ctx.i18n.__('hello'),
      user: ctx.session.user,
      items: ['a', 'b', '<c>']
    })),

    'nothing alone': withOnly([], hello),
    'jsonp alone': withOnly(['jsonp'], hello),
    'logger alone': withOnly(['logger'], hello),
    'static alone': withOnly(['static'], hello),
    'bodyParser alone': withOnly(['bodyParser'], async ctx => { ctx.body = ctx.request.body.name }),
    'session alone': withOnly(['session', signIn], hello),
    'i18n alone': withOnly(['i18n'], async ctx => { ctx.body = ctx.i18n.__('hello') }),
    'cors alone': withOnly(['cors'], hello),
    'csrf and session': withOnly(['bodyParser', 'session', 'csrf', signIn], async ctx => { ctx.body = ctx.state._csrf }),
    'helmet alone': withOnly(['helmet'], hello),
    'favicon alone': withOnly(['favicon'], hello),
    'template alone': withOnly(['template'], ctx => ctx.render('page', {
      greeting: 'Hello',
      user: 'ada',
      items: ['a', 'b', '<c>']
    })),
    'compress alone': withOnly(['compress'], ctx => { ctx.body = TEXT }),
    'conditionalGet alone': withOnly(['conditionalGet'], ctx => {
      ctx.etag = 'current'
      ctx.body = 'Hello World'
    }),
    'etag alone': withOnly(['etag'], hello),
    'rateLimit alone': withOnly(['rateLimit'], hello),
    'requestId alone': withOnly(['requestId'], ctx => { ctx.body = ctx.state.id }),
    'upload alone': withOnly(['upload'], ctx => { ctx.body = String(ctx.request.files[0].size) }),
    'health alone': withOnly(['health'], hello),
    'isolate alone': withOnly(['isolate'], hello),
    'metrics alone': withOnly(['metrics'], hello),
    'sse alone': withOnly(['sse'], ctx => {
      const stream = ctx.sse()
      stream.send('Hello World')
      stream.end()
    }),
    'timeout alone': withOnly(['timeout'], hello),
    'validate alone': withOnly(['validate'], ctx => { ctx.body = String(ctx.valid.query.page) }),
    'router alone': app => route(app, set, { '/': hello }),
    'router alone, last of 500': app => {
      const paths = Array.from({ length: 500 }, (_, i) => [`/things/of/kind-${i + 1}/:id`, hello])
      route(app, set, Object.fromEntries(paths))
    }
  }

  function whole (handler) {
    const names = ['jsonp', 'logger', 'static', 'bodyParser', 'session', 'i18n', 'cors', 'csrf', 'helmet', 'favicon']
    return app => {
      for (const name of names) set[name](app)
      set.template(app)
      app.use(signIn)
      route(app, set, { '/': handler })
    }
  }

  function withOnly (middleware, handler) {
    return app => {
      for (const one of middleware) typeof one === 'string' ? set[one](app) : app.use(one)
      app.use(handler)
    }
  }

  workloads[workload](app)
  return app
}

async function hello (ctx) {
  ctx.body = 'Hello World'
}

function signIn (ctx, next) {
  if (ctx.path !== '/login') return next()
  ctx.session.user = 'ada'
  ctx.body = 'signed in'
}

function route (app, set, routes) {
  const router = new (set.Router())()
  for (const path of Object.keys(routes)) router.get(path, routes[path])
  app.use(router.routes()).use(router.allowedMethods())
}
