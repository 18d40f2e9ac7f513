'use strict'

const { after, before, describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { execFile, spawn } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const { STATUS_CODES } = require('node:http')
const os = require('node:os')
const path = require('node:path')
const { promisify } = require('node:util')
const javascript = require('../../create/javascript')
const pack = require('../../tools/pack')
const { blocks } = require('../helpers/blocks')
const temporary = require('../helpers/folder')
const { isTaken, onFreePort } = require('../helpers/ports')
const share = require('../helpers/share')
const until = require('../helpers/until')
const { changed } = require('../plan')

const ROOT = path.join(__dirname, '../..')

// the runner's own variables would make the inner `node --test` report to it
const { NODE_TEST_CONTEXT, NODE_OPTIONS, ...env } = process.env
Object.assign(env, { npm_config_prefer_offline: 'true', npm_config_audit: 'false', npm_config_fund: 'false' })

const run = promisify(execFile)
const skip = process.platform === 'win32' && 'the commands of the page are for a POSIX shell'

const packed = temporary()
let tarball

before(() => { tarball = pack({ to: packed }) })

const folders = new Set()

/** They take turns, but for one that has changed. */
const PAGES = ['getting-started.md', 'forms.md']

/** The folder that the page makes. */
const folderOf = page => /^mkdir (\w+)/m.exec(page)[1]

/**
 * A page of docs/guide from top to bottom, in a folder beside the package's files: every file and every command of a
 * shell as printed, on another port.
 */
function follow (name, tests) {
  const isFollowed = share.one(PAGES).includes(name) || changed().includes(`docs/guide/${name}`)
  describe(`docs/guide/${name}, followed literally`, { skip: skip || (!isFollowed && 'it is the turn of the other page') }, () => {
    const page = fs.readFileSync(path.join(ROOT, 'docs/guide', name), 'utf8')
    it('should make a folder of its own: a reader follows one page after the other', () => {
      assert.ok(!folders.has(folderOf(page)))
      folders.add(folderOf(page))
    })
    tests(page, reader(page))
  })
}

function reader (page) {
  let folder, project, port, base
  const running = new Set()
  const sections = Object.fromEntries(page.split(/^## /m).map(text => [text.slice(0, text.indexOf('\n')), blocks(text)]))
  const commands = title => sections[title].filter(({ language }) => language === 'sh').map(({ code }) => code)

  before(async () => {
    folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'kone-notes-')))
    project = path.join(folder, folderOf(page))
    await checkout()
  })

  after(() => {
    for (const child of running) process.kill(-child.pid, 'SIGKILL')
    fs.rmSync(folder, { recursive: true, force: true })
  })

  /** What `make pack` needs of a checkout. */
  async function checkout () {
    await sh(`tar xzf '${tarball}' && mv package kone`, folder)
    for (const name of ['Makefile', 'tools']) fs.cpSync(path.join(ROOT, name), path.join(folder, 'kone', name), { recursive: true })
  }

  async function sh (code, cwd = project) {
    const { stdout, stderr, message } = await run('sh', ['-e', '-c', onPort(code)], { cwd, env }).catch(err => err)
    assert.equal(message, undefined, `${message}\n${stdout}${stderr}`)
    return stdout
  }

  /**
   * Starts a command that serves, on a free port, and waits until the port responds.
   *
   * @param {string} code
   * @param {{ inEnv?: boolean, before?: Function }} [options] `inEnv`: the command reads the port from its environment;
   *   `before` is called when the port is known
   */
  function serve (code, { inEnv, before } = {}) {
    return onFreePort(free => {
      port = free
      base = `http://localhost:${port}`
      before?.()
      return serveHere(code, inEnv && { PORT: String(port) })
    })
  }

  async function serveHere (code, more) {
    const child = spawn('sh', ['-e', '-c', onPort(code)], {
      cwd: project, env: { ...env, ...more }, detached: true, stdio: ['ignore', 'pipe', 'pipe']
    })
    running.add(child)
    child.once('exit', () => running.delete(child))
    let printed = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => { printed += chunk })
    await until(() => {
      if (child.exitCode !== null) throw new Error(`${code} ended with ${child.exitCode}:\n${printed}`)
      if (isTaken({ message: printed })) { // `kone dev` waits for a change then
        process.kill(-child.pid, 'SIGKILL')
        throw new Error(printed)
      }
      return fetch(base).then(res => res.text().then(() => true), () => false)
    }, 60000)
    return child
  }

  async function end (child) {
    const exited = once(child, 'exit')
    process.kill(-child.pid, 'SIGTERM')
    await exited
    await until(() => fetch(base).then(() => false, () => true))
  }

  const onPort = code => code.replaceAll('3000', String(port))

  function write (title) {
    const files = sections[title].filter(({ file }) => file)
    for (const { file, code } of files) {
      fs.mkdirSync(path.dirname(path.join(project, file)), { recursive: true })
      fs.writeFileSync(path.join(project, file), code)
    }
    return files.length
  }

  async function passes (count) {
    const stdout = await sh('npm test -- --test-reporter=tap')
    assert.match(stdout, new RegExp(`^# pass ${count}$`, 'm'))
  }

  async function installs (title) {
    const [install] = commands(title)
    await sh(install, folder)
    const { dependencies } = manifest()
    assert.deepEqual(Object.keys(dependencies), ['kone', 'zod'])
    assert.match(dependencies.kone, /^file:/)
  }

  async function becomesModule (title) {
    const before = manifest()
    await sh(commands(title)[0])
    const { type, dependencies } = manifest()
    assert.deepEqual(dependencies, before.dependencies)
    assert.equal(type, 'module')
    await sh('npm install')
  }

  function manifest () {
    return JSON.parse(fs.readFileSync(path.join(project, 'package.json'), 'utf8'))
  }

  // `npm run dev`, as the page writes it.
  async function dev () {
    const [, script, usual] = /`npm (run dev)` sets `PORT` to (\d+)/.exec(page)
    assert.match(await sh('npx kone dev --help'), new RegExp(`or ${usual}\\b`))
    return { usual, child: await serve(`npm ${script}`, { inEnv: true }) }
  }

  const get = (target = '/', headers = {}, method = 'GET') => fetch(`${base}${target}`, { headers, method })
  return {
    ...{ installs, becomesModule, dev, sections, commands, sh, serve, end, write, passes, get },
    save: (file, code) => fs.writeFileSync(path.join(project, file), onPort(code)),
    send: (target, options) => fetch(`${base}${target}`, { method: 'POST', redirect: 'manual', ...options }),
    port: () => port
  }
}

