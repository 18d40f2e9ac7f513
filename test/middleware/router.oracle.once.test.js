'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const Router = require('kone/middleware/router')
const Oracle = require('koa-router')
const { parse } = require('path-to-regexp')
const { random } = require('../helpers/random')

// koa-router 13.1 is the specification: the same table, the same question, the same trace.

const SEGMENTS = [
  'users', 'Users', 'admin', 'a', 'b', 'x.json', 'caf%C3%A9', 'naïve', 'v1', '', 'a-b', 'a+b', '~', '\\:id', 'K', 'ſ'
]
const PARTS = [
  ':id', ':name', ':id?', ':rest*', ':rest+', '(.*)', '([^/]*)', ':id(\\d+)', ':id.json', 'x:id', 'x-:id-y',
  ':from-:to', '{:opt}?', '{a:opt}?', '(\\d+)', ':file(.*)', 'a(.*)', '{b}?', ':id.:ext?'
]
const ASKED = [
  'users', 'USERS', 'admin', 'a', 'b', 'x.json', '12', 'x12', 'x-1-y', 'n-m', 'caf%C3%A9', 'naïve', '%', '%2F', 'a%20b',
  'a+b', '', '~', ':id', 'v1', 'K', 'ſ', 'ab', '__proto__', 'a#b', 'a?b'
]
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH', 'TRACE']

/** The known difference, in text of which the path's own blanks are `%20`: koa-router 13 makes a blank of `+`. */
const blank = value => typeof value === 'string' ? value.replaceAll('+', ' ') : value
const params = ctx => Object.fromEntries(Object.entries({ ...ctx.params }).map(([name, value]) => [name, blank(value)]))

function makePath (rnd) {
  if (rnd.chance(0.06)) return rnd.pick([/^\/users\/(\d+)$/, /users/i, /^\/(?<kind>a|b)/, /.*/])
  if (rnd.chance(0.04)) return rnd.pick(['(.*)', '*?', '/', '', '/*', 'users', ':id'].slice(0, 4))
  const depth = rnd.int(4)
  let path = ''
  for (let i = 0; i <= depth; i++) path += '/' + (rnd.chance(0.35) ? rnd.pick(PARTS) : rnd.pick(SEGMENTS))
  return rnd.chance(0.15) ? path + '/' : path
}

function askedPath (rnd) {
  const depth = rnd.int(4)
  let path = ''
  for (let i = 0; i <= depth; i++) path += '/' + rnd.pick(ASKED)
  if (rnd.chance(0.15)) path += '/'
  return rnd.chance(0.02) ? rnd.pick(['*', 'users', '/', '//']) : path
}

/** A table as a list of calls, so that both routers can be built from the same. */
function makeTable (rnd, level = 0) {
  const calls = []
  const options = {}
  if (rnd.chance(0.2)) options.sensitive = true
  if (rnd.chance(0.2)) options.strict = true
  if (rnd.chance(0.1)) options.exclusive = true
  if (rnd.chance(0.3)) options.prefix = rnd.pick(['/api', '/:tenant', '/users', '/api/:v', '/'])
  const size = 1 + rnd.int(level ? 4 : 12)
  for (let i = 0; i < size; i++) {
    const kind = rnd.int(20)
    if (kind < 11) {
      const verb = rnd.pick(['get', 'post', 'put', 'del', 'all'])
      calls.push(['verb', verb, rnd.chance(0.2) ? `n${i}` : null, makePath(rnd)])
    } else if (kind < 14) calls.push(['use', rnd.chance(0.5) ? null : makePath(rnd)])
    else if (kind < 15) calls.push(['param', rnd.pick(['id', 'name', 'rest', 'tenant'])])
    else if (kind < 16) calls.push(['prefix', rnd.pick(['/p', '/:p', '/users/'])])
    else if (kind < 17) calls.push(['paths', ['/one', '/:two'].concat(rnd.pick(SEGMENTS))])
    else if (level < 2) calls.push(['nest', rnd.chance(0.3) ? null : makePath(rnd), makeTable(rnd, level + 1)])
  }
  return { options, calls }
}

/**
 * @return {{ router: Object, refused: String[], broken: Boolean }} the calls that threw;
 * broken: it was half-way through the layers (koa-router leaves the failing one changed)
 */
