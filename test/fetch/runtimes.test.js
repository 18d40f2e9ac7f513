'use strict'

const { describe, it, before, after } = require('node:test')
const assert = require('node:assert/strict')
const { execFileSync, spawn } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')

const ROOT = path.join(__dirname, '../..')
const CACHE = process.env.KONE_CACHE || path.join(os.homedir(), '.cache', 'kone')

/** Versions that npm has of the runtimes, and how each serves an `export default app`. */
const RUNTIMES = {
  bun: { version: '1.4.5', program: 'bun/bin/bun.exe', args: [] },
  deno: { version: '2.9.6', program: 'deno/deno', args: ['serve', '-A', '--no-check', '--port', '0'] }
}

for (const [name, { version, program, args }] of Object.entries(RUNTIMES)) {
  const file = install(name, version, program)

  describe(`app.fetch on ${name}`, { skip: file ? false : `${name} ${version} cannot be had from npm here` }, () => {
    let child, folder, url, errors

    before(async () => {
      folder = project()
      child = spawn(file, [...args, path.join(folder, 'smoke.mjs')], {
        cwd: folder, env: { ...process.env, PORT: '0', NO_COLOR: '1' }
      })
      errors = ''
      url = await new Promise((resolve, reject) => {
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
    })

    after(() => {
      child?.kill('SIGKILL')
      fs.rmSync(folder, { recursive: true })
    })

    it('should serve an app that is the default export, with the peer’s address', async () => {
      const res = await fetch(url, { headers: { 'X-Request-Id': 'mine' } })
      assert.equal(res.status, 200)
      assert.equal(res.headers.get('x-request-id'), 'mine')
      assert.equal(res.headers.get('x-content-type-options'), 'nosniff')
      const { ip, host, id } = await res.json()
      assert.match(ip, /^(?:::ffff:)?127\.0\.0\.1$/)
      assert.equal(host, new URL(url).host)
      assert.equal(id, 'mine')
    })

    it('should keep sessions in sealed cookies', async () => {
      const first = await fetch(`${url}/visits`)
      const cookie = first.headers.getSetCookie().map(one => one.split(';')[0]).join('; ')
      assert.deepEqual(await first.json(), { visits: 1 })
      assert.deepEqual(await (await fetch(`${url}/visits`, { headers: { cookie } })).json(), { visits: 2 })
    })

    it('should parse bodies, and refuse broken ones', async () => {
      const post = body => fetch(`${url}/echo`, { method: 'POST', body, headers: { 'Content-Type': 'application/json' } })
      const item = { text: 'x'.repeat(100000) }
      assert.deepEqual(await (await post(JSON.stringify(item))).json(), item)
      assert.equal((await post('{')).status, 400)
    })

    it('should stream', async () => {
      const res = await fetch(`${url}/stream`)
      assert.equal(res.headers.get('content-type'), 'text/plain; charset=utf-8')
      assert.equal(await res.text(), 'one two')
    })

    it('should respond to errors, and with one clear error to a read of ctx.req', async () => {
      assert.equal((await fetch(`${url}/broken`)).status, 500)
      assert.equal((await fetch(`${url}/node`)).status, 500)
      assert.equal((await fetch(`${url}/nope`)).status, 404)
      const lines = errors.split('\n').filter(line => /on purpose|ctx\.req/.test(line))
      assert.equal(lines.length, 2, errors)
      assert.equal(lines[0], 'broken on purpose')
      assert.match(lines[1], /^ctx\.req and ctx\.res exist on Node only, not in app\.fetch\(\) on (?:Bun|Deno): use /)
      assert.doesNotMatch(errors, /abort/)
    })
  })
}

/** The path of a runtime's program, installed where it is not yet; null where that fails. */
function install (name, version, program) {
  const folder = path.join(CACHE, `${name}-${version}`)
  const file = path.join(folder, 'node_modules', program)
  try {
    if (!fs.existsSync(file)) {
      fs.mkdirSync(folder, { recursive: true })
      fs.writeFileSync(path.join(folder, 'package.json'), '{ "private": true }')
      execFileSync('npm', ['install', '--no-audit', '--no-fund', `${name}@${version}`], {
        cwd: folder, stdio: 'ignore', timeout: 120000
      })
    }
    execFileSync(file, ['--version'], { stdio: 'ignore' })
    return file
  } catch {
    return null
  }
}

/** A project with this checkout as an installed package: Deno treats files elsewhere as ES modules. */
function project () {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'kone-runtime-'))
  const modules = path.join(folder, 'node_modules')
  for (const part of ['lib', 'middleware', 'package.json']) {
    fs.cpSync(path.join(ROOT, part), path.join(modules, 'kone', part), { recursive: true })
  }
  const { packages } = JSON.parse(fs.readFileSync(path.join(ROOT, 'package-lock.json'), 'utf8'))
  for (const [place, { dev }] of Object.entries(packages)) {
    if (dev || !/^node_modules\/(?:@[^/]+\/)?[^/]+$/.test(place)) continue
    fs.mkdirSync(path.dirname(path.join(folder, place)), { recursive: true })
    fs.symlinkSync(path.join(ROOT, place), path.join(folder, place), 'junction')
  }
  fs.copyFileSync(path.join(__dirname, 'smoke.mjs'), path.join(folder, 'smoke.mjs'))
  fs.writeFileSync(path.join(folder, 'package.json'), '{ "type": "module" }')
  return folder
}
