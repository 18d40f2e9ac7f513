'use strict'

const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const { PLACEHOLDER } = require('./pack')

// The packages that have the version of a release.
const PACKAGES = ['.', 'create']

// What npm shows of a package besides its version.
const FIELDS = ['repository', 'homepage', 'bugs', 'author']

/**
 * Make a release of the checkout: version, CHANGELOG section, checks, commit and tag. Nothing is pushed or
 * published, and what cannot be released is left as it was.
 *
 *    release({ root, version: '2.18.0', check: () => {} })   // commit and tag v2.18.0
 *
 * @param {{ root: string, version: string, check: () => void }} options `check` throws when what would be
 *   released is not sound
 * @return {string} the name of the tag
 * @throws {Error} with one line that says what is to be done
 */
module.exports = function release ({ root, version, check }) {
  const run = (args, input) => execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: 'pipe', input })
  const git = (...args) => run(args, '')
  const file = name => path.join(root, name)
  const tag = `v${version}`

  const current = JSON.parse(fs.readFileSync(file('package.json'), 'utf8')).version
  if (!/^\d+\.\d+\.\d+$/.test(version)) throw new Error('release: VERSION must be like 2.18.0')
  if (compare(version, current) < 0) throw new Error(`release: ${version} is older than ${current}`)
  if (git('status', '--porcelain') !== '') throw new Error('release: commit or stash what was changed first')
  if (git('tag', '--list', tag) !== '') throw new Error(`release: there is a tag ${tag}`)

  for (const folder of PACKAGES) {
    const name = path.posix.join(folder, 'package.json')
    const manifest = JSON.parse(fs.readFileSync(file(name), 'utf8'))
    const empty = FIELDS.filter(field => !manifest[field] || PLACEHOLDER.test(JSON.stringify(manifest[field])))
    if (empty.length > 0) throw new Error(`release: ${name} has no ${empty.join(', ')} yet: write them in place of the placeholders`)
    const url = manifest.repository.url ?? manifest.repository
    if (!/^git\+https:\/\/.+\.git$/.test(url)) { // the pages of the tarball lead there
      throw new Error(`release: repository.url of ${name} must be like git+https://github.com/ada/kone.git, not ${url}`)
    }
  }

  const changelog = fs.readFileSync(file('CHANGELOG.md'), 'utf8')
  const [heading, title, text] = /^## (\S+)[^\n]*\n([^]*?)(?=^## |(?![^]))/m.exec(changelog) ?? []
  if (title !== 'Unreleased' && title !== version) {
    throw new Error(`release: the first section of CHANGELOG.md must be Unreleased or ${version}, not ${title}`)
  }
  if (text.trim() === '') throw new Error(`release: the section ${title} of CHANGELOG.md is empty`)

  const head = git('rev-parse', 'HEAD').trim()
  const ignore = () => {} // Ctrl+C ends the check, and what was changed for it is undone
  process.on('SIGINT', ignore)
  try {
    fs.writeFileSync(file('CHANGELOG.md'), changelog.replace(heading, () => `## ${version}\n${text}`))
    for (const folder of PACKAGES) setVersion(path.join(root, folder), version)
    for (const name of git('ls-files', '-z', '*.md', 'Makefile', 'tools').split('\0').filter(Boolean)) {
      const old = fs.readFileSync(file(name), 'utf8')
      const renamed = old.replaceAll(`kone-${current}.tgz`, `kone-${version}.tgz`)
      if (renamed !== old && name !== 'CHANGELOG.md') fs.writeFileSync(file(name), renamed) // the changelog has the past
    }
    check()
    git('add', '--update')
    // the first release has its version already
    git('commit', '--quiet', '--allow-empty', '--message', `release: ${version}`)
    run(['tag', '--annotate', tag, '--cleanup', 'verbatim', '--file', '-'], `${text.trim()}\n`) // git takes `###` for a comment
  } catch (err) {
    git('reset', '--quiet', '--hard', head)
    throw err
  } finally {
    process.off('SIGINT', ignore)
  }
  return tag
}

function setVersion (folder, version) {
  for (const name of ['package.json', 'package-lock.json']) {
    const file = path.join(folder, name)
    if (!fs.existsSync(file)) continue
    const manifest = JSON.parse(fs.readFileSync(file, 'utf8'))
    manifest.version = version
    if (manifest.packages) manifest.packages[''].version = version
    fs.writeFileSync(file, `${JSON.stringify(manifest, null, 2)}\n`)
  }
}

function compare (a, b) {
  const [left, right] = [a, b].map(version => version.split('.').map(Number))
  const i = left.findIndex((number, i) => number !== right[i])
  return i === -1 ? 0 : left[i] - right[i]
}

if (require.main === module) {
  const root = path.join(__dirname, '..')
  const tests = ['consumers/published/published.long', 'consumers/package/package.long', 'workflows', 'docs/pages'].map(name => `test/${name}.test.js`)
  try {
    const tag = module.exports({
      root,
      version: process.argv[2] ?? '',
      check: () => execFileSync(process.execPath, ['test/run.js', ...tests], { cwd: root, stdio: 'inherit' })
    })
    console.log(`${tag} is tagged. To publish it:\n\n  git push --follow-tags && npm publish && npm publish ./create`)
  } catch (err) {
    console.error(err.message)
    process.exitCode = 1
  }
}
