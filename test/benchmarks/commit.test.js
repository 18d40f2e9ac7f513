'use strict'

const { after, before, describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')

const COMMIT = path.join(__dirname, '../../benchmarks/lib/run/commit')

describe('the commit of a result', () => {
  let folder
  const git = (...args) => execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd: folder, encoding: 'utf8' }).trim()
  const write = (name, text) => fs.writeFileSync(path.join(folder, name), text)
  const call = expression => JSON.parse(execFileSync(process.execPath, ['-p', `JSON.stringify(require('${COMMIT}').${expression})`], {
    env: { ...process.env, KONE_ROOT: folder },
    encoding: 'utf8'
  }))

  before(() => {
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'kone-commit-'))
    fs.mkdirSync(path.join(folder, 'lib/front'), { recursive: true })
    for (const name of ['lib/a.js', 'lib/front/b.js', 'lib/README.md', 'other.js']) write(name, '1')
    git('init', '-q')
    git('add', '.')
    git('commit', '-qm', 'first')
  })

  after(() => fs.rmSync(folder, { recursive: true, force: true }))

  it('should be dirty while files of kone differ from it', () => {
    const hash = git('rev-parse', 'HEAD')
    assert.deepEqual(call('commit()'), { hash, dirty: false })
    write('other.js', '2')
    write('lib/README.md', '0')
    assert.deepEqual(call('commit()'), { hash, dirty: false })
    write('lib/a.js', '2')
    assert.deepEqual(call('commit()'), { hash, dirty: true })
  })

  it('should be compared by the code of lib/, in every folder of it', () => {
    const hash = git('rev-parse', 'HEAD')
    write('lib/README.md', '2')
    write('lib/front/b.js', '2')
    git('commit', '-qam', 'second')
    assert.equal(call(`commitsSince('${hash}')`), 1)
    assert.equal(call(`commitsSince('${git('rev-parse', 'HEAD')}')`), 0)
    write('lib/README.md', '3')
    git('commit', '-qam', 'of a document')
    assert.equal(call(`commitsSince('${hash}')`), 1)
    assert.equal(call("commitsSince('0123456789abcdef')"), null)
  })
})
