'use strict'

const besideKoa = require('../helpers/beside-koa')
const apps = require('./apps')

besideKoa('the same app', apps.map(({ title, ask, headers, body, middleware, set, ...rest }) => ({
  title: `should get a response alike: ${title}`,
  set (app) {
    set?.(app)
    for (const fn of middleware) app.use(fn)
  },
  requests: [[ask, { headers, body }]],
  ...rest
})))
