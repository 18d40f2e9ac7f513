'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const { describe, it } = require('node:test')
const original = require('koa-views')
const Bluebird = require('bluebird')
const nunjucks = require('nunjucks')
const csrf = require('kone/middleware/csrf')
const session = require('kone/middleware/session')
const template = require('kone/middleware/template')
const folder = require('../helpers/folder')
const frameworks = require('../helpers/frameworks')

const root = path.join(folder({
  'views/user.html': 'Hello {{ name }}{% include "parts/sign.njk" %}',
  'views/parts/sign.njk': '!',
  'views/parts/relative.html': '{% include "./sign.njk" %}',
  'views/layout.html': '<title>{% block title %}none{% endblock %}</title>',
  'views/page.html': '{% extends "layout.html" %}{% block title %}{{ title }}{% endblock %}',
  'views/dir/index.html': 'index of dir',
  'views/basic.test.html': 'a dot in its name',
  'views/state.html': '{{ site }} {{ engine }} {{ type }}',
  'views/filter.html': '{{ message | shorten(5) }}',
  'views/later.html': '{{ name | later }}',
  'views/all.html': '{{ year() }} {{ "yes" if name is ada }}',
  'views/mapped.tpl': 'mapped {{ 1 + 1 }}',
  'views/once.html': '{% include "part" %}',
  'views/broken.html': '{% if %}',
  'views/bom.html': '\uFEFFbom',
  'views/missing-part.html': '{% include "nowhere.html" %}',
  'views/outside.html': '{% include "../views-secret/secret.html" ignore missing %}.',
  'views/old.ejs': '<%= 1 %>',
  'views-secret/secret.html': 'secret',
  'secret.html': 'secret'
}), 'views')

