'use strict'

const assert = require('node:assert/strict')
const { describe, it } = require('node:test')
const koaHelmet = require('koa-helmet')
const helmet = require('kone/middleware/helmet')

const frameworks = require('../helpers/frameworks')

const OPTIONS = [
  undefined,
  {},
  { contentSecurityPolicy: false },
  { contentSecurityPolicy: { directives: { scriptSrc: ["'self'", 'cdn.example.com'], 'img-src': null } } },
  { contentSecurityPolicy: { useDefaults: false, reportOnly: true, directives: { defaultSrc: new Set(["'none'"]) } } },
  { contentSecurityPolicy: { directives: { scriptSrc: ["'self'", () => "'nonce-abc'"] } } },
  { contentSecurityPolicy: { reportOnly: true, directives: { scriptSrc: [req => `host.of${req.url.replace('/', '.')}`] } } },
  { crossOriginEmbedderPolicy: true },
  { crossOriginEmbedderPolicy: { policy: 'credentialless' }, crossOriginOpenerPolicy: { policy: 'unsafe-none' } },
  { strictTransportSecurity: { maxAge: 123, includeSubDomains: false, preload: true } },
  { hsts: false, frameguard: { action: 'deny' }, noSniff: false },
  { referrerPolicy: { policy: ['origin', 'unsafe-url'] }, dnsPrefetchControl: { allow: true } },
  { permittedCrossDomainPolicies: { permittedPolicies: 'all' }, xPoweredBy: false, originAgentCluster: false }
]

frameworks('helmet', ({ it, ask }) => {
  /** Header names and values in the order in which they were set. */
  async function headersBy (fn, path = '/') {
    let headers
    const app = [async (ctx, next) => {
      ctx.set('X-Powered-By', 'kone')
      await next()
      headers = Object.entries({ ...ctx.response.headers })
    }, fn, ctx => { ctx.body = 'hi' }]
    assert.equal((await ask(app, `GET ${path}`)).status, 200)
    return headers
  }

  it('should equal koa-helmet header by header', async () => {
    for (const options of OPTIONS) {
      assert.deepEqual(await headersBy(helmet(options)), await headersBy(koaHelmet(options)))
    }
  })

  it('should have every middleware of koa-helmet by its name', async () => {
    const names = Object.keys(koaHelmet)
    assert.deepEqual(Object.keys(helmet), names)
    for (const name of names) {
      assert.deepEqual(await headersBy(helmet[name]()), await headersBy(koaHelmet[name]()), name)
    }
    const policy = { directives: { scriptSrc: [() => "'nonce-1'"] } }
    assert.deepEqual(await headersBy(helmet.contentSecurityPolicy(policy)),
      await headersBy(koaHelmet.contentSecurityPolicy(policy)))
    assert.deepEqual(helmet.contentSecurityPolicy.getDefaultDirectives(),
      koaHelmet.contentSecurityPolicy.getDefaultDirectives())
  })

  it('should call a directive for every request, with node\'s objects', async () => {
    let nonce = 0
    const seen = new Set()
    const app = [(ctx, next) => { ctx.res.nonce = ++nonce; return next() }, helmet({
      contentSecurityPolicy: {
        directives: {
          scriptSrc: ["'self'", (req, res) => { seen.add(req); return `'nonce-${res.nonce}'` }]
        }
      }
    }), ctx => { ctx.body = 'hi' }]
    for (const n of [1, 2]) {
      const { headers } = await ask(app, 'GET /')
      assert.match(headers['content-security-policy'], new RegExp(`script-src 'self' 'nonce-${n}'`))
      assert.equal(headers['x-frame-options'], 'SAMEORIGIN')
    }
    assert.equal(seen.size, 2)
  })

  it('should respond with 500 and the other headers when a directive throws or gives what cannot be sent', async () => {
    const { date, ...others } = (await ask([helmet({ contentSecurityPolicy: false }), ctx => ctx.throw(500)], 'GET /')).headers
    for (const source of [() => { throw new Error('no nonce') }, () => "'self'; script-src *"]) {
      const app = [helmet({ contentSecurityPolicy: { directives: { scriptSrc: [source] } } }), ctx => { ctx.body = 'hi' }]
      const { status, headers } = await ask(app, 'GET /')
      assert.deepEqual({ status, ...headers, date }, { status: 500, ...others, date })
    }
  })
})

describe('helmet(options)', () => {
  it('should throw for one header by both of its names', () => {
    assert.throws(() => helmet({ hsts: false, strictTransportSecurity: true }), Error)
  })
})
