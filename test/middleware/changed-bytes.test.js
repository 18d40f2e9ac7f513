'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const zlib = require('node:zlib')
const set = require('kone/middleware')
const folder = require('../helpers/folder')
const frameworks = require('../helpers/frameworks')

const [small, large] = [JSON.stringify({ a: 'x'.repeat(3000) }), JSON.stringify({ a: 'x'.repeat(100_000) })]
const root = folder({ 'small.json': small, 'large.json': large })

/** What sets a body, and validators of it. */
const SOURCES = {
  'a small file of static': { path: '/small.json', use: () => set.static(root) },
  'a large file of static': { path: '/large.json', use: () => set.static(root) },
  'the stream of a file': { use: () => ctx => { ctx.body = fs.createReadStream(path.join(root, 'large.json')); ctx.type = 'json' } },
  'text with a tag': { use: () => ctx => { ctx.body = small; ctx.type = 'json'; ctx.etag = 'own' } },
  'an object with a tag': { use: () => ctx => { ctx.body = JSON.parse(small); ctx.etag = 'own'; ctx.set('Accept-Ranges', 'bytes') } }
}

const MAKE = {
  compress: () => set.compress({ threshold: 0 }),
  jsonp: () => set.jsonp(),
  etag: () => set.etag(),
  conditionalGet: () => set.conditionalGet()
}
const AROUND = [
  ['compress'], ['jsonp'], ['compress', 'jsonp'], ['jsonp', 'compress'], ['etag', 'compress'], ['compress', 'etag'], ['etag', 'jsonp'],
  ['jsonp', 'etag'], ['conditionalGet', 'etag', 'compress', 'jsonp'], ['compress', 'jsonp', 'conditionalGet', 'etag'],
  ['conditionalGet', 'compress'], ['jsonp', 'conditionalGet']
]
const FIELDS = ['content-type', 'content-encoding', 'etag', 'accept-ranges', 'last-modified', 'vary', 'x-content-type-options']

const strong = tag => tag !== undefined && !tag.startsWith('W/')

frameworks('a response whose bytes another middleware changes', ({ it, Koa, ask }) => {
  for (const [what, { path = '/', use }] of Object.entries(SOURCES)) {
    it(`should have no tag and no ranges of other bytes, and HEAD as GET: ${what}`, async () => {
      for (const around of AROUND) {
        const app = new Koa()
        for (const name of around) app.use(MAKE[name]())
        app.use(use())
        const get = (headers, method = 'GET') => ask(app, `${method} ${path}?callback=cb`, { headers })
        for (const accept of ['gzip', 'identity']) {
          const sends = { 'accept-encoding': accept }
          const message = `${what}, ${around}, ${accept}`
          const plain = await ask([use()], `GET ${path}`)
          const whole = await get(sends)
          const { etag } = whole.headers
          assert.equal(whole.status, 200, message)
          const decoded = whole.headers['content-encoding'] === 'gzip' ? zlib.gunzipSync(whole.body) : whole.body
          assert.ok(decoded.length >= plain.body.length, message)

          const head = await get(sends, 'HEAD')
          // until a large file is tagged by its content
          const fields = what === 'a large file of static' ? FIELDS.filter(name => name !== 'etag') : FIELDS
          for (const name of fields) assert.equal(head.headers[name], whole.headers[name], `${name} of HEAD, ${message}`)
          if (head.headers['content-length'] !== undefined && whole.headers['content-length'] !== undefined) {
            assert.equal(head.headers['content-length'], whole.headers['content-length'], message)
          }

          if (!whole.body.equals(plain.body)) {
            assert.equal(whole.headers['accept-ranges'], undefined, message)
            if (plain.headers.etag !== undefined) assert.ok(!strong(etag) || etag !== plain.headers.etag, `${etag}, ${message}`)
          }
          for (const more of [{}, ...etag === undefined ? [] : [{ 'if-range': etag }]]) {
            const part = await get({ ...sends, range: 'bytes=2-9', ...more })
            if (part.status !== 206) assert.ok(part.body.equals(whole.body), message)
            else if (strong(part.headers.etag) && part.headers.etag === etag) {
              assert.ok(part.body.equals(whole.body.subarray(2, 10)), `a part of something else, ${message}`)
            } else assert.equal(more['if-range'], undefined, message)
          }
          if (etag === undefined || !(around.includes('conditionalGet') || path !== '/')) continue
          const again = await get({ ...sends, 'if-none-match': etag })
          assert.deepEqual([again.status, again.headers.etag], [304, etag], message)
          // the cache may have another encoding under this tag
          assert.equal(again.headers['content-encoding'], undefined, message)
        }
      }
    })
  }
}, ['koa 2', 'kone'])
