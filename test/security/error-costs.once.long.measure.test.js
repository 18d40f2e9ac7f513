'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const { describe, it } = require('node:test')
const v8 = require('node:v8')
const vm = require('node:vm')
const zlib = require('node:zlib')
const middleware = require('kone/middleware')
const { Registry } = require('prom-client')

const Kone = require('../helpers/kone')
const temporary = require('../helpers/folder')
const share = require('../helpers/share')

/*
 * No error costs more than twice a valid input of the same decoded size, plus 0.2 ms, in CPU of the process: the set's 4xx
 * by hostile inputs up to the limits, sent as they are and compressed; a third of them for each commit.
 */

const TIMES = 2
const MORE = process.version < 'v22' ? 200 : 1200 // µs; since Node 22 V8 counts the lines of 1 MB for its message
const RUNS = 3
const MOST = 25 // runs before a ratio counts, because other programs share the caches

const MB = 1024 * 1024
const KB = 1024
const ENCODINGS = {
  identity: bytes => bytes,
  gzip: bytes => zlib.gzipSync(bytes),
  br: bytes => zlib.brotliCompressSync(bytes, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 4 } })
}

const root = temporary()
fs.writeFileSync(path.join(root, 'a.txt'), 'x'.repeat(64 * KB))

const { bodyParser, csrf, jsonp, metrics, router: Router, rpc, static: serve, upload, validate } = middleware

const filled = (size, begin, piece, end) => {
  return begin + piece.repeat(Math.floor((size - begin.length - end.length) / piece.length)) + end
}
const nested = (size, inner) => filled(size / 2, '', '[', '') + inner + filled(size / 2, '', ']', '')

// ---- JSON: name → [hostile, valid]

const numbers = filled(MB, '[', '1,', '1]')
const text = filled(MB, '["', 'a', '"]')
const blanks = filled(MB, '[', '\n', ']')
const names = Array.from({ length: MB / 16 }, (_, i) => `"k${i}":1`).join()
const JSONS = {
  'brackets that nobody closes': [filled(MB, '', '[', ''), nested(MB - 2, '')],
  'numbers without an end': [filled(MB, '[', '1,', ''), numbers],
  'numbers and something else': [filled(MB, '[', '1,', 'x'), numbers],
  'numbers and something else, as a text before': [filled(MB, '["1,1,1,1,1,x",', '1,', 'x'), numbers],
  'something else that a text has many times': [filled(MB, '["', '1,1,1,1,1,x', '",1,1,1,1,1,x'), text],
  'a text without an end': [filled(MB, '["', 'a', ''), text],
  'a text with a bad escape': [filled(MB, '["', 'a', '\\x"]'), text],
  'a text with a line break': [filled(MB, '["', 'a', '\n"]'), text],
  'line breaks and something else': [filled(MB, '[', '\n', 'x'), blanks],
  'line breaks between numbers': [filled(MB, '[1', '\n', '1]'), blanks],
  'line breaks alone': [filled(MB, '', '\n', ''), blanks],
  'a text that is no object': [filled(MB, '"', 'a', '"'), text],
  'objects that end too early': [filled(MB, '[', '{"a":1},', '{"a"}]'), filled(MB, '[', '{"a":1},', '1]')],
  'a name that reaches a prototype, behind numbers': [filled(MB, '[', '1,', '{"__proto__":1}]'), numbers],
  'a name that reaches a prototype, in brackets': [nested(MB - 20, '{"__proto__":1}'), nested(MB - 2, '')],
  'a name that reaches a prototype, behind names': [`{${names},"a":{"constructor":{"prototype":1}}}`, `{${names}}`],
  'a name that reaches a prototype, behind objects': [filled(MB, '[', '{},', '{"__proto__":1}]'), filled(MB, '[', '{},', '1]')]
}

// ---- forms and parts

const form = size => Array.from({ length: 1000 }, (_, i) => `k${i}=${'a'.repeat(size / 1000 - 8)}`).join('&')
const FORMS = {
  'too many fields': [filled(56 * KB, '', 'a&', 'a'), form(56 * KB)],
  'too many fields, escaped': [filled(56 * KB, '', '%5B&', 'a'), form(56 * KB)],
  'too many levels': [filled(56 * KB, 'a', '[b]', '=1'), form(56 * KB)],
  'too many levels with dots': [filled(56 * KB, 'a', '.b', '=1'), form(56 * KB)],
  'a field with too many levels behind others': [form(56 * KB).replace(/&k999=.*/, '&a[a][a][a][a][a][a][a]=1'), form(56 * KB)]
}

