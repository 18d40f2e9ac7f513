'use strict'

const { after, before, describe, it } = require('node:test')
const assert = require('node:assert/strict')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const mount = require('koa-mount')

const { csrf, router: Router, rpc, static: serve } = require('../../middleware')
const Kone = require('../helpers/kone')
const share = require('../helpers/share')

/*
 * What a guard before a middleware knows as the path of something is the only path by which that middleware finds it: a
 * guard lets nothing pass that it was written for.
 */

/** As guards write a name in a path, and browsers send it. */
const spelt = name => encodeURI(name).replace(/[?#]/g, encodeURIComponent)

/** Characters with a meaning for somebody, and such that clients encode. */
const NAMES = ['drop', 'user:delete', 'user.delete', 'a-b_c~d', 'a@b', 'a+b', 'a&b=c', "a'(b)*!", 'a;b', 'a,b$', 'a b', 'a%b', 'é', '日本', 'a?b', 'a#b']

/** Other paths that somebody may take for this one. */
function spellings (path) {
  const code = (char, change) => Array.from(Buffer.from(char), byte => '%' + change(byte.toString(16).padStart(2, '0'))).join('')
  const upper = text => text.toUpperCase()
  const lower = text => text.toLowerCase()
  const parts = path.match(/(?:%[\dA-F]{2})+|./g)
  const all = new Set([path, lower(path), upper(path), path.replaceAll(/%../g, lower), decodeURI(path), `${path}/`, `${path}//`, `${path}/.`, `${path};x`, `${path}%00`, `${path}%20`])
  for (let i = 1; i < parts.length; i++) {
    const with_ = one => [...parts.slice(0, i), one, ...parts.slice(i + 1)].join('')
    const char = decodeURIComponent(parts[i])
    for (const change of [upper, lower]) {
      all.add(with_(code(char, change)))
      all.add(with_(code(code(char, change), change)))
    }
    if (char === '/') for (const one of ['//', '/./', '/x/../', '/%2e/', '/x/%2e%2e/', '\\', '%5c', '%c0%af', '/%2f', '%2f/']) all.add(with_(one))
  }
  all.add('/' + Array.from(path.slice(1), char => code(char, upper)).join(''))
  all.add(parts.map((part, i) => i === 0 || part === '/' ? part : code(decodeURIComponent(part), lower)).join(''))
  return [...all].filter(one => /^\/[\x21-\x7e]*$/.test(one) && !/[?#]/.test(one))
}

/** Each is a middleware that calls `seen` for the requests that it guards. */
const GUARDS = {
  'ctx.path ===': (path, seen) => (ctx, next) => {
    if (ctx.path === path) seen()
    return next()
  },
  'ctx.path.startsWith()': (path, seen) => (ctx, next) => {
    if (ctx.path.startsWith(path)) seen()
    return next()
  },
  'koa-mount': (path, seen) => mount(path, (ctx, next) => {
    seen()
    return next()
  })
}
for (const [syntax, rest] of [[6, '(.*)'], [8, '*rest']]) {
  GUARDS[`a router of syntax ${syntax}`] = (path, seen) => {
    const literal = path.replace(/[:*+?(){}[\]!\\]/g, '\\$&')
    return new Router({ syntax }).all([literal, `${literal}/${rest}`], (ctx, next) => {
      seen()
      return next()
    }).routes()
  }
}

describe('a guard', () => {
  let folder
  before(() => {
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'kone-guards-'))
    fs.mkdirSync(path.join(folder, 'admin'))
    for (const name of NAMES) fs.writeFileSync(path.join(folder, 'admin', name), 'reached')
  })
  after(() => fs.rmSync(folder, { recursive: true }))

  const reached = () => 'reached'
  /**
   * What finds something by the path `at` with a name: `isPlain` those names that one spelling has to find. A file's name has
   * reserved characters encoded or not, and hexadecimal digits in either case, because clients differ: a guard of static
   * compares folders, or decodes. The guard of a route with a param is that of all names.
   */
  const RESOLVERS = {
    rpc: { make: () => rpc(Object.fromEntries(NAMES.flatMap(name => [[name, reached], [`admin/${name}`, reached]]))), at: '/rpc/admin/' },
    static: { make: () => serve(folder, { hidden: true }), at: '/admin/', method: 'GET', isPlain: name => /^[\w.~-]+$/.test(name) },
    ...Object.fromEntries([6, 8].map(syntax => [`a param of a router of syntax ${syntax}`, {
      make: () => routesOf({ syntax, sensitive: true, strict: true }), at: '/admin/', isPlain: () => false
    }]))
  }

  const routesOf = (options, at = '/admin/') => new Router(options).post(`${at}:name`, ctx => {
    ctx.body = NAMES.includes(ctx.params.name) ? 'reached' : ''
  }).routes()

  /** Whether a request reaches what a middleware finds. */
  async function reaches (app, method, url) {
    const body = method === 'POST' ? '[]' : undefined
    const res = await app.inject({ method, url, headers: { 'content-type': 'application/json' }, body })
    return res.status === 200 && /^"?reached"?$/.test(res.text())
  }

  const some = (all, i) => all.filter((_, at) => share(at === 0 || (at + i) % 5 === 0, at === 0 || (at + i) % 2 === 0, true))

  for (const [what, { make, at, method = 'POST', isPlain = () => true }] of Object.entries(RESOLVERS)) {
    for (const [how, guard] of Object.entries(GUARDS)) {
      it(`should see all that reaches ${what}: ${how}`, async () => {
        for (const [i, name] of NAMES.entries()) {
          if (how === 'ctx.path ===' && !isPlain(name)) continue
          const own = at + spelt(name)
          const isExact = how === 'ctx.path ===' || (isPlain(name) && i % 2 === 0)
          const path = isExact ? own : how === 'ctx.path.startsWith()' ? at : at.slice(0, -1)
          let isSeen
          const app = new Kone().use(guard(path, () => { isSeen = true })).use(make())
          for (const url of some(spellings(own), i)) {
            isSeen = false
            const isReached = await reaches(app, method, url)
            assert(isReached || url !== own, `${own} is not reached`)
            assert(isSeen || !isReached, `${path} is guarded, and ${url} reaches it`)
          }
        }
      })
    }
  }

  for (const [what, make] of Object.entries({
    rpc: () => rpc(Object.fromEntries(NAMES.map(name => [`admin/${name}`, () => 'reached'])), { prefix: '/a' }),
    'a router of syntax 6': () => routesOf({ syntax: 6 }, '/a/admin/'),
    'a router of syntax 8': () => routesOf({ syntax: 8 }, '/a/admin/')
  })) {
    it(`should let nothing reach ${what} that csrf protects`, async () => {
      const app = new Kone().use(csrf({ ignoredPathGlobs: ['/a/**', '!/a/admin/**'] })).use(make())
      for (const [i, name] of NAMES.entries()) {
        for (const url of some(spellings(`/a/admin/${spelt(name)}`), i)) assert.equal(await reaches(app, 'POST', url), false, url)
      }
    })
  }
})