follow('getting-started.md', (page, reader) => {
  const { sections, commands, sh, get } = reader

  it('should install kone and zod, from what exists', () => reader.installs('The smallest app'))

  const hello = async () => {
    const [, file] = /Save\s+this as `(hello\.\w+)`/.exec(page)
    const { code } = sections['The smallest app'].find(({ language }) => language === 'js')
    const [, command] = /start it with `(.+?)`/.exec(page)
    const child = await reader.serve(command, { before: () => reader.save(file, code) })
    assert.equal(await (await get('/?name=Ada')).text(), 'Hello Ada')
    await reader.end(child)
  }

  it('should say hello', hello)
  it('should keep the dependencies when package.json is changed', () => reader.becomesModule('The API'))
  it('should say hello still', hello)

  it('should have an app that passes its own test', async () => {
    assert.equal(reader.write('The API'), 4)
    assert.equal(reader.write('The test'), 1)
    await reader.passes(3)
  })

  it('should have the error handling of `npm create kone -- --api`', () => {
    const made = javascript(fs.readFileSync(path.join(ROOT, 'create/template/api/src/app.ts'), 'utf8'))
    const code = text => /async function problems [^]*?\n}\n/.exec(text)[0]
    assert.equal(code(page), code(made))
  })

  it('should take a note by curl beside `npm run dev`, and refuse an empty one', async () => {
    const { usual, child } = await reader.dev()
    const curl = commands('The API')[1].replaceAll(usual, String(reader.port()))
    assert.equal(await sh(curl.replaceAll('curl ', 'curl -s ')), '{"id":"1","text":"milk"}'.repeat(2))
    const refused = await reader.send('/notes', { headers: { 'content-type': 'application/json' }, body: '{"text":" "}' })
    assert.equal(refused.status, 400)
    await reader.end(child)
  })

  it('should have a protected app that passes the test', async () => {
    assert.equal(reader.write('To a server'), 1)
    await reader.passes(3)
  })

  // Each error that the app can give: the 429 comes behind `max` requests.
  async function haveOneForm (max) {
    const type = { 'content-type': 'application/json' }
    for (const [status, ask] of [
      [404, () => get('/notes/7')],
      [404, () => get('/nowhere')],
      [405, () => get('/notes', {}, 'DELETE')],
      [400, () => reader.send('/notes', { headers: type, body: '{"text":" "}' })],
      [400, () => reader.send('/notes', { headers: type, body: '{' })],
      [429, async () => (await Promise.all(Array.from({ length: max }, () => get('/notes')))).at(-1)]
    ]) {
      const res = await ask()
      const problem = await res.json()
      assert.deepEqual([res.status, res.headers.get('content-type'), problem.status, problem.title],
        [status, 'application/problem+json', status, STATUS_CODES[status]])
      if (status === 405) assert.equal(res.headers.get('allow'), 'HEAD, GET, POST')
      if (status === 429) assert(res.headers.get('retry-after') > 0)
    }
  }

  it('should be protected in production, reload, and stop', async () => {
    const [start, control] = commands('To a server')
    const cluster = await reader.serve(start)
    const notes = await get('/notes')
    assert.equal(notes.headers.get('x-content-type-options'), 'nosniff')
    assert.ok(notes.headers.get('x-request-id'))
    assert.equal(notes.headers.get('x-ratelimit-limit') ?? notes.headers.get('ratelimit-limit'), '100')
    assert.equal((await get('/healthz')).status, 200)
    await haveOneForm(101)
    const [reload, stop] = control.trim().split('\n')
    await sh(reload)
    assert.deepEqual(await (await get('/notes')).json(), [])
    const exited = once(cluster, 'exit')
    await sh(stop)
    assert.deepEqual(await exited, [0, null])
  })
})

