'use strict'

const KoaRouter = require('koa-router')
const micro = require('../lib/run/micro')
const Router = require('../lib/servers/kone')('middleware/router')

// The last of n routes, looked up and run.
const groups = {}
for (const n of [1, 10, 100, 500]) {
  groups[`last of ${n}`] = {
    'koa-router': () => lookUp(KoaRouter, n),
    kone: () => lookUp(Router, n)
  }
}

micro(__filename, groups)

function lookUp (Router, n) {
  const router = new Router()
  for (let i = 1; i <= n; i++) router.get(`/things/of/kind-${i}/:id`, ctx => { ctx.found = ctx.params.id })
  const routes = router.routes()
  const path = `/things/of/kind-${n}/7`
  return async () => {
    const ctx = { method: 'GET', path, url: path, request: {} }
    await routes(ctx, () => {})
    if (ctx.found !== '7') throw new Error('not found')
  }
}
