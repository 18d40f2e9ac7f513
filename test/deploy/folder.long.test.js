'use strict'

const assert = require('node:assert/strict')
const { exec, execFile } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { promisify } = require('node:util')
const { after, before, describe, it } = require('node:test')
const pack = require('../../tools/pack')
const { blocks } = require('../helpers/blocks')
const { start } = require('../helpers/child')
const { onFreePort } = require('../helpers/ports')
const { missing, which } = require('../helpers/programs')
const startRedis = require('../helpers/redis')

const run = promisify(execFile)
const sh = promisify(exec)
const ROOT = path.join(__dirname, '../..')
const read = name => fs.readFileSync(path.join(ROOT, 'examples/deploy', name), 'utf8')

// of the packed package, as the README of examples/deploy says
describe('a folder of your own', { skip: missing('redis-server') }, () => {
  const npm = { ...process.env, npm_config_prefer_offline: 'true' }
  let work, folder, redis

  before(async () => {
    work = fs.mkdtempSync(path.join(os.tmpdir(), 'kone-folder-'))
    folder = path.join(work, 'notes')
    const tarball = pack({ to: work })
    const [{ code }] = blocks(read('README.md'))
    await sh(code.replace('npm install kone ', `npm install ${tarball} `), { cwd: work, env: { ...npm, KONE: ROOT } })
    redis = await startRedis(which('redis-server'))
  })

  after(async () => {
    await redis?.stop()
    fs.rmSync(work, { recursive: true, force: true })
  })

  /** Start what a file names, with its environment but a port of its own, until `stop()` is called. */
  async function serve (t, { command: [, ...args], cwd, env }, meanwhile) {
    const own = { ...env, REDIS_URL: `redis://127.0.0.1:${redis.port}`, TMPDIR: work }
    const child = await onFreePort(port => start(args, Object.assign(own, { PORT: String(port) }), cwd))
    t.after(() => child.stop('SIGKILL'))
    const ready = async () => (await fetch(`${child.url}/readyz`)).text()
    assert.equal(await ready(), 'up')
    await meanwhile(own)
    assert.equal(await ready(), 'up')
    assert.equal(await child.stop('SIGTERM'), 0)
  }

  it('should be enough for the Dockerfile', async t => {
    const steps = instructions(read('Dockerfile'))
    const of = name => steps.find(step => step.name === name).value
    const image = path.join(work, 'image')
    for (const { name, value } of steps) {
      if (name === 'COPY') copy(folder, image, value.split(' '))
      if (name === 'RUN') await sh(value.replace(' && npm cache clean --force', ''), { cwd: image, env: npm })
    }
    const env = variables(of('ENV'))
    await serve(t, { command: JSON.parse(of('CMD')), cwd: image, env }, async ({ PORT }) => {
      const [, probe] = / CMD (\[.*)/.exec(of('HEALTHCHECK'))
      const [, ...args] = JSON.parse(probe.replace(`:${env.PORT}/`, `:${PORT}/`))
      await run(process.execPath, args)
    })
  })

  it('should be enough for the unit', async t => {
    const unit = Object.fromEntries([...read('kone.service').matchAll(/^(\w+)=(.*)$/gm)].map(([, ...pair]) => pair))
    const env = { ...variables(unit.Environment), INSTANCES: '2' }
    await serve(t, { command: unit.ExecStart.split(' '), cwd: folder, env }, async own => {
      const [, ...args] = unit.ExecReload.split(' ')
      await run(process.execPath, args, { cwd: folder, env: { ...process.env, ...own } })
    })
  })
})

function instructions (text) {
  return [...text.replaceAll('\\\n', '').matchAll(/^([A-Z]+) +(.*)$/gm)].map(([, name, value]) => ({ name, value }))
}

function variables (text) {
  return Object.fromEntries(text.split(' ').map(pair => pair.split('=')))
}

/** As Docker's COPY: of a folder what is in it. */
function copy (from, to, names) {
  const target = path.join(to, names.at(-1))
  for (const name of names.slice(0, -1)) {
    const pattern = new RegExp(`^${name.replaceAll('.', '\\.').replaceAll('*', '.*')}$`)
    const found = fs.readdirSync(from).filter(entry => pattern.test(entry))
    assert.notEqual(found.length, 0, `nothing for COPY ${name}`)
    for (const entry of found) {
      const source = path.join(from, entry)
      const inside = fs.statSync(source).isDirectory() ? '' : entry
      fs.cpSync(source, path.join(target, inside), { recursive: true })
    }
  }
}
