'use strict'

const assert = require('node:assert/strict')
const { execFileSync, spawnSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { afterEach, beforeEach, describe, it } = require('node:test')
const release = require('../../../tools/release')

const NAMED = {
  author: 'Ada',
  repository: { type: 'git', url: 'git+https://example.com/ada/kone.git' },
  homepage: 'https://example.com/kone',
  bugs: { url: 'https://example.com/ada/kone/issues' }
}

describe('make release', () => {
  let root

  const git = (...args) => execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
  const read = name => fs.readFileSync(path.join(root, name), 'utf8')
  const write = (name, text) => fs.writeFileSync(path.join(root, name), text)
  const json = name => JSON.parse(read(name))
  const state = () => [git('status', '--porcelain'), git('rev-parse', 'HEAD'), git('tag', '--list')]
  const manifest = (name, fields = {}) => JSON.stringify({ name, version: '2.17.0', ...NAMED, ...fields }, null, 2) + '\n'
  const make = (version, check = () => {}) => release({ root, version, check })

  beforeEach(() => {
    root = fs.mkdtempSync(path.join(os.tmpdir(), 'kone-release-'))
    fs.mkdirSync(path.join(root, 'create'))
    write('package.json', manifest('kone'))
    write('package-lock.json', '{\n  "version": "2.17.0",\n  "packages": {\n    "": {\n      "version": "2.17.0"\n    }\n  }\n}\n')
    write('create/package.json', manifest('create-kone'))
    write('CHANGELOG.md', '# Changelog\n\n## Unreleased\n\n- $& something new.\n\n## 2.17.0\n\nThe first release.\n')
    git('init', '--quiet')
    git('config', 'user.name', 'test')
    git('config', 'user.email', 'test@example.com')
    git('add', '.')
    git('commit', '--quiet', '--message', 'begin')
  })

  afterEach(() => fs.rmSync(root, { recursive: true }))

  it('should set the version and the CHANGELOG section, check, commit and tag', () => {
    let checked
    assert.equal(make('2.18.0', () => { checked = json('package.json').version }), 'v2.18.0')
    assert.equal(checked, '2.18.0')
    for (const name of ['package.json', 'package-lock.json', 'create/package.json']) {
      assert.equal(json(name).version, '2.18.0', name)
    }
    assert.equal(json('package-lock.json').packages[''].version, '2.18.0')
    assert.equal(read('CHANGELOG.md'),
      '# Changelog\n\n## 2.18.0\n\n- $& something new.\n\n## 2.17.0\n\nThe first release.\n')
    assert.equal(git('status', '--porcelain'), '')
    assert.equal(git('log', '-1', '--format=%s').trim(), 'release: 2.18.0')
    assert.equal(git('tag', '--list', '--format=%(refname:short) %(contents:subject)').trim(), 'v2.18.0 - $& something new.')
  })

  it('should have the headings of the section in the tag', () => {
    write('CHANGELOG.md', '# Changelog\n\n## Unreleased\n\n- One.\n\n### New\n\n```sh\n# a comment\n```\n\n## 2.17.0\n\nx\n')
    git('commit', '--quiet', '--all', '--message', 'more')
    make('2.18.0')
    assert.equal(git('tag', '--list', '--format=%(contents)').trim(), '- One.\n\n### New\n\n```sh\n# a comment\n```')
  })

  it('should name the new tarball in the documents, not in the past', () => {
    write('README.md', 'npm install ./kone-2.17.0.tgz ./kone-3.3.0.tgz')
    write('Makefile', 'kone-2.17.0.tgz')
    write('CHANGELOG.md', '# Changelog\n\n## Unreleased\n\nx\n\n## 2.17.0\n\nkone-2.17.0.tgz\n')
    git('add', '.')
    git('commit', '--quiet', '--message', 'documents')
    make('2.18.0')
    assert.deepEqual([read('README.md'), read('Makefile')], ['npm install ./kone-2.18.0.tgz ./kone-3.3.0.tgz', 'kone-2.18.0.tgz'])
    assert.match(read('CHANGELOG.md'), /kone-2\.17\.0\.tgz/)
  })

  it('should tag a version that is set already', () => {
    write('CHANGELOG.md', '# Changelog\n\n## 2.17.0\n\nThe first release.\n')
    git('commit', '--quiet', '--all', '--message', 'first')
    assert.equal(make('2.17.0'), 'v2.17.0')
    assert.throws(() => make('2.17.0'), { message: 'release: there is a tag v2.17.0' })
  })

  it('should leave everything as it was when the check fails', () => {
    const before = state()
    assert.throws(() => make('2.18.0', () => { throw new Error('publint') }), { message: 'publint' })
    assert.deepEqual(state(), before)
    assert.equal(json('package.json').version, '2.17.0')
  })

  it('should leave everything as it was when git cannot sign the tag', () => {
    git('config', 'tag.gpgSign', 'true')
    git('config', 'gpg.program', 'false')
    const before = state()
    assert.throws(() => make('2.18.0'), ({ message }) => /gpg/.test(message) && !message.includes('something new'))
    assert.deepEqual(state(), before)
  })

  it('should leave everything as it was at Ctrl+C', { skip: process.platform === 'win32' }, () => {
    const before = state()
    const script = `require(${JSON.stringify(require.resolve('../../../tools/release'))})({
      root: ${JSON.stringify(root)},
      version: '2.18.0',
      check: () => require('node:child_process').execFileSync('sh', ['-c', 'kill -INT $PPID $$'])
    })`
    const { status, signal } = spawnSync(process.execPath, ['-e', script])
    assert.deepEqual([status, signal], [1, null])
    assert.deepEqual(state(), before)
  })

  it('should refuse, in a line, what cannot be released', () => {
    const before = state()
    assert.throws(() => make('2.18'), { message: 'release: VERSION must be like 2.18.0' })
    assert.throws(() => make('2.9.1'), { message: 'release: 2.9.1 is older than 2.17.0' })
    assert.deepEqual(state(), before)

    write('new.txt', '')
    assert.throws(() => make('2.18.0'), { message: 'release: commit or stash what was changed first' })
    fs.unlinkSync(path.join(root, 'new.txt'))

    for (const [text, message] of [
      ['## Unreleased\n\n## 2.17.0\n\nx\n', 'release: the section Unreleased of CHANGELOG.md is empty'],
      ['## 2.17.0\n\nx\n', 'release: the first section of CHANGELOG.md must be Unreleased or 2.18.0, not 2.17.0'],
      ['', 'release: the first section of CHANGELOG.md must be Unreleased or 2.18.0, not undefined']
    ]) {
      write('CHANGELOG.md', text)
      git('commit', '--quiet', '--all', '--message', 'changelog')
      assert.throws(() => make('2.18.0'), { message })
    }
  })
  it('should refuse a repository that is no address of pages', () => {
    for (const url of ['ada/kone', 'git@github.com:ada/kone.git', 'https://github.com/ada/kone']) {
      for (const repository of [url, { type: 'git', url }]) {
        write('create/package.json', manifest('create-kone', { repository }))
        git('commit', '--quiet', '--all', '--message', 'repository')
        assert.throws(() => make('2.18.0'), {
          message: `release: repository.url of create/package.json must be like git+https://github.com/ada/kone.git, not ${url}`
        })
      }
    }
    assert.equal(git('tag', '--list'), '')
  })

  it('should refuse placeholders, and fields that are missing, of both packages', () => {
    const refuses = (file, fields, names) => {
      const text = read(file)
      write(file, manifest('kone', fields))
      git('commit', '--quiet', '--all', '--message', 'fields')
      const before = state()
      assert.throws(() => make('2.18.0'), {
        message: `release: ${file} has no ${names.join(', ')} yet: write them in place of the placeholders`
      })
      assert.deepEqual(state(), before)
      write(file, text)
      git('commit', '--quiet', '--all', '--message', 'as before')
    }
    for (const file of ['package.json', 'create/package.json']) {
      const own = require(`../../../${file}`)
      for (const name of Object.keys(NAMED)) {
        refuses(file, { [name]: undefined }, [name])
        if (/\.invalid\b/.test(JSON.stringify(own[name]))) refuses(file, { [name]: own[name] }, [name])
      }
      refuses(file, { bugs: '', author: undefined }, ['bugs', 'author'])
    }
    assert.equal(make('2.18.0'), 'v2.18.0')
  })
})
