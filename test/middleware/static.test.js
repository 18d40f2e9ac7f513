'use strict'

const assert = require('node:assert/strict')
const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const net = require('node:net')
const path = require('node:path')
const { describe, it } = require('node:test')
const mount = require('koa-mount')
const serve = require('kone/middleware/static')
const Files = require('../../middleware/static/files')
const { exchange } = require('../helpers/engines')
const folder = require('../helpers/folder')
const frameworks = require('../helpers/frameworks')
const until = require('../helpers/until')

const BIG = Buffer.from(Array.from({ length: 200000 }, (_, i) => i % 251))

const outer = folder({
  'public/index.html': '<h1>index',
  'public/a.txt': 'hello a',
  'public/page.html': '<h1>page',
  'public/LICENSE': 'free',
  'public/empty.css': '',
  'public/big.bin': BIG,
  'public/docs/index.html': '<h1>docs',
  'public/docs/.secret': 'secret',
  'public/.env': 'secret',
  'public/.well-known/x': 'hidden',
  'public/admin/users.txt': 'users',
  'public/app.js': 'plain()',
  'public/app.js.br': 'br bytes',
  'public/app.js.gz': 'gz bytes',
  'public/app.js.zst': 'zst bytes',
  'public/only.css.gz': 'gz alone',
  'public/café.txt': 'coffee',
  'public-other/x.txt': 'secret',
  'secret.txt': 'secret'
})
const root = path.join(outer, 'public')
fs.symlinkSync('../secret.txt', path.join(root, 'escape.txt'))
fs.symlinkSync('..', path.join(root, 'up'))
fs.symlinkSync('../public-other', path.join(root, 'other'))
fs.symlinkSync('a.txt', path.join(root, 'inside.txt'))
fs.symlinkSync('.env', path.join(root, 'env.txt'))
fs.symlinkSync('loop.txt', path.join(root, 'loop.txt'))
fs.symlinkSync('docs', path.join(root, 'manual'))

