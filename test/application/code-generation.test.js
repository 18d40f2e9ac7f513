'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { execFileSync } = require('node:child_process')

const FLAG = '--disallow-code-generation-from-strings'

/** In one process: what each request gets, in an app with each middleware that makes errors. */
const APP = `
const set = require('kone/middleware')
const Kone = require('kone')
const app = new Kone({ keys: ['a key'] })
app.silent = true
const router = new set.router()
router.post('/json', set.bodyParser(), ctx => { ctx.body = ctx.request.body })
router.post('/upload', set.upload(), ctx => { ctx.body = ctx.request.body })
const query = { '~standard': { version: 1, vendor: 'test', validate: () => ({ issues: [{ message: 'never' }] }) } }
router.get('/valid', set.validate({ query }), ctx => {})
router.get('/throw', ctx => ctx.throw(418, 'tea', { headers: { 'X-A': '1' } }))
router.get('/assert', ctx => ctx.assert(false, 401))
router.get('/cookie', ctx => { ctx.cookies.set('a', 'b', { signed: true }); ctx.body = ctx.accepts('json') })
router.get('/made', () => { throw new (require('http-errors').Gone)() })
app.use(router.routes()).use(router.allowedMethods({ throw: true }))
const type = { 'Content-Type': 'application/json' }
Promise.all([
  { url: '/throw' }, { url: '/assert' }, { url: '/cookie' }, { url: '/made' }, { url: '/valid' }, { method: 'DELETE', url: '/throw' },
  { method: 'POST', url: '/json', headers: type, body: '{' }, { method: 'POST', url: '/upload', body: '{}', headers: type }
].map(async request => {
  const { status, headers } = await app.inject(request)
  return [request.method, request.url, status, headers['x-a']].filter(Boolean).join(' ')
})).then(found => console.log(found.join()))
`

function run (flags, source) {
  return execFileSync(process.execPath, [...flags, '-e', source], { cwd: __dirname, encoding: 'utf8', stdio: 'pipe' }).trim()
}

describe(`node ${FLAG}`, () => {
  it('should change no response', () => {
    assert.match(run([], APP), /^\/throw 418 1,\/assert 401,/)
    assert.equal(run([FLAG], APP), run([], APP))
  })

  it('should be an error of template() when it is registered', () => {
    const source = "try { require('kone/middleware/template')('.') } catch (err) { console.log(err.message) }"
    assert.equal(run([FLAG], source), 'template: nunjucks makes a function of each template, and node was started with ' +
      `${FLAG} (kone/middleware/template/README.md)`)
    assert.equal(run([], source), '')
  })
})