frameworks('template', ({ it, Koa, ask, errors }) => {
  const serve = (handler, options) => new Koa().use(template(root, options)).use(handler)
  const rendered = async (view, locals, options) => {
    return (await ask(serve(ctx => ctx.render(view, locals), options), 'GET /')).text
  }

  it('should render into the body, as html', async () => {
    const res = await ask(serve(ctx => ctx.render('user', { name: 'Ada' })), 'GET /')
    assert.deepEqual([res.status, res.text, res.headers['content-type']],
      [200, 'Hello Ada!', 'text/html; charset=utf-8'])
  })

  it('should find views as koa-views does', async () => {
    const theirs = new Koa()
    theirs.use(original(root, { map: { html: 'nunjucks' }, options: { nunjucksEnv: nunjucks.configure(root) } }))
    theirs.use(ctx => ctx.render(ctx.query.view, { name: 'x', title: 't' }))
    const ours = serve(ctx => ctx.render(ctx.query.view, { name: 'x', title: 't' }))
    for (const view of ['user', 'user.html', './user', 'dir', 'dir/', 'basic.test', 'page', 'parts/../user', 'bom']) {
      const target = `GET /?view=${view}`
      assert.equal((await ask(ours, target)).text, (await ask(theirs, target)).text, view)
    }
    assert.equal(await rendered('parts/relative'), '!') // an include beside it
  })

  it('should have the variables of loops and scopes that nunjucks has', async () => {
    const files = Object.fromEntries([
      '{% for a in list %}{{ loop.index }}{{ loop.index0 }}{{ loop.revindex }}{{ loop.revindex0 }}' +
        '{{ loop.first }}{{ loop.last }}{{ loop.length }}{{ loop | dump }} {% endfor %}{{ loop }}',
      '{% for a in list %}{% for b in list %}{{ loop.index }}{{ a }}{{ b }}{% endfor %}{{ loop.index }}{% endfor %}',
      '{% for loop in rows %}{{ loop.id }}{{ loop.index }}{{ loop | dump }}{% endfor %}',
      '{% for constructor, __proto__ in map %}{{ constructor }}{{ __proto__ }}{{ toString }}{% endfor %}{{ constructor }}',
      '{% set x = 1 %}{% for a in list %}{% set x = x + a %}{{ x }}{% endfor %}{{ x }}{% set a, b = 2 %}{{ a }}{{ b }}',
      '{% macro m(a, b=2) %}{{ a }}{{ b }}{{ x }}{{ loop }}{% endmacro %}{% for x in list %}{{ m(x) }}{{ m(x, b=x) }}{% endfor %}'
    ].map((text, i) => [`loop-${i}.html`, text]))
    for (const [name, text] of Object.entries(files)) {
      fs.writeFileSync(path.join(root, name), text)
      const locals = () => ({ list: [3, 4, 5], rows: [{ id: 'a' }, { id: 'b' }], map: { k: 'v', l: 'w' } })
      const theirs = new nunjucks.Environment(null, { autoescape: true }).renderString(text, locals())
      assert.equal(await rendered(name, locals()), theirs, text)
    }
  })

  it('should make the token of csrf only where a template prints it, and then as a text', async () => {
    const app = [session({ key: 'sid' }), csrf(), template(root), ctx => ctx.render(ctx.path.slice(1), { filter: ctx.query.filter })]
    assert.equal((await ask(app, 'GET /parts/relative')).headers['set-cookie'], undefined)
    for (const filter of ['e', 'safe', 'trim', 'string', 'urlencode', 'replace("?", "")', 'truncate(999)', 'dump | replace(r/["]/g, "")']) {
      fs.writeFileSync(path.join(root, 'token.html'), `{% set token = _csrf %}{{ _csrf | ${filter} }} {{ token }}{{ "" ~ _csrf }}`)
      const res = await ask(app, 'GET /token')
      assert.match(res.text, /^([\w-]{64}) \1\1$/, filter)
      assert(res.headers['set-cookie'])
    }
  })

  it('should have the values of the getters of ctx.state', async () => {
    fs.writeFileSync(path.join(root, 'getters.html'), '{{ user.name }}{{ count + 1 }}{{ "admin" if isAdmin }}{% for one in list %}{{ one }}{% endfor %}')
    const app = serve(ctx => {
      ctx.state = { get user () { return { name: 'ann' } }, get count () { return 1 }, get isAdmin () { return false }, get list () { return ['<', 'b'] } }
      return ctx.render('getters')
    })
    assert.equal((await ask(app, 'GET /')).text, 'ann2&lt;b')
  })

  it('should merge the variables of options, state and locals', async () => {
    const app = serve(ctx => {
      ctx.state.engine = 'state'
      ctx.state.type = 'state'
      return ctx.render('state', { type: 'locals' })
    }, { options: { site: 'options', engine: 'options' } })
    assert.equal((await ask(app, 'GET /')).text, 'options state locals')
  })

  it('should escape, and let no local change that or any other setting', async () => {
    const locals = {
      name: '<b>',
      settings: { views: '/' },
      nunjucks: { configure: [{ autoescape: false }] },
      autoescape: false,
      loader: {},
      nunjucksEnv: nunjucks.configure(root, { autoescape: false }),
      filename: '/etc/passwd',
      cache: true
    }
    assert.equal(await rendered('user', locals), 'Hello &lt;b&gt;!')
    assert.equal(await rendered('user', JSON.parse('{"__proto__":{"autoescape":false},"name":"<i>"}')), 'Hello &lt;i&gt;!')
    assert.equal({}.autoescape, undefined)
    assert.equal(await rendered('user', { name: '<b>' }, { options: { autoescape: false } }), 'Hello <b>!')
  })

  it('should give the text alone with autoRender off', async () => {
    const app = serve(async ctx => {
      const text = await ctx.render('user', { name: 'x' })
      assert.equal(ctx.body, undefined)
      ctx.body = text.toUpperCase()
    }, { autoRender: false })
    const res = await ask(app, 'GET /')
    assert.deepEqual([res.text, res.headers['content-type']], ['HELLO X!', 'text/html; charset=utf-8'])
  })

  it('should be a method of an app, as koa-views', async () => {
    const app = new Koa()
    app.context.render = app.response.render = template(root)()
    app.use(ctx => ctx.path === '/ctx' ? ctx.render('user', { name: 'a' }) : ctx.response.render('user', { name: 'b' }))
    assert.equal((await ask(app, 'GET /ctx')).text, 'Hello a!')
    assert.equal((await ask(app, 'GET /response')).text, 'Hello b!')
  })

  it('should put render() on ctx and its response, which needs no this', async () => {
    const app = serve(ctx => {
      assert.equal(ctx.render, ctx.response.render)
      const { render } = ctx
      return render('user', { name: 'd' })
    })
    assert.equal((await ask(app, 'GET /')).text, 'Hello d!')
  })

  it('should leave a ctx.render alone that is there already', async () => {
    const app = [(ctx, next) => {
      ctx.render = () => 'mine'
      return next()
    }, template(root), ctx => { ctx.body = ctx.render() }]
    assert.equal((await ask(app, 'GET /')).text, 'mine')
  })

  it('should have the filters, globals and tests of the options', async () => {
    const options = {
      filters: { shorten: (text, count) => text.slice(0, count) },
      globals: { year: () => 1815 },
      tests: { ada: name => name === 'Ada' }
    }
    assert.equal(await rendered('filter', { message: 'long message' }, { options }), 'long ')
    assert.equal(await rendered('all', { name: 'Ada' }, { options }), '1815 yes')
  })

  it('should take an Environment of the app', async () => {
    const env = new nunjucks.Environment(new nunjucks.FileSystemLoader(root))
    env.addFilter('shorten', (text, count) => text.slice(0, count))
    const options = { map: { html: 'nunjucks' }, options: { nunjucksEnv: env } }
    assert.equal(await rendered('filter', { message: 'this is it' }, options), 'this ')
  })

  it('should wait for what is asynchronous in a template', async () => {
    assert.equal(await rendered('later', { name: 'x' }, { options: { nunjucksEnv: asynchronous() } }), 'x, later')
  })

  it('should take another extension', async () => {
    assert.equal(await rendered('parts/sign', {}, { extension: 'njk' }), '!')
    assert.equal(await rendered('mapped', {}, { extension: 'tpl', map: { tpl: 'nunjucks' } }), 'mapped 2')
  })

  it('should respond with 500 for a view that is missing or broken or not of nunjucks', async () => {
    for (const view of ['nowhere', 'broken', 'missing-part', 'old.ejs', '../secret', '../views-secret/secret',
      '/etc/passwd', '..', 'a\0b', '']) {
      const before = errors.length
      const res = await ask(serve(ctx => ctx.render(view)), 'GET /')
      assert.deepEqual([res.status, res.text], [500, 'Internal Server Error'], JSON.stringify(view))
      assert.equal(errors.length, before + 1)
    }
  })

  it('should include nothing from beside its directory', async () => assert.equal(await rendered('outside'), '.'))

  it('should see a change outside of production, and keep what it compiled in it', async () => {
    const file = path.join(root, 'changing.html')
    const env = process.env.NODE_ENV
    for (const [mode, expected] of [['development', 'two'], ['production', 'one']]) {
      fs.writeFileSync(file, 'one')
      process.env.NODE_ENV = mode
      const app = serve(ctx => ctx.render('changing'))
      try {
        assert.equal((await ask(app, 'GET /')).text, 'one')
        fs.writeFileSync(file, 'two')
        fs.utimesSync(file, 1, 1)
        assert.equal((await ask(app, 'GET /')).text, expected, mode)
      } finally {
        process.env.NODE_ENV = env ?? ''
        if (env === undefined) delete process.env.NODE_ENV
      }
    }
  })

  const needsFinal = { skip: !Koa.prototype.final && 'Koa has no app.final' }

  for (const kind of ['native', 'bluebird']) {
    it(`should leave an error to the handler that waits for it, if the global promise is ${kind}`, needsFinal, async () => {
      const made = kind === 'native' ? template : loadedOnBluebird()
      for (const options of [{}, { nunjucksEnv: asynchronous() }]) {
        const handlers = {
          await: async ctx => { try { await ctx.render('nowhere') } catch {} },
          catch: ctx => ctx.render('nowhere').catch(() => {}),
          both: ctx => ctx.render('nowhere').then(() => {}, () => {}),
          finally: async ctx => { await ctx.render('nowhere').finally(() => {}).catch(() => {}) },
          all: async ctx => { await Promise.all([ctx.render('nowhere')]).catch(() => {}) }
        }
        for (const [name, handler] of Object.entries(handlers)) {
          const app = new Koa().use(made(root, { options })).use(handler)
          app.final(made.final())
          assert.equal((await ask(app, 'GET /')).status, 404, name)
        }
      }
    })
  }

  it('should as a final wait for what the handler did not', needsFinal, async () => {
    const app = serve(ctx => {
      if (ctx.path === '/caught') return ctx.render('nowhere').catch(() => { ctx.body = 'instead' })
      if (ctx.path === '/none') return ctx.render('nowhere').catch(() => {})
      const rendering = ctx.render(ctx.path.slice(1), { name: 'x' })
      if (ctx.query.then) rendering.then(() => {})
    }, { options: { nunjucksEnv: asynchronous() } })
    app.final(template.final())
    assert.equal((await ask(app, 'GET /later')).text, 'x, later')
    assert.equal((await ask(app, 'GET /user')).text, 'Hello x!')
    assert.equal((await ask(app, 'GET /nowhere')).status, 500)
    assert.equal((await ask(app, 'GET /caught')).text, 'instead')
    assert.equal((await ask(app, 'GET /none')).status, 404)
    assert.equal((await ask(app, 'GET /later?then=1')).text, 'x, later')
  })
})

function loadedOnBluebird () {
  const file = require.resolve('kone/middleware/template')
  const known = require.cache[file]
  const { Promise } = global
  delete require.cache[file]
  global.Promise = Bluebird
  try {
    return require(file)
  } finally {
    global.Promise = Promise
    require.cache[file] = known
  }
}

/** An Environment with a filter that takes a while. */
function asynchronous () {
  const env = new nunjucks.Environment([])
  return env.addFilter('later', (value, done) => setImmediate(done, null, `${value}, later`), true)
}

describe('template(root, options)', () => {
  it('should compile a template once', async () => {
    let compiled = 0
    class Loader extends nunjucks.Loader {
      getSource (name) {
        compiled++
        return name === 'part' ? { src: 'part', path: name, noCache: false } : null
      }
    }
    const render = template(root, { options: { loader: new Loader() } })()
    const ctx = { state: {} }
    for (let i = 0; i < 5; i++) assert.equal(await render.call(ctx, 'once'), 'part')
    assert.equal(compiled, 1)
  })
})