const part = (parameters, content) => `--b\r\nContent-Disposition: form-data; ${parameters}\r\n\r\n${content}\r\n`
const parts = (...all) => `${all.join('')}--b--\r\n`
const file = parts(part('name="f"; filename="f"', 'a'.repeat(MB - 100)))
const files = parts(part('name="f"; filename="f"', 'a').repeat(19), part('name="f"; filename="f"', 'a'.repeat(MB - 2000)))
const PARTS = {
  'no part': [filled(MB, '', 'a', ''), file],
  'no end': [part('name="f"; filename="f"', 'a'.repeat(MB)), file],
  'a part without a name': [parts(part('filename="f"', 'a'.repeat(MB - 100))), file],
  'too many files': [parts(part('name="f"; filename="f"', '').repeat(10_000)), files],
  'too many fields': [parts(part('name="a"', '').repeat(10_000)), file],
  'line breaks': [filled(MB, '', '\r\n', ''), file],
  'beginnings of a boundary': [filled(MB, '--b\r\n', '\r\n--', ''), file],
  'a long header': [filled(MB, '--b\r\n', 'a: b\r\n', ''), file]
}

// ---- name → { app, headers, url, of: name → [hostile, valid], a body or what else of the request }

const respond = ctx => { ctx.body = 'ok' }
const schema = { '~standard': { version: 1, vendor: 'test', validate: value => value.isBad || value[0] === 2 ? { issues: [{ message: 'no', path: ['a'] }] } : { value } } }
const long = 7 * KB
const get = (hostile, valid) => [{ method: 'GET', ...hostile }, { method: 'GET', ...valid }]

const TABLE = {
  'bodyParser: JSON': { app: [bodyParser(), respond], type: 'application/json', of: JSONS },
  'bodyParser: any JSON': { app: [bodyParser({ strict: false, onProtoPoisoning: 'error' }), respond], type: 'application/json', of: omit(JSONS, 'a text that is no object') },
  'bodyParser: a form': { app: [bodyParser(), respond], type: 'application/x-www-form-urlencoded', of: FORMS },
  'bodyParser: more than the limit': {
    app: [bodyParser(), respond], type: 'application/json', of: { 'a longer text': [filled(MB + 1, '["', 'a', '"]'), text], 'more numbers': [filled(MB + 1, '[', '1,', '1]'), numbers] }
  },
  'bodyParser: another charset': {
    app: [bodyParser(), respond], type: 'application/json; charset=x', of: { numbers: [numbers, { body: numbers, type: 'application/json' }] }
  },
  rpc: { app: [rpc({ count: (...all) => all.length }, { limit: MB + 2 })], url: '/rpc/count', type: 'application/json', of: rpcs() },
  upload: { app: [upload({ dest: root }), respond], type: 'multipart/form-data; boundary=b', encodings: ['identity'], of: PARTS },
  validate: {
    app: [bodyParser(), validate({ body: schema }), respond],
    type: 'application/json',
    of: {
      'a long text': [filled(MB, '{"isBad":1,"a":"', 'a', '"}'), filled(MB, '{"a":"', 'a', '"}')],
      'many numbers': [`[2,${numbers.slice(3)}`, numbers],
      'many names': [`{"isBad":1,${names}}`, `{${names}}`],
      'many brackets': [`[2,${nested(MB - 10, '')}]`, `[1,${nested(MB - 10, '')}]`]
    }
  },
  router: {
    app: routes(),
    of: {
      'a method that is not allowed': [{ method: 'PUT', url: `/p/${'a'.repeat(long)}` }, { method: 'GET', url: `/p/${'a'.repeat(long)}` }]
    }
  },
  csrf: {
    app: [csrf(), respond],
    of: {
      'another site': [{ headers: { 'sec-fetch-site': 'cross-site', origin: `http://${'a.'.repeat(long / 2)}a` } }, { headers: { 'sec-fetch-site': 'same-origin', origin: `http://${'a.'.repeat(long / 2)}a` } }],
      'another origin': [{ headers: { origin: `http://${'a'.repeat(long)}` } }, { headers: { host: 'a'.repeat(60), origin: `http://${'a'.repeat(60)}` } }]
    }
  },
  jsonp: { app: [jsonp(), respond], of: { 'no name': get({ url: `/?callback=${'a.'.repeat(long / 2)}` }, { url: `/?callback=${'a.'.repeat(50)}a&x=${'a'.repeat(long - 100)}` }) } },
  metrics: {
    app: [metrics({ defaults: false, register: new Registry(), token: 'secret' }), respond],
    of: { 'another token': get({ url: '/metrics', headers: { authorization: `Bearer ${'a'.repeat(long)}` } }, { url: '/metrics', headers: { authorization: 'Bearer secret', x: 'a'.repeat(long) } }) }
  },
  static: {
    app: [serve(root)],
    of: {
      'a path that cannot be decoded': get({ url: `/${'%E4'.repeat(long / 3)}` }, { url: `/a.txt?${'%41'.repeat(long / 3)}` }),
      'a range that is not there': get({ url: '/a.txt', headers: { range: `bytes=${'9'.repeat(long)}-` } }, { url: '/a.txt', headers: { range: 'bytes=0-1', x: 'a'.repeat(long) } }),
      'another version': get({ url: '/a.txt', headers: { 'if-match': '"a",'.repeat(long / 4) } }, { url: '/a.txt', headers: { 'if-match': '*', x: 'a'.repeat(long) } })
    }
  }
}

