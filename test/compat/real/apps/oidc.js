'use strict'

// An OpenID provider, which is a Koa app itself: discovery, a sign-in by code with PKCE, tokens, and what it refuses.

const crypto = require('node:crypto')

const VERIFIER = 'v'.repeat(64)
const CHALLENGE = crypto.createHash('sha256').update(VERIFIER).digest('base64url')
const REDIRECT = 'https://client.example/back'

module.exports = {
  title: 'oidc-provider, a sign-in by code',
  isFramework: true,
  packages: { 'oidc-provider': '8.8.1', 'koa-bodyparser': '4.4.1' },
  responses: 19,

  async serve () {
    const { default: Provider } = await import('oidc-provider')
    const { privateKey } = crypto.generateKeyPairSync('rsa', { modulusLength: 2048 })
    const provider = new Provider('http://127.0.0.1', {
      clients: [{ client_id: 'app', client_secret: 'secret', redirect_uris: [REDIRECT] }],
      jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), kid: 'key', use: 'sig' }] },
      cookies: { keys: ['cookie secret'] },
      features: { introspection: { enabled: true }, clientCredentials: { enabled: true } },
      findAccount: (ctx, id) => ({ accountId: id, claims: () => ({ sub: id, email: `${id}@example.com` }) }),
      claims: { openid: ['sub'], email: ['email'] }
    })
    provider.silent = true
    provider.use(async (ctx, next) => {
      await next()
      ctx.set('X-Route', ctx.oidc?.route ?? 'none')
    })
    return provider.listen(0)
  },

  // Codes, tokens, keys, times and ids are made anew each time.
  mask: text => text.replace(/(_(?:interaction|session|grant)\w*)((?:\.legacy)?(?:\.sig)?)=[^;"\\]*/g, '$1$2=VALUE')
    .replace(/\/interaction\/[\w-]+|\/auth\/[\w-]{10,}/g, '/interaction/ID')
    .replace(/\b(code|access_token|id_token|n|iat|exp|jti|state|xsrf)((?:\\?"):(?:\\?")?|=|\\" value=\\")[\w.~-]+/g, '$1$2MASKED')
    .replace(/name=\\"xsrf\\" value=\\"\w+/g, 'XSRF')
    .replace(/(expires=)\w{3}, \d\d \w{3} 2\d{3} [\d:]+ GMT/g, '$1TIME')
    .replace(/((?:uid|cookie|grantId)<\/strong>: (?:'|&#39;)?)[\w-]+/g, '$1ID')
    .replace(/nonce-[\w+/=-]+/g, 'nonce'),

  async ask (client) {
    const basic = { authorization: `Basic ${Buffer.from('app:secret').toString('base64')}` }
    await client.ask('GET /.well-known/openid-configuration')
    await client.ask('GET /jwks')
    await client.ask('GET /auth')
    await client.ask('GET /auth?client_id=nobody')
    const query = new URLSearchParams({
      client_id: 'app', response_type: 'code', scope: 'openid email', redirect_uri: REDIRECT, code_challenge: CHALLENGE, code_challenge_method: 'S256'
    })
    // the forms that oidc-provider has for development: sign in, then consent
    let { headers: { location } } = await client.send(`GET /auth?${query}`).then(response => keep(client, response))
    const path = url => url.replace(/^https?:\/\/[^/]+/, '')
    for (const form of [{ prompt: 'login', login: 'ada', password: 'x' }, { prompt: 'consent' }]) {
      const page = await client.ask(`GET ${path(location)}`)
      const action = /action="([^"]+)"/.exec(page.body)[1]
      const done = await client.ask(`POST ${path(action)}`, { form })
      const back = await client.ask(`GET ${path(done.headers.location)}`)
      location = back.headers.location
    }
    const code = new URL(location).searchParams.get('code')
    const exchange = { grant_type: 'authorization_code', code, redirect_uri: REDIRECT, code_verifier: VERIFIER }
    await client.ask('POST /token', { headers: basic, form: { ...exchange, code_verifier: 'w'.repeat(64) } })
    const tokens = await client.ask('POST /token', { headers: basic, form: exchange })
    const token = JSON.parse(tokens.body).access_token
    await client.ask('GET /me', { headers: { authorization: `Bearer ${token}` } })
    await client.ask('GET /me', { headers: { authorization: 'Bearer none' } })
    await client.ask('POST /token', { headers: basic, form: { grant_type: 'client_credentials' } })
    await client.ask('POST /token/introspection', { headers: basic, form: { token: 'none' } })
    await client.ask('POST /token', { form: { grant_type: 'client_credentials' } })
    await client.ask('OPTIONS /token', { headers: { origin: 'https://a.example', 'access-control-request-method': 'POST' } })
    await client.ask('GET /nothing')
  },

  load: { line: 'GET /.well-known/openid-configuration' }
}

function keep (client, response) {
  for (const cookie of response.headers['set-cookie'] || []) {
    const [name, ...value] = cookie.split(';')[0].split('=')
    client.cookies.set(name, value.join('='))
  }
  return response
}
