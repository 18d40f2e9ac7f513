#!/usr/bin/env node
'use strict'

const fs = require('node:fs')
const path = require('node:path')
const readline = require('node:readline/promises')
const { parseArgs } = require('node:util')
const javascript = require('./javascript')
const { version } = require('./package.json')

const USAGE = `usage: npm create kone <folder> [-- options]

  --ts      TypeScript instead of JavaScript
  --api     a JSON API: typed router, validation, health, metrics
  --bare    one route and a health check
            without either: a small site on the middleware set
  --help, --version
`

const OPTIONS = {
  ts: { type: 'boolean' },
  api: { type: 'boolean' },
  bare: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean', short: 'v' }
}

/** A mistake of the user, which is reported in one line. */
class Mistake extends Error {}

main(process.argv.slice(2)).catch(err => {
  // a system error's message names the call and the path: as much as anybody can use
  if (!(err instanceof Mistake) && !err.syscall) throw err
  console.error(`create-kone: ${err.message}`)
  process.exitCode = 1
})

async function main (args) {
  const { values, positionals } = parse(args)
  if (values.help) return process.stdout.write(USAGE)
  if (values.version) return console.log(version)
  if (values.api && values.bare) throw new Mistake('--api or --bare, not both (try --help)')
  if (positionals.length > 1) throw new Mistake(`one folder only, not ${positionals.join(' and ')} (try --help)`)

  const given = positionals[0] ?? await ask()
  const folder = path.resolve(given)
  const name = checkName(path.basename(folder))
  checkEmpty(folder, given)
  create(folder, name, values)

  console.log(`${name} is ready:\n`)
  if (folder !== process.cwd()) console.log(`  cd ${quoted(path.relative('', folder))}`)
  console.log('  npm install\n  npm test\n  npm start')
}

/** For a shell, where a folder above the project has another name than a package. */
function quoted (way) {
  return /^[\p{L}\p{M}\p{N}@_+=:,.~/\\-]+$/u.test(way) ? way : `"${way}"`
}

function parse (args) {
  try {
    const { values, positionals } = parseArgs({ args, options: OPTIONS, allowPositionals: true })
    // npm keeps options for itself where no `--` is before them, or PowerShell has removed it
    for (const name of ['ts', 'api', 'bare']) values[name] ??= Boolean(process.env[`npm_config_${name}`])
    return { values, positionals }
  } catch (err) {
    const option = (/'-.*?'/.exec(err.message) ?? ['an option'])[0].replace(/'/g, '')
    if (err.code !== 'ERR_PARSE_ARGS_UNKNOWN_OPTION') throw new Mistake(`${option} takes no value (try --help)`)
    const known = Object.keys(OPTIONS).map(name => `--${name}`).join(', ')
    throw new Mistake(`unknown option ${option}: expected ${known} (try --help)`)
  }
}

async function ask () {
  if (!process.stdin.isTTY) throw new Mistake('no folder was given: npm create kone my-app (try --help)')
  const terminal = readline.createInterface(process.stdin, process.stdout).once('close', giveUp) // Ctrl+C, Ctrl+D
  const folder = await terminal.question('folder (my-app): ')
  terminal.off('close', giveUp).close()
  return folder.trim() || 'my-app'
}

function giveUp () {
  console.log()
  process.exit(130)
}

/**
 * The folder's name becomes the package's: npm's rules for new names.
 */
function checkName (name) {
  if (name.length <= 214 && /^[a-z0-9~-][a-z0-9._~-]*$/.test(name) && name !== 'node_modules') return name
  throw new Mistake(`${JSON.stringify(name)} is not a package name: lower-case letters, digits and - . _ only (try --help)`)
}

function checkEmpty (folder, given) {
  const found = fs.statSync(folder, { throwIfNoEntry: false })
  if (!found) return
  if (!found.isDirectory()) throw new Mistake(`${given} exists and is not a folder: name a new or an empty one (try --help)`)
  // a repository without a file counts as empty
  if (fs.readdirSync(folder).some(entry => entry !== '.git')) throw new Mistake(`${given} exists and is not empty: name a new or an empty folder (try --help)`)
}

/**
 * Write the project; when that fails half-way, leave nothing of it.
 */
function create (folder, name, { ts, api, bare }) {
  const kind = api ? 'api' : bare ? 'bare' : 'site'
  const layers = [kind, ...bare ? [] : ['redis'], 'all', ts ? 'all-ts' : 'all-js']
  const tarball = tarballFor(folder)
  const first = fs.mkdirSync(folder, { recursive: true })
  try {
    for (const layer of layers) copy(path.join(__dirname, 'template', layer), folder, ts)
    if (tarball) fs.copyFileSync(tarball, path.join(folder, path.basename(tarball)))
    const spec = tarball ? `file:${path.basename(tarball)}` : process.env.KONE_SPEC || `^${version}`
    write(folder, 'package.json', JSON.stringify(manifest(name, kind, ts, spec), null, 2) + '\n')
  } catch (err) {
    for (const entry of fs.readdirSync(folder)) {
      if (entry !== '.git') fs.rmSync(path.join(folder, entry), { recursive: true, force: true })
    }
    if (first) fs.rmSync(first, { recursive: true, force: true })
    throw err
  }
}

/**
 * The tarball of kone that KONE_SPEC names, relative to the project as npm has it. It is copied into the project: an
 * image is built of this folder alone, and so is a clone.
 */
function tarballFor (folder) {
  const [, file] = /^file:(.+\.tgz)$/.exec(process.env.KONE_SPEC) ?? []
  if (file === undefined) return null
  const found = path.resolve(folder, file)
  if (!fs.existsSync(found)) throw new Mistake(`KONE_SPEC names ${found}, which does not exist: make it by make pack (try --help)`)
  return found
}

function copy (from, to, ts) {
  for (const entry of fs.readdirSync(from, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const source = path.join(entry.parentPath ?? entry.path, entry.name)
    // npm leaves files named .gitignore out of a package
    const name = path.relative(from, source).replaceAll(path.sep, '/').replace(/^_/, '.')
    if (ts || !/\.(?:ts|md)$/.test(name)) write(to, name, fs.readFileSync(source))
    else write(to, javascript(name), javascript(fs.readFileSync(source, 'utf8')))
  }
}

function write (folder, file, content) {
  const target = path.join(folder, file)
  fs.mkdirSync(path.dirname(target), { recursive: true })
  fs.writeFileSync(target, content)
}

function manifest (name, kind, ts, spec) {
  return {
    name,
    version: '0.1.0',
    private: true,
    type: 'module',
    scripts: ts
      ? {
          build: 'tsc',
          dev: 'kone dev src/server.ts',
          lint: 'eslint .',
          routes: 'kone routes src/server.ts',
          start: 'node dist/server.js',
          test: 'npm run build && node --test dist/*.test.js'
        }
      : {
          dev: 'kone dev server.js',
          lint: 'eslint .',
          routes: 'kone routes server.js',
          start: 'node server.js',
          test: 'node --test'
        },
    engines: { node: '>=20.12' },
    dependencies: {
      ...(kind !== 'bare' && { ioredis: '^6.0.0' }),
      kone: spec,
      ...(kind === 'api' && { 'prom-client': '^15.1.3', zod: '^4.6.0' })
    },
    devDependencies: {
      ...(ts && { '@types/node': '^24.10.0' }),
      ...(ts && !process.features.typescript && { esbuild: '^0.28.2' }), // for kone dev
      eslint: '^9.39.5',
      neostandard: '^0.13.0',
      ...(ts && { typescript: '^6.0.3' })
    }
  }
}
