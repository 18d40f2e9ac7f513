'use strict'

// egg-security in Egg; the project is in ./egg-security. Its tests are not in its tarball.

const path = require('node:path')

module.exports = {
  title: 'egg-security, its tokens and headers',
  group: 'egg',
  packages: { 'egg-security': '3.8.1', egg: '3.34.0' },
  responses: 24,

  async serve () {
    const { start } = require('egg')
    const app = await start({ baseDir: path.join(__dirname, 'egg-security'), mode: 'single', env: 'prod' })
    return app.listen(0)
  },

  // Tokens and nonces are new each time.
  mask: text => text.replace(/("x-readtime":")\d+/g, '$1TIME').replace(/(csrfToken=)[\w-]{10,}/g, '$1VALUE')
    .replace(/(token\\":\\")[\w-]{10,}/g, '$1VALUE').replace(/(nonce(?:-|":"|\\":\\"))[\w-]{10,}/g, '$1VALUE')
    .replace(/(_csrf(?:=|\\":\\"))[\w-]{10,}/g, '$1VALUE'),

  async ask (client) {
    const { body } = await client.ask('GET /')
    const { token } = JSON.parse(body)
    const post = (headers, more = { form: { name: 'Ada' } }) => client.ask('POST /update', { headers, ...more })
    await post({})
    await post({ 'x-csrf-token': 'wrong' })
    await post({ 'x-csrf-token': token })
    await post({ 'x-csrf-token': token, cookie: 'csrfToken=another' }, { json: { name: 'Ada' } })
    await post({}, { form: { _csrf: token, name: 'Ada' } })
    await client.ask(`POST /update?_csrf=${encodeURIComponent(token)}`, { json: { name: 'Ada' } })
    await client.ask('GET /rotate')
    await post({ 'x-csrf-token': token })
    await client.ask('HEAD /')
    await client.ask('GET /nonce')
    await client.ask('GET /own')
    await client.ask('TRACE /')
    await client.ask('OPTIONS /')
    for (const to of ['http://a.example.com/b', 'http://example.org/', '/own?a=%0d%0ab', '//example.org', 'ftp://a.example.com']) {
      await client.ask(`GET /moved?to=${encodeURIComponent(to)}`)
    }
    await client.ask(`GET /unsafe?to=${encodeURIComponent('http://example.org/')}`)
    await client.ask('GET /helpers')
    await client.ask('GET /safe')
    await client.ask('GET /..%2F..%2Fetc%2Fpasswd')
    await client.ask('GET /fails', { headers: { accept: 'application/json' } })
  }
}