function build (Class, { options, calls }, label = 'r', isBelow = false) {
  const router = new Class({ ...options })
  // Below a path with params every use() has them. In koa-router one without a path has them only below a prefix of its
  // own router that was there before, unless it gets '' for a path.
  const hasParams = (i, mounted) => {
    const before = calls.slice(0, i).findLast(([kind]) => kind === 'prefix')?.[1] ?? options.prefix ?? ''
    const later = calls.slice(i + 1).filter(([kind]) => kind === 'prefix').map(([, path]) => path)
    const paths = [before, ...later, mounted].filter(path => typeof path === 'string')
    return isBelow || paths.some(path => parse(path).some(token => typeof token !== 'string'))
  }
  const refused = []
  let broken = false
  const handler = name => (ctx, next) => {
    ctx.trace.push([
      name,
      params(ctx),
      ctx.captures && [...ctx.captures],
      String(ctx._matchedRoute),
      ctx._matchedRouteName,
      String(ctx.routerPath),
      ctx.routerName,
      ctx.request.params === ctx.params
    ])
    return next()
  }
  const call = ([kind, ...args], i) => {
    const name = `${label}.${i}`
    if (kind === 'verb') {
      const [verb, route, path] = args
      // the one difference: koa-router takes a RegExp after a name in every verb but `all`
      const isNamed = route && !(verb === 'all' && path instanceof RegExp)
      if (isNamed) router[verb](route, path, handler(name), handler(name + '+'))
      else router[verb](path, handler(name))
    } else if (kind === 'use') {
      if (typeof args[0] === 'string') router.use(args[0], handler(name))
      else if (Class === Oracle && hasParams(i)) router.use('', handler(name))
      else router.use(handler(name))
    } else if (kind === 'param') {
      router.param(args[0], (value, ctx, next) => { ctx.trace.push([name, blank(value)]); return next() })
    } else if (kind === 'prefix') {
      router.prefix(args[0])
    } else if (kind === 'paths') {
      router.get(args[0], handler(name))
    } else {
      const nested = build(Class, args[1], name, hasParams(i, args[0]))
      refused.push(...nested.refused)
      broken = nested.broken
      if (broken) return
      const middleware = [nested.router.routes(), nested.router.allowedMethods()]
      if (typeof args[0] === 'string') router.use(args[0], ...middleware)
      else router.use(middleware[0])
    }
  }
  calls.forEach((one, i) => {
    if (broken) return
    try {
      call(one, i)
    } catch {
      refused.push(`${label}.${i}`)
      broken = one[0] === 'prefix' || one[0] === 'nest'
    }
  })
  return { router, refused, broken }
}

/** The other difference: a literal of a path matches as clients encode it, too. No path that is requested has one. */
const ENCODED_TOO = /\(\?:(\\?.)\|(?:%[\dA-F]{2})+\)/gu

function describeLayer ({ path, name, methods, regexp }) {
  return [String(path), name, methods, String(regexp).replace(ENCODED_TOO, '$1')]
}

async function ask (router, method, path) {
  const ctx = {
    method,
    path,
    host: 'example.com',
    status: 404,
    headers: {},
    trace: [],
    request: {},
    set (name, value) { this.headers[name] = value }
  }
  const allowed = router.allowedMethods()
  let thrown = null
  try {
    await router.routes()(ctx, () => { ctx.trace.push('next'); return allowed(ctx, async () => {}) })
  } catch (err) {
    thrown = err.message
  }
  return {
    thrown,
    trace: ctx.trace,
    matched: ctx.matched && ctx.matched.map(describeLayer),
    route: ctx._matchedRoute && String(ctx._matchedRoute),
    status: ctx.status,
    body: ctx.body,
    headers: ctx.headers
  }
}

describe('router beside koa-router 13.1', () => {
  for (let seed = 1; seed <= 8; seed++) {
    it(`should respond alike for generated route tables, seed ${seed}`, async () => {
      const rnd = random(seed)
      for (let i = 0; i < 60; i++) {
        const table = makeTable(rnd)
        const ours = build(Router, table)
        const theirs = build(Oracle, table)
        assert.deepEqual(ours.refused, theirs.refused)
        if (ours.broken) continue
        assert.deepEqual(ours.router.stack.map(describeLayer), theirs.router.stack.map(describeLayer))
        for (let j = 0; j < 30; j++) {
          const method = rnd.pick(METHODS)
          const path = askedPath(rnd)
          const told = JSON.stringify({ seed, i, method, path, table })
          assert.deepEqual(await ask(ours.router, method, path), await ask(theirs.router, method, path), told)
        }
      }
    })
  }

  it('should make the same URLs', () => {
    const rnd = random(99)
    const url = (router, name, args) => {
      try { return String(router.url(name, ...args)) } catch (err) { return `threw ${err.message}` }
    }
    for (let i = 0; i < 300; i++) {
      const path = makePath(rnd)
      if (typeof path !== 'string') continue
      const pair = [Router, Oracle].map(Class => {
        const router = new Class()
        try { router.get('it', path, () => {}) } catch {}
        return router
      })
      for (const args of [
        [], [1], [1, 2], [{ id: 3 }], ['a b', { query: { q: 'x y' } }], [{ id: 3 }, { query: 'q=#1' }],
        [{ query: { q: [1, 2] } }], [{ query: '?a' }], [{ rest: ['a', 'b'], name: 'ü', id: '/' }],
        [{ id: 'ü' }, { query: null, other: 1 }], [{ id: 'ü' }, { encode: escape, validate: false, delimiter: '/' }], [null], [2, null]
      ]) {
        const [ours, theirs] = pair.map(router => url(router, 'it', args))
        if (theirs.startsWith('//') && !path.startsWith('//')) assert.match(ours, /^threw router: the URL of .* names another host/)
        else assert.equal(ours, theirs, path + JSON.stringify(args))
      }
      assert.equal(url(pair[0], 'none', []), url(pair[1], 'none', []))
    }
  })

  it('should give the same redirects', async () => {
    for (const [from, to, code] of [
      ['/a', '/b'], ['/a', 'named'], ['named', '/b', 302], ['/a', 'https://example.com/x', 307],
      ['none', '/b'], ['/a', 'none']
    ]) {
      const answers = await Promise.all([Router, Oracle].map(async Class => {
        const router = new Class()
        router.get('named', '/named', () => {})
        try { router.redirect(from, to, code) } catch (err) { return err.message }
        const ctx = { method: 'GET', path: from[0] === '/' ? from : '/named', request: {} }
        ctx.redirect = url => { ctx.location = url }
        await router.routes()(ctx, () => {})
        return [ctx.location, ctx.status]
      }))
      assert.deepEqual(answers[0], answers[1])
    }
  })
})
