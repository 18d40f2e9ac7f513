'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')
const multer = require('@koa/multer')
const upload = require('kone/middleware/upload')
const folder = require('../helpers/folder')
const frameworks = require('../helpers/frameworks')
const { random } = require('../helpers/random')

// Fields and files of a form are those of @koa/multer, which keeps the files. Intentional differences: limits are
// on by default and give a 413; what is malformed is a 400; `a[1]` alone is a list of
// one, as in forms; a field name reaches no prototype; file names are read as UTF-8, and control characters in them
// are `_`; a file whose name is only a folder's is kept.

const scratch = folder()

const BOUNDARIES = ['x', '----WebKitFormBoundaryq2Xz', "'()+_,-./:=?"]
const NAMES = ['a', 'b', 'user[name]', 'user[mail]', 'tags[]', 'a b', 'ü', 'deep[er][est]', '0', '']
const FILENAMES = ['a.txt', 'b.bin', 'two words.md', '../../etc/passwd', 'C:\\\\dir\\\\c.txt', '.hidden', 'x', 'no;semi.txt', '']
const TYPES = ['text/plain', 'application/octet-stream', 'image/png', 'text/html; charset=utf-8', undefined]
const DATA = [
  '', 'x', 'two\r\nlines', '--x', '\r\n--', '-'.repeat(70), 'ü€😀', '\0\x01\x02', 'y'.repeat(1000), 'z'.repeat(70_000)
]

function form (rnd) {
  const boundary = rnd.pick(BOUNDARIES)
  const chunks = []
  for (let i = rnd.int(6); i > 0; i--) {
    const name = rnd.pick(NAMES)
    const filename = rnd.chance(0.5) ? rnd.pick(FILENAMES) : undefined
    const type = filename === undefined ? undefined : rnd.pick(TYPES)
    let data = rnd.pick(DATA)
    if (data.includes(`--${boundary}`)) data = 'clean'
    chunks.push(`--${boundary}\r\nContent-Disposition: form-data; name="${name}"` +
      (filename === undefined ? '' : `; filename="${filename}"`) + (type ? `\r\nContent-Type: ${type}` : '') + `\r\n\r\n${data}\r\n`)
  }
  chunks.push(`--${boundary}--\r\n`)
  return { headers: { 'content-type': `multipart/form-data; boundary="${boundary}"` }, body: Buffer.from(chunks.join('')) }
}

frameworks('upload beside @koa/multer', ({ it, Koa, ask }) => {
  const serve = middleware => {
    const app = new Koa()
    app.use(middleware)
    app.use(ctx => {
      const { body = {}, files = ctx.files } = ctx.request
      ctx.body = {
        body,
        files: (files ?? []).map(({ fieldname, originalname, mimetype, size, path }) => {
          return { fieldname, originalname, mimetype, size, data: fs.readFileSync(path).toString('latin1').slice(0, 40) }
        })
      }
    })
    return app
  }

  it('should read the same names, in every form that they come in', async () => {
    const [ours, theirs] = [serve(upload({ dest: scratch })), serve(multer({ dest: scratch, defParamCharset: 'utf8' }).any())]
    const LETTERS = ['%22', '%0D%0A', '%0d', '%0a', '%', '%25', '%2522', '%2F', '%5C', '%00', '%E2%82%AC', '€', '\\"', '\\\\', '/', '.', 'a', 'b ', '\t']
    for (let seed = 1; seed <= 200; seed++) {
      const rnd = random(seed)
      const [name, file, field] = Array.from({ length: 3 }, () => Array.from({ length: 1 + rnd.int(5) }, () => rnd.pick(LETTERS)).join(''))
      const form = rnd.chance(0.2) ? `filename*=UTF-8''${encodeURIComponent(file)}` : `filename="${file}"`
      const body = `--x\r\nContent-Disposition: form-data; name="${name}"; ${form}\r\n\r\nx\r\n` +
        `--x\r\nContent-Disposition: form-data; name="n${field}"\r\n\r\nx\r\n--x--\r\n`
      const answers = [ours, theirs].map(app => ask(app, 'POST /', { headers: { 'content-type': 'multipart/form-data; boundary=x' }, body }))
      const [one, other] = (await Promise.all(answers)).map(res => res.json())
      const told = JSON.stringify({ seed, name, form, field })
      for (const file of other.files) file.originalname = file.originalname.replace(/[\r\n\t\0]+/g, '_')
      assert.deepEqual(one.files.filter(({ originalname }) => originalname !== ''), other.files, told)
      assert.deepEqual(one.body, other.body, told)
      assert.doesNotMatch(one.files[0].originalname, /[\x00-\x1f\x7f-\x9f]/, told) // eslint-disable-line no-control-regex
    }
  })

  it('should find the same fields and files in every form', async () => {
    const theirs = serve(multer({ dest: scratch, defParamCharset: 'utf8' }).any())
    const ours = serve(upload({ dest: scratch }))
    let files = 0
    for (let seed = 1; seed <= 150; seed++) {
      const { headers, body } = form(random(seed))
      const [one, other] = await Promise.all([ours, theirs].map(app => ask(app, 'POST /', { headers, body })))
      if (other.status !== 200) {
        assert.deepEqual([one.status, other.status], [400, 500], `seed ${seed}`)
        continue
      }
      assert.deepEqual(one.json(), other.json(), `seed ${seed}`)
      files += one.json().files.length
    }
    assert.ok(files > 50, String(files))
  })
})