frameworks('static', ({ it, Koa, ask, listen, name }) => {
  const start = (options, ...more) => {
    const app = new Koa().use(serve(root, options))
    for (const fn of more) app.use(fn)
    app.use(ctx => { ctx.status = 404; ctx.body = 'next' })
    return app
  }

  const raw = async (app, target) => {
    return exchange((await listen(app)).port, `GET ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`)
  }

  /** The headers of a file whose content the ETag is of: of a large one it is so when nobody has changed it for two seconds. */
  const tagged = (app, target) => until(async () => {
    const { headers } = await ask(app, `HEAD ${target}`)
    return /^"[\w-]{22}[-"]/.test(headers.etag) && headers
  })

  it('should serve a file', async () => {
    const { status, text, headers } = await ask(start(), 'GET /a.txt')
    assert.deepEqual([status, text, headers['content-type']], [200, 'hello a', 'text/plain; charset=utf-8'])
    assert.deepEqual([headers['content-length'], headers['cache-control']], ['7', 'max-age=0'])
    assert.equal(headers['accept-ranges'], 'bytes')
    assert.equal(headers['last-modified'], fs.statSync(path.join(root, 'a.txt')).mtime.toUTCString())
    assert.match(headers.etag, /^"[^"]+"$/)
  })

  it('should give a type to what has no known extension, and length 0 to what is empty', async () => {
    assert.equal((await ask(start(), 'GET /LICENSE')).headers['content-type'], 'application/octet-stream')
    const { status, text, headers } = await ask(start(), 'GET /empty.css')
    assert.deepEqual([status, text, headers['content-length']], [200, '', '0'])
  })

  it('should respond to HEAD as to GET without the bytes', async () => {
    const app = start()
    for (const target of ['/a.txt', '/big.bin', '/app.js', '/docs/']) {
      await tagged(app, target)
      const [head, get] = [await ask(app, `HEAD ${target}`), await ask(app, `GET ${target}`)]
      assert.equal(head.text, '')
      for (const field of ['content-length', 'content-type', 'etag', 'last-modified', 'vary']) {
        assert.equal(head.headers[field], get.headers[field], `${target} ${field}`)
      }
    }
  })

  it('should set the headers of its options', async () => {
    const { headers } = await ask(start({ maxAge: 3600500, immutable: true }), 'GET /a.txt')
    assert.equal(headers['cache-control'], 'max-age=3600,immutable')
    for (const [maxage, seconds] of [[5000, '5'], [1e24, '2147483648'], [Number.MAX_VALUE, '2147483648']]) {
      assert.equal((await ask(start({ maxage }), 'GET /a.txt')).headers['cache-control'], `max-age=${seconds}`)
    }
    assert.equal((await ask(start({ etag: false }), 'GET /a.txt')).headers.etag, undefined)
    const own = await ask(start({
      async setHeaders (res, file, stats) {
        await null
        res.setHeader('X-File', `${path.basename(file)} ${stats.size}`)
        res.setHeader('Cache-Control', 'no-store')
      }
    }), 'GET /a.txt')
    assert.deepEqual([own.headers['x-file'], own.headers['cache-control']], ['a.txt 7', 'no-store'])
  })

  it('should keep headers that are there already', async () => {
    const app = [(ctx, next) => {
      ctx.set('Cache-Control', 'private')
      ctx.set('Last-Modified', 'Thu, 01 Jan 1970 00:00:00 GMT')
      ctx.type = 'text/x-own'
      return next()
    }, serve(root)]
    const { headers } = await ask(app, 'GET /a.txt')
    assert.deepEqual([headers['cache-control'], headers['last-modified'], headers['content-type']],
      ['private', 'Thu, 01 Jan 1970 00:00:00 GMT', 'text/x-own; charset=utf-8'])
  })

  it('should compare conditions with the validators that the response has', async () => {
    const date = 'Thu, 01 Jan 1970 00:00:00 GMT'
    for (const [ETag, tests] of [
      ['"own"', [['if-none-match', '"own"', 304], ['if-none-match', 'W/"own"', 304], ['if-match', '"own"', 200], ['if-range', '"own"', 206]]],
      ['W/"own"', [['if-none-match', '"own"', 304], ['if-match', 'W/"own"', 412], ['if-range', 'W/"own"', 200]]],
      ['"a,b, c"', ['"a,b, c"', '"x", "a,b, c"', '"y,z" ,W/"a,b, c"', 'W/"x,",, "a,b, c" ,"y"', '"a,b, c", "x'].map(tags => ['if-none-match', tags, 304])],
      ['"a,b, c"', ['"x" , "a,b, c"', '"a,b, c","x,y"'].map(tags => ['if-match', tags, 200])],
      ['"b"', ['"a,"b","c"', '"a, "b', ',', '"'].flatMap(tags => [['if-none-match', tags, 200], ['if-match', tags, 412]])],
      ['a', [['if-none-match', 'b, a', 304], ['if-match', 'b,a ,c', 200]]],
      ['"own"', [['if-modified-since', date, 304], ['if-unmodified-since', date, 200], ['if-range', date, 206],
        ['if-match', '"other"', 412], ['if-none-match', '"other"', 200], ['if-match', '*', 200]]]
    ]) {
      const fields = { ETag, 'Last-Modified': date, 'X-Own': '1' }
      for (const options of [{}, { cacheFileSize: 4 }]) {
        const { headers: { etag } } = await ask(start(options), 'GET /a.txt')
        const setHeaders = res => { for (const name in fields) res.setHeader(name, fields[name]) }
        const first = (ctx, next) => {
          ctx.set(fields)
          return next()
        }
        for (const app of [start({ ...options, setHeaders }), [first, serve(root, options)]]) {
          for (const [name, value, expected] of [...tests, ['if-none-match', etag, 200], ['if-match', etag, 412]]) {
            const { status, headers } = await ask(app, 'GET /a.txt', { headers: { [name]: value, ...name === 'if-range' && { range: 'bytes=1-' } } })
            assert.deepEqual([status, headers['x-own'] ?? '1'], [expected, '1'], `${ETag} ${name} ${value}`)
            if (status !== 412) assert.equal(headers.etag, ETag)
            else if (app[0] !== first) assert.deepEqual([headers.etag, headers['x-own']], [undefined, undefined])
          }
        }
      }
    }
  })

  it('should redirect a folder without its slash to the path with it, if an option says so', async () => {
    const location = async (app, target, options) => {
      const { status, headers } = await ask(app, `GET ${target}`, options)
      return [status, headers.location]
    }
    for (const options of [{}, { format: false }, { dev: true }, { cacheFileSize: 4 }, { defer: true }, { extensions: ['html'] }]) {
      const app = new Koa().use(serve(root, { redirect: true, ...options }))
      for (const [target, ...expected] of [
        ['/docs', 301, '/docs/'], ['/docs?a=1&b=/x', 301, '/docs/?a=1&b=/x'], ['/docs?', 301, '/docs/?'],
        ['/docs?next=//evil.example', 301, '/docs/?next=//evil.example'], ['/docs/', 200], ['/', 200], ['/admin', 404], ['/none', 404]
      ]) {
        for (let i = 0; i < 2; i++) assert.deepEqual(await location(app, target), [expected[0], expected[1]], `${target} ${i}`)
      }
      assert.equal((await ask(app, 'HEAD /docs')).status, 301)
      assert.equal((await ask(app, 'POST /docs')).status, 404)
      assert.match(await raw(app, 'http://evil.example/docs?a'), /^HTTP\/1\.1 301 [^]*\nLocation: \/docs\/\?a\r\n/i)
    }
    assert.deepEqual(await location(start(), '/docs'), [200, undefined])
    assert.deepEqual(await location(start({ redirect: true, index: false }), '/docs'), [404, undefined])
    assert.deepEqual(await location(start({ redirect: true, extensions: ['html'] }), '/page'), [200, undefined])

    // below a mount, and by a path that an app has rewritten
    const mounted = new Koa().use(mount('/static', start({ redirect: true })))
    assert.deepEqual(await location(mounted, '/static/docs?a'), [301, '/static/docs/?a'])
    const rewriting = path => [(ctx, next) => { ctx.path = path; return next() }, serve(root, { redirect: true })]
    for (const target of ['/docs/', '/home', '/docs/?a']) assert.deepEqual(await location(rewriting('/docs'), target), [200, undefined])
  })

  it('should redirect to no other host', async () => {
    for (const folder of ['evil.example', '\\evil.example', 'javascript:alert(1)', '@evil.example', '%5Cevil.example', 'a\\b']) {
      fs.mkdirSync(path.join(root, folder), { recursive: true })
      fs.writeFileSync(path.join(root, folder, 'index.html'), folder)
    }
    const flat = [(ctx, next) => { ctx.path = ctx.path.replace(/^[/\\]+/, '/'); return next() }, serve(root, { redirect: true })]
    let redirected = 0
    for (const name of ['evil.example', '%65vil.example', '\\evil.example', '%5Cevil.example', '%255Cevil.example', '@evil.example', '%2Fevil.example',
      'javascript:alert(1)', 'a\\b', './evil.example', '../evil.example', 'x/../evil.example']) {
      for (const begin of ['/', '//', '/\\', '\\/', '///', '/%5C', '/.//', '/./', '/;/', 'http://b//', 'http://b/\\']) {
        for (const app of [start({ redirect: true }), flat]) {
          const [, location] = /\nlocation: (.*)\r\n/i.exec(await raw(app, begin + name)) ?? []
          if (location === undefined) continue
          redirected++
          const url = new URL(location, 'https://site.example/static/')
          assert.equal(url.host, 'site.example', `${begin}${name}: ${location}`)
          assert.match(location, /^\/(?![/\\])/)
        }
      }
    }
    assert.ok(redirected > 20, String(redirected))
  })

  it('should defer to what responded', async () => {
    const app = [serve(root, { defer: true }), ctx => { if (ctx.path === '/page.html') ctx.body = 'mine' }]
    assert.equal((await ask(app, 'GET /page.html')).text, 'mine')
    assert.equal((await ask(app, 'GET /a.txt')).text, 'hello a')
    assert.equal((await ask(app, 'GET /none')).status, 404)
    assert.equal((await ask(app, 'POST /a.txt')).status, 404)
  })

  it('should serve as a final', { skip: !Koa.prototype.final && 'Koa has no app.final' }, async () => {
    const app = new Koa()
    app.final(serve.final(root))
    app.use(ctx => { if (ctx.path === '/page.html') ctx.body = 'mine' })
    assert.equal((await ask(app, 'GET /page.html')).text, 'mine')
    for (const target of ['/a.txt', '/a.txt']) assert.equal((await ask(app, `GET ${target}`)).text, 'hello a')
    assert.equal((await ask(app, 'GET /none')).status, 404)
  })

  it('should serve what is compressed already to those who take it', async () => {
    const app = start()
    const etags = new Set()
    for (const [accept, encoding, text] of [
      ['br, gzip, zstd', 'br', 'br bytes'], ['gzip, zstd', 'zstd', 'zst bytes'], ['gzip', 'gzip', 'gz bytes'],
      ['br;q=0.1, gzip', 'gzip', 'gz bytes'], ['identity', undefined, 'plain()'], ['', undefined, 'plain()'],
      ['br;q=0, *;q=0', undefined, 'next']
    ]) {
      const { headers, ...res } = await ask(app, 'GET /app.js', { headers: { 'Accept-Encoding': accept } })
      assert.deepEqual([res.text, headers['content-encoding']], [text, encoding], accept)
      assert.equal(headers.vary, 'Accept-Encoding')
      if (text === 'next') continue
      assert.match(headers['content-type'], /javascript/)
      assert.equal(headers['content-length'], String(text.length))
      etags.add(headers.etag)
    }
    assert.equal(etags.size, 4)
    assert.equal((await ask(app, 'GET /only.css', { headers: { 'Accept-Encoding': 'gzip' } })).text, 'gz alone')
    for (const options of [{}, { defer: true }]) {
      const app = new Koa().use(serve(root, options))
      const { status, headers } = await ask(app, 'GET /only.css')
      assert.deepEqual([status, headers.vary], [404, 'Accept-Encoding'])
      assert.equal((await ask(app, 'GET /none.css')).headers.vary, undefined)
    }
    assert.equal((await ask(app, 'GET /a.txt')).headers.vary, undefined)
  })

  it('should find a file by either letter case of a percent-encoding', async () => {
    const app = start({ cacheFileSize: 4 })
    for (const target of ['/caf%C3%A9.txt', '/caf%c3%a9.txt', '/caf%c3%A9.txt', '/caf%C3%A9.txt']) {
      assert.equal((await ask(app, `GET ${target}`)).text, 'coffee', target)
    }
  })

  it('should serve no encoding that is turned off', async () => {
    const headers = { 'Accept-Encoding': 'br, gzip, zstd' }
    assert.equal((await ask(start({ br: false, zstd: false }), 'GET /app.js', { headers })).text, 'gz bytes')
    const none = start({ brotli: false, zst: false, gzip: false })
    assert.equal((await ask(none, 'GET /app.js', { headers })).text, 'plain()')
  })

  it('should respond to the conditions of a request', async () => {
    const app = start()
    for (const target of ['/a.txt', '/big.bin', '/app.js']) {
      const { etag, 'last-modified': date } = await tagged(app, target)
      const [earlier, later] = [-1e6, 1e6].map(ms => new Date(Date.parse(date) + ms).toUTCString())
      for (const [headers, status] of [
        [{ 'If-None-Match': etag }, 304], [{ 'If-None-Match': `W/${etag}` }, 304], [{ 'If-None-Match': `"x", ${etag}` }, 304],
        [{ 'If-None-Match': '*' }, 304], [{ 'If-None-Match': '"x"' }, 200], [{ 'If-None-Match': '"x"', 'If-Modified-Since': date }, 200],
        [{ 'If-Modified-Since': date }, 304], [{ 'If-Modified-Since': later }, 304], [{ 'If-Modified-Since': earlier }, 200],
        [{ 'If-Modified-Since': 'junk' }, 200], [{ 'If-Match': etag }, 200], [{ 'If-Match': '*' }, 200],
        [{ 'If-Match': '"x"' }, 412], [{ 'If-Match': `W/${etag}` }, 412], [{ 'If-Unmodified-Since': date }, 200],
        [{ 'If-Unmodified-Since': earlier }, 412], [{ 'If-Unmodified-Since': 'junk' }, 200],
        [{ 'If-Match': etag, 'If-None-Match': etag }, 304]
      ]) {
        const res = await ask(app, `GET ${target}`, { headers })
        assert.equal(res.status, status, `${target} ${JSON.stringify(headers)}`)
        if (status !== 304) continue
        assert.deepEqual([res.text, res.headers.etag, res.headers['last-modified'], res.headers['content-type']],
          ['', etag, date, undefined])
      }
    }
  })

  // others are in static.send.test.js
  it('should send a range with blanks and one longer than the file, and all where there are several', async () => {
    const app = start()
    for (const [target, bytes] of [['/a.txt', Buffer.from('hello a')], ['/big.bin', BIG]]) {
      const size = bytes.length
      for (const [range, part, start = 0, end = size - 1] of [
        ['Bytes = 1 - 2', `bytes 1-2/${size}`, 1, 2], ['bytes=-999999', `bytes 0-${size - 1}/${size}`],
        ...['bytes=4-2', 'bytes=0-1,3-4', 'bytes=1-2x'].map(range => [range])
      ]) {
        const res = await ask(app, `GET ${target}`, { headers: { Range: range } })
        assert.deepEqual([res.status, res.headers['content-range']], [part ? 206 : 200, part], range)
        assert(res.body.equals(bytes.subarray(start, end + 1)), range)
      }
      const res = await ask(app, `GET ${target}`, { headers: { Range: `bytes=9${'9'.repeat(400)}-` } })
      assert.deepEqual([res.status, res.headers['content-range']], [416, `bytes */${size}`])
      assert.equal((await ask(app, `HEAD ${target}`, { headers: { Range: 'bytes=0-1' } })).status, 200)
    }
    const encoded = await ask(app, 'GET /app.js', { headers: { Range: 'bytes=0-1', 'Accept-Encoding': 'br' } })
    assert.deepEqual([encoded.text, encoded.headers['content-range'], encoded.headers['content-encoding']],
      ['br', 'bytes 0-1/8', 'br'])
  })

  it('should send a range only of the file that the client has', async () => {
    const app = start()
    for (const target of ['/a.txt', '/big.bin']) {
      const { etag, 'last-modified': date } = (await ask(app, `GET ${target}`)).headers
      for (const [ifRange, status] of [
        [etag, 206], [date, 206], [`W/${etag}`, 200], ['"x"', 200], ['junk', 200],
        [new Date(Date.parse(date) - 1e6).toUTCString(), 200],
        [new Date(Date.parse(date) + 1e6).toUTCString(), 200]
      ]) {
        const res = await ask(app, `GET ${target}`, { headers: { Range: 'bytes=0-1', 'If-Range': ifRange } })
        assert.equal(res.status, status, `${target} ${ifRange}`)
      }
    }
  })

  if (name === 'koa 2' || name === 'kone') {
    it('should send other bytes of the same size and time, as after a deploy that gives all files one time', async () => {
      const times = [1, 315532800, 1.7e9, 1e10] // seconds
      await Promise.all([10, 100_000].flatMap(size => times.map(time => redeploy(size, time)))) // each waits for two seconds
    })
  }

  async function redeploy (size, time) {
    const isPlausible = time === 1.7e9
    const root = folder({ 'a.txt': '', 'copy.txt': '' })
    const write = (name, byte) => {
      fs.writeFileSync(path.join(root, name), byte.repeat(size))
      fs.utimesSync(path.join(root, name), time, time)
    }
    write('a.txt', 'a')
    write('copy.txt', 'a')
    const old = new Koa().use(serve(root))
    const first = (await ask(old, 'GET /a.txt')).headers
    assert.equal(first['last-modified'], isPlausible ? new Date(time * 1000).toUTCString() : undefined)
    const [{ etag }, copy] = await Promise.all([tagged(old, '/a.txt'), tagged(old, '/copy.txt')])
    assert.equal(copy.etag, etag)
    for (const tag of [etag, first.etag]) {
      assert.equal((await ask(old, 'GET /a.txt', { headers: { 'If-None-Match': tag } })).status, 304, `${size} ${time} ${tag}`)
    }

    write('a.txt', 'b')
    const app = new Koa().use(serve(root))
    const dates = isPlausible ? [] : [new Date(time * 1000), new Date(), new Date(2e13)].map(date => date.toUTCString())
    for (const headers of [
      { 'If-None-Match': etag }, { 'If-None-Match': first.etag }, { Range: 'bytes=0-1', 'If-Range': etag },
      ...dates.flatMap(date => [{ 'If-Modified-Since': date }, { Range: 'bytes=0-1', 'If-Range': date }])
    ]) {
      const { status, text } = await ask(app, 'GET /a.txt', { headers })
      assert.deepEqual([status, text], [200, 'b'.repeat(size)], `${size} ${time} ${JSON.stringify(headers)}`)
    }
  }

  it('should tag a large file differently in each process until its content is read', async () => {
    const fresh = () => {
      for (const file of Object.keys(require.cache)) if (/[\\/]middleware[\\/]static[\\/]/.test(file)) delete require.cache[file]
      return require('kone/middleware/static')
    }
    const tags = await Promise.all([fresh(), fresh()].map(async serve =>
      (await ask(new Koa().use(serve(root)), 'HEAD /big.bin')).headers.etag))
    assert.notEqual(tags[0], tags[1])
  })

  it('should follow no link out of its root, and keep what begins with a dot', async () => {
    const app = start()
    for (const target of [
      '/escape.txt', '/up/secret.txt', '/other/x.txt', '/loop.txt', '/env.txt', '/.env',
      '/docs/.secret', '/.well-known/x', '/.'
    ]) assert.equal((await ask(app, `GET ${target}`)).text, 'next', target)
    assert.equal((await ask(app, 'GET /inside.txt')).text, 'hello a')
    assert.equal((await ask(start({ hidden: true }), 'GET /.env')).text, 'secret')
    assert.equal((await ask(start({ hidden: true }), 'GET /up/secret.txt')).text, 'next')
  })

  it('should know a file by one spelling of its path', async () => {
    const app = new Koa().use((ctx, next) => {
      if (ctx.path.startsWith('/admin')) ctx.throw(403)
      return next()
    }).use(serve(root))
    assert.equal((await ask(app, 'GET /admin/users.txt')).status, 403)
    for (const target of [
      '/%61dmin/users.txt', '/%61%64%6D%69%6e/users.txt', '//admin/users.txt', '/./admin/users.txt', '/x/../admin/users.txt',
      '/docs/../admin/users.txt', '/docs/%2e%2e/admin/users.txt', '/docs%2f..%2fadmin%2fusers.txt', '/%2fadmin/users.txt',
      '/.%2fadmin/users.txt', '/docs/..%5cadmin%5cusers.txt', '/%2e/admin/users.txt', '/ADMIN/users.txt', '/;/admin/users.txt',
      '/..;/admin/users.txt', '/docs/..\\admin\\users.txt', '\\admin\\users.txt'
    ]) {
      const answer = await raw(app, target)
      assert.match(answer, /^HTTP\/1\.1 40[034] /, target)
      assert(!answer.endsWith('users'), target)
    }
  })

  // that of macOS finds files by all of these; Linux has none that does
  it('should know a file by its name on the disk only, whatever others the file system takes', async () => {
    for (const [target, status] of [
      ['/inside.txt', 200], ['/manual/', 200], ['/INSIDE.txt', 404], ['/in%C5%BFide.txt', 404], ['/manual/INDEX.html', 404],
      ['/MANUAL/', 404], ['/MANUAL/index.html', 404], ['/doc%C5%BF/', 404], ['/empty.c%C5%BFs', 404], ['/cafe%CC%81.txt', 404]
    ]) assert.equal((await ask(start(), `GET ${target}`)).status, status, target)
  })

  it('should reach nothing outside by any path', async () => {
    const app = start()
    for (const target of [
      '/../secret.txt', '/..%2fsecret.txt', '/%2e%2e/secret.txt', '/%2e%2e%2fsecret.txt', '/..%5csecret.txt', '/..\\secret.txt',
      '/docs/../../secret.txt', '/....//secret.txt', '/%252e%252e/secret.txt', '/%c0%ae%c0%ae/secret.txt', '/..%00/secret.txt',
      '/a.txt%00', '/a.txt%00.html', '/../public-other/x.txt', `/${outer}/secret.txt`, '/%2e%2e%5csecret.txt', '/..', '/../',
      '/a.txt/', '/a.txt/x', '/proc/self/environ', `/${'a'.repeat(5000)}`, `/${'a/'.repeat(3000)}`
    ]) {
      const answer = await raw(app, target)
      assert.match(answer, /^HTTP\/1\.1 40[04] /, target.slice(0, 80))
      assert(!answer.includes('secret'), target)
    }
  })

  it('should respond with 400 for an invalid encoding', async () => {
    for (const target of ['/%', '/%zz', '/%e0%a4%a', '/a%ff.txt', '/%c0%ae']) {
      assert.equal((await ask(start(), `GET ${target}`)).status, 400, target)
    }
  })

  const noPipes = process.platform === 'win32' && 'no mkfifo'
  it('should not wait for a pipe nor serve what is no file', { skip: noPipes }, async () => {
    const pipe = path.join(root, `pipe-${name.replace(/\W/g, '')}.txt`)
    execFileSync('mkfifo', [pipe])
    const socket = net.createServer().listen(path.join(root, 's.txt'))
    await new Promise(resolve => socket.once('listening', resolve))
    try {
      assert.equal((await ask(start(), `GET /${path.basename(pipe)}`)).text, 'next')
      assert.equal((await ask(start(), 'GET /s.txt')).text, 'next')
    } finally {
      socket.close()
      fs.rmSync(pipe)
    }
  })
})