function omit (table, ...names) {
  return Object.fromEntries(Object.entries(table).filter(([name]) => !names.includes(name)))
}

function rpcs () {
  const rows = omit(JSONS, 'brackets that nobody closes', 'a name that reaches a prototype, in brackets') // too many levels
  return {
    ...Object.fromEntries(Object.entries(rows).map(([name, [hostile, valid]]) => [name, [hostile, `[${valid}]`]])),
    'no array': [filled(MB, '{"a":"', 'a', '"}'), text],
    'too many arguments': [numbers, filled(MB, '[[', '1,', '1]]')],
    'too many levels': [filled(MB, '', '[', ''), text],
    'too many levels, behind numbers': [filled(MB, '[', '1,', '['.repeat(2000)), filled(MB, '[[', '1,', '1]]')]
  }
}

function routes () {
  const router = new Router().get('/p/:a', respond)
  return [router.routes(), router.allowedMethods()]
}

function appOf (used) {
  const app = new Kone()
  app.silent = true
  app.use((ctx, next) => {
    ctx.session = {}
    return next()
  })
  for (const one of used) app.use(one)
  return app
}

function requestOf (what, { type, url = '/' }, encoding) {
  const { body, ...rest } = typeof what === 'string' ? { body: what } : what
  const request = { method: 'POST', url, ...rest, headers: { ...type && { 'content-type': rest.type ?? type }, ...rest.headers } }
  delete request.type
  if (body === undefined) return request
  if (encoding !== 'identity') request.headers['content-encoding'] = encoding
  return { ...request, body: ENCODINGS[encoding](Buffer.from(body)) }
}

v8.setFlagsFromString('--expose-gc')
const gc = vm.runInNewContext('gc')

/** The least CPU, in µs, of the runs of a request so far. */
class Cost {
  constructor (app, request) {
    Object.assign(this, { app, request, runs: 0, least: Infinity, status: 0 })
  }

  /** Without the garbage of others. */
  async run () {
    gc()
    const begin = process.cpuUsage()
    this.status = (await this.app.inject(this.request)).status
    const { user, system } = process.cpuUsage(begin)
    this.least = Math.min(this.least, user + system)
    this.runs++
  }
}

/** What is sent as it is, and compressed in one way or the other: behind the decoder the error is the same. */
function encodingsOf (of, encodings, hostile) {
  if (typeof hostile !== 'string') return ['identity']
  const [plain, ...others] = encodings
  const number = Object.values(of).findIndex(([one]) => one === hostile)
  return others.length === 0 ? [plain] : [plain, others[number % others.length]]
}

describe('the CPU that an error costs', () => {
  for (const [name, { app: used, of, encodings = Object.keys(ENCODINGS), ...base }] of Object.entries(TABLE)) {
    const app = appOf(used)
    const costs = new Map() // of valid inputs, many of which stand beside several hostile ones
    const costOf = (valid, encoding) => {
      const key = `${encoding} ${typeof valid === 'string' ? valid : JSON.stringify(valid)}`
      if (!costs.has(key)) costs.set(key, new Cost(app, requestOf(valid, base, encoding)))
      return costs.get(key)
    }
    for (const what of share.third(Object.keys(of).map(what => `${name}, ${what}`)).map(one => one.slice(name.length + 2))) {
      const [hostile, valid] = of[what]
      for (const encoding of encodingsOf(of, encodings, hostile)) {
        it(`should be at most twice that of a valid input: ${name}, ${what}, ${encoding}`, async t => {
          const bad = new Cost(app, requestOf(hostile, base, encoding))
          const good = costOf(valid, encoding)
          const isBounded = () => bad.least <= TIMES * good.least + MORE
          for (let run = 1; run <= RUNS || (run <= MOST && !isBounded()); run++) {
            for (const one of [bad, good]) if (one.runs < run) await one.run()
          }
          assert(bad.status >= 400 && bad.status < 500, `hostile: ${bad.status}`)
          assert(good.status < 400, `valid: ${good.status}`)
          t.diagnostic(`${bad.least} µs, valid ${good.least} µs`)
          assert(isBounded(), `${bad.least} µs, a valid input ${good.least} µs`)
        })
      }
    }
  }
})
