'use strict'

const { execFileSync, spawn } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { alone } = require('./area')

const ROOT = path.join(__dirname, '../..')
const CACHE = process.env.KONE_CACHE || path.join(os.homedir(), '.cache', 'kone')

/** Of metrics; the packages that it needs itself are found beside its real path. */
const PEER = 'node_modules/prom-client'

/** Versions that npm has of the runtimes, and how each serves an `export default app`. */
const RUNTIMES = {
  bun: { version: '1.4.5', program: 'bun/bin/bun.exe', args: [] },
  deno: { version: '2.9.6', program: 'deno/deno', args: ['serve', '-A', '--no-check', '--port', '0'] }
}

/**
 * The runtimes other than Node, each installed where it is not yet.
 *
 *    for (const { name, missing, serve } of runtimes()) {
 *      describe(name, { skip: missing }, () => {
 *        before(async () => { server = await serve(path.join(__dirname, 'smoke.mjs')) })
 *        after(() => server?.stop())
 *      })
 *    }
 */
module.exports = function runtimes () {
  return Object.entries(RUNTIMES).map(([name, { version, program, args }]) => {
    const file = install(name, version, program)
    const missing = file ? false : `${name} ${version} cannot be had from npm here`
    return { name, missing, serve: entry => serve(file, args, entry) }
  })
}

async function serve (file, args, entry) {
  const folder = project(entry)
  const child = spawn(file, [...args, path.join(folder, path.basename(entry))], {
    cwd: folder, env: { ...process.env, PORT: '0', NO_COLOR: '1', NODE_ENV: 'test' }
  })
  let errors = ''
  const stop = () => {
    child.kill('SIGKILL')
    fs.rmSync(folder, { recursive: true })
  }
  const url = await new Promise((resolve, reject) => {
    let text = ''
    const read = chunk => {
      text += chunk
      const port = /http:\/\/[\w.]+:(\d+)/.exec(text)?.[1]
      if (port) resolve(`http://127.0.0.1:${port}`)
    }
    child.stdout.on('data', read)
    child.stderr.on('data', chunk => {
      errors += chunk
      read(chunk)
    })
    child.once('exit', code => reject(new Error(`it ended with ${code}: ${text}`)))
  })
  return { url, stop, errors: () => errors }
}

/** The path of a runtime's program, installed where it is not yet; null where that fails. */
function install (name, version, program) {
  const folder = path.join(CACHE, `${name}-${version}`)
  const file = path.join(folder, 'node_modules', program)
  try {
    fs.mkdirSync(folder, { recursive: true })
    alone(path.join(folder, 'install.lock'), () => {
      if (fs.existsSync(file)) return
      fs.writeFileSync(path.join(folder, 'package.json'), '{ "private": true }')
      execFileSync('npm', ['install', '--no-audit', '--no-fund', `${name}@${version}`], {
        cwd: folder, stdio: 'ignore', timeout: 120000
      })
    })
    execFileSync(file, ['--version'], { stdio: 'ignore' })
    return file
  } catch {
    return null
  }
}

/** A project with this checkout as an installed package: Deno treats files elsewhere as ES modules. */
function project (entry) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'kone-runtime-'))
  const modules = path.join(folder, 'node_modules')
  for (const part of ['lib', 'middleware', 'package.json']) {
    fs.cpSync(path.join(ROOT, part), path.join(modules, 'kone', part), { recursive: true })
  }
  const { packages } = JSON.parse(fs.readFileSync(path.join(ROOT, 'package-lock.json'), 'utf8'))
  for (const [place, { dev }] of Object.entries(packages)) {
    if ((dev && place !== PEER) || !/^node_modules\/(?:@[^/]+\/)?[^/]+$/.test(place)) continue
    fs.mkdirSync(path.dirname(path.join(folder, place)), { recursive: true })
    fs.symlinkSync(path.join(ROOT, place), path.join(folder, place), 'junction')
  }
  const isWhole = path.basename(entry) === 'app.mjs'
  if (isWhole) fs.cpSync(path.dirname(entry), folder, { recursive: true })
  else fs.copyFileSync(entry, path.join(folder, path.basename(entry)))
  fs.writeFileSync(path.join(folder, 'package.json'), '{ "type": "module" }')
  return folder
}