follow('forms.md', (page, reader) => {
  const { commands, sh } = reader
  const post = (form, headers) => reader.send('/notes', { body: new URLSearchParams(form), headers })
  const get = (cookie = '') => reader.get('/', { cookie })
  const cookieOf = res => res.headers.getSetCookie()[0].split(';')[0]

  it('should install kone and zod, from what exists', () => reader.installs('The project'))
  it('should keep the dependencies when package.json is changed', () => reader.becomesModule('The app'))

  it('should have an app that passes its own test', async () => {
    assert.equal(reader.write('The app'), 4)
    assert.equal(reader.write('The test'), 1)
    await reader.passes(2)
  })

  it('should take a note of a visitor by `npm run dev`, show it escaped, and refuse an empty one', async () => {
    const { child } = await reader.dev()
    assert.match(await (await get()).text(), /No notes yet/)
    const added = await post({ text: '<i>tea</i>' })
    assert.equal(added.status, 302)
    const text = await (await get(cookieOf(added))).text()
    assert.match(text, /&lt;i&gt;tea/)
    assert.match(text, /You wrote 1\./)
    const refused = await post({ text: ' ' })
    assert.equal(refused.status, 400)
    assert.match(await refused.text(), /Write something/)
    await reader.end(child)
  })

  it('should have a protected app that passes the tests of both files', async () => {
    assert.equal(reader.write('To a server'), 2)
    await reader.passes(4)
  })

  it('should be protected in production, reload with the sessions it had, and stop', async () => {
    const [start, control] = commands('To a server')
    const cluster = await reader.serve(start)
    const page = await get()
    assert.equal(page.status, 200)
    assert.equal(page.headers.get('x-content-type-options'), 'nosniff')
    assert.ok(page.headers.get('x-request-id'))
    assert.equal(page.headers.get('x-ratelimit-limit') ?? page.headers.get('ratelimit-limit'), '100')
    const cookie = cookieOf(page)
    const [, token] = /name="_csrf" value="(.+?)"/.exec(await page.text())

    assert.equal((await post({ text: 'tea' }, { cookie })).status, 403)
    assert.equal((await post({ text: 'tea', _csrf: token }, { cookie, 'sec-fetch-site': 'cross-site' })).status, 403)
    const added = await post({ text: 'tea', _csrf: token }, { cookie })
    assert.equal(added.status, 302)
    const mine = cookieOf(added)
    const shown = await get(mine)
    assert.equal(shown.status, 200)
    assert.match(await shown.text(), /<li>tea<\/li>[\s\S]*You wrote 1\./)

    const [reload, stop] = control.trim().split('\n')
    await sh(reload)
    assert.match(await (await get(mine)).text(), /You wrote 1\./)
    const exited = once(cluster, 'exit')
    await sh(stop)
    assert.deepEqual(await exited, [0, null])
  })
})
