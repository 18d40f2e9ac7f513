'use strict'

const assert = require('node:assert/strict')
const { execFile } = require('node:child_process')
const { once } = require('node:events')
const { mkdirSync, mkdtempSync, rmSync } = require('node:fs')
const http = require('node:http')
const { tmpdir } = require('node:os')
const { join } = require('node:path')
const { describe, it } = require('node:test')
const { start } = require('../helpers/child')
const drain = require('../helpers/drain')

const ENV = { PORT: '0', NODE_NO_WARNINGS: '1' } // Node 22 prints that node:sqlite is experimental

describe('the demo app as a process', () => {
  function folder (t) {
    const data = mkdtempSync(join(tmpdir(), 'kone-process-'))
    t.after(() => rmSync(data, { recursive: true, force: true }))
    return data
  }

  it('should be alive and ready, and not ready while it drains what is in flight', async t => {
    const app = await start(['examples/app'], { PORT: '0', DATA: folder(t) })
    t.after(() => app.stop('SIGKILL'))
    const res = await drain(app.url, () => app.process.kill('SIGTERM'), {
      path: '/sign-in', type: 'application/x-www-form-urlencoded', body: 'name=ann&password=12345678'
    })
    assert.deepEqual([res.statusCode, res.headers.location], [302, '/guestbook'])
    await once(app.process, 'exit')
    assert.equal(app.process.exitCode, 0)
  })

  describe('should say in one line, and end with 1,', () => {
    const run = env => new Promise(resolve => {
      execFile(process.execPath, ['examples/app'], { env: { ...process.env, ...ENV, ...env }, timeout: 120000 },
        (err, stdout, stderr) => resolve([err.code, stdout + stderr]))
    })

    it('that its folder cannot be made', async () => {
      const [code, printed] = await run({ DATA: join(__filename, 'data') }) // root may write everywhere else
      assert.equal(code, 1)
      assert.match(printed, /^cannot keep the guestbook in [^\n]*process\.long\.test\.js\/data: ENOTDIR[^\n]*\n$/)
    })

    it('that its database cannot be opened', async t => {
      const data = folder(t)
      mkdirSync(join(data, 'guestbook.db'))
      const [code, printed] = await run({ DATA: data })
      assert.equal(code, 1)
      assert.match(printed, /^cannot keep the guestbook in [^\n]+: [^\n]*open[^\n]*\n$/)
    })

    it('that its port is taken', async t => {
      const other = http.createServer().listen(0)
      t.after(() => other.close())
      await once(other, 'listening')
      const { port } = other.address()
      const [code, printed] = await run({ DATA: folder(t), PORT: port })
      assert.equal(code, 1)
      assert.match(printed, new RegExp(`^cannot listen on port ${port}: [^\n]*EADDRINUSE[^\n]*\n$`))
    })
  })
})