describe('static(root, options)', () => {
  const filesOf = folder => new Files(folder, { cacheSize: 100000, cacheFileSize: 65536, encodings: [], extensions: [] })

  it('should keep no more in memory than its option allows', async () => {
    const folder = path.join(outer, 'many')
    fs.mkdirSync(folder)
    for (let i = 0; i < 40; i++) fs.writeFileSync(path.join(folder, `${i}.txt`), Buffer.alloc(10000))
    const files = filesOf(folder)
    for (let i = 0; i < 40; i++) {
      assert.equal((await files.look(`/${i}.txt`)).files[0].body.length, 10000)
      assert(files.cache.bytes <= 100000)
    }
    assert.equal(files.known('/0.txt'), undefined)
    assert(files.known('/39.txt'))
    for (let i = 0; i < 3000; i++) await files.look(`/none-${i}`)
    assert(files.cache.missing.size <= 1000)
    await files.look(`/${'x'.repeat(5000)}`)
    assert(![...files.cache.missing.keys()].some(key => key.length > 256))
  })

  it('should keep one entry for all spellings of a path', async () => {
    const files = filesOf(root)
    for (const path of ['/caf%C3%A9.txt', '/caf%c3%a9.txt']) assert.equal((await files.look(path)).files.length, 1)
    assert.equal(files.known('/caf%c3%A9.txt'), files.known('/caf%C3%A9.txt'))
    assert.equal(files.cache.entries.size, 1)
    for (const path of ['/%C3%A9', '/%c3%a9', '/%C3%A8/a', '/%c3%a8/b']) await files.look(path)
    assert.deepEqual([files.cache.missing.size, files.cache.empty.size], [1, 1])
    files.forget('/caf%c3%a9.txt')
    assert.equal(files.cache.bytes, 0)
  })
})
