'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { spawn } = require('node:child_process')
const fs = require('node:fs')
const { once } = require('node:events')
const path = require('node:path')
const { project, scratch } = require('../command/project')
const share = require('../helpers/share')
const { ROOT, make, until } = require('./instance')

/** Each step of its end waits a little, and writes a line with the pid when it is over. */
const app = (log, last = '') => `
const { once } = require('node:events')
const { appendFileSync } = require('node:fs')
const { setTimeout: sleep } = require('node:timers/promises')
const Kone = require('${ROOT}/lib/application.js')
const health = require('${ROOT}/middleware/health')
const app = new Kone()
const write = step => appendFileSync('${log}', process.pid + ' ' + step + '\\n')
const step = name => async () => {
  await sleep(20)
  write(name)
}
app.on('error', err => write(err.message.replace(/, .*:\\d+/, '')))
app.use(health({ beforeShutdown: step('beforeShutdown'), afterShutdown: step('afterShutdown') }))
app.onClose(() => { throw new Error('thrown') })
app.onClose(step('last'))
app.use(async ctx => {
  write('request')
  ctx.body = String(process.pid)
  if (ctx.path === '/held') {
    ctx.res.flushHeaders()
    await once(ctx.req.socket.server, Symbol.for('kone.draining'))
    await sleep(50)
    write('response')
  }
})
${last}
module.exports = app`

const STEPS = ['request', 'request', 'beforeShutdown', 'response', 'last', 'thrown', 'afterShutdown']

/** What the process writes that serves a request and has another one in flight when it ends, and what others write. */
async function steps ({ url, log }, end) {
  const pid = await (await fetch(url)).text()
  const held = await fetch(`${url}/held`)
  await end()
  await held.text().catch(() => {})
  const lines = () => fs.readFileSync(log, 'utf8').trim().split('\n')
  await until(() => lines().includes(`${pid} afterShutdown`))
  const written = lines().map(line => /^(\d+) (.*)/.exec(line))
  return {
    own: written.filter(([, by]) => by === pid).map(([,, step]) => step),
    others: written.filter(([, by]) => by !== pid).map(([,, step]) => step)
  }
}

async function serve (t, cluster, source, env) {
  const instance = await make(t, cluster, { INSTANCES: '1', ...env })
  instance.log = path.join(instance.folder, 'log')
  instance.write(app(instance.log, source))
  await instance.start()
  return instance
}

describe('what an app does at its end', () => {
  for (const cluster of ['node', 'pm2']) {
    it(`should be over when ${cluster} has stopped it`, async t => {
      const instance = await serve(t, cluster)
      const { own, others } = await steps(instance, async () => {
        assert.deepEqual(await instance.run('stop'), { code: 0, lines: [] })
      })
      assert.deepEqual(own, STEPS)
      assert.deepEqual(others, ['last', 'thrown', 'afterShutdown']) // of the process that tries the app
    })
  }

  for (const cluster of share(['node'], ['node', 'pm2'])) {
    it(`should be over when ${cluster} has replaced it`, async t => {
      const instance = await serve(t, cluster)
      const { own } = await steps(instance, async () => {
        assert.deepEqual(await instance.run('reload'), { code: 0, lines: [] })
      })
      // a new worker of node:cluster serves, and a probe of the old one need not fail
      assert.deepEqual(own, STEPS.filter(step => cluster === 'pm2' || step !== 'beforeShutdown'))
    })
  }

  it('should be over when the master process and all workers get the signal of a terminal', async t => {
    const instance = await serve(t, 'node')
    const { own } = await steps(instance, async () => {
      for (const pid of await instance.workers()) process.kill(pid, 'SIGINT')
      instance.master.kill('SIGINT')
      assert.deepEqual((await instance.master.ended).code, 0)
    })
    assert.deepEqual(own, STEPS)
  })

  it('should be left, and named, when it is not over in time', async t => {
    const last = 'app.onClose(function never () { return new Promise(() => {}) })\n' +
      'app.onClose(function neverBefore () { return new Promise(() => {}) }, { before: true })'
    const instance = await serve(t, 'node', last, { DRAIN_TIMEOUT: '300' })
    const { own } = await steps(instance, async () => {
      assert.deepEqual((await instance.run('stop')).code, 0)
    })
    assert.deepEqual(own.filter(step => step !== 'response'), [
      'request', 'request', 'app.onClose(): neverBefore was not over within 300 ms', 'beforeShutdown',
      'app.onClose(): never was not over within 300 ms', 'last', 'thrown', 'afterShutdown'
    ])
  })

  it('should be over when an app of node closes itself on a signal', async t => {
    const instance = await make(t, 'node')
    instance.log = path.join(instance.folder, 'log')
    instance.write(app(instance.log, `app.listen(process.env.PORT, () => console.log('listens'))
      process.once('SIGTERM', () => app.close())`))
    const child = spawn(process.execPath, [instance.app], { env: instance.env, stdio: ['ignore', 'pipe', 'inherit'] })
    t.after(() => child.kill('SIGKILL'))
    await once(child.stdout, 'data')
    const exit = once(child, 'exit')
    const { own } = await steps(instance, () => child.kill('SIGTERM'))
    assert.deepEqual(own, STEPS)
    assert.deepEqual(await exit, [0, null])
  })

  it('should be over when kone dev starts the app again, and when it ends', async t => {
    const { folder, write, dev } = project(scratch())
    const log = path.join(folder, 'log')
    write('app.js', app(log))
    const child = await dev(t, 'app.js')
    const change = await steps({ url: child.url, log }, () => write('app.js', app(log, '// changed')))
    assert.deepEqual(change.own.filter(step => step !== 'response'), ['request', 'request', 'last', 'thrown', 'afterShutdown'])
    await until(() => fetch(child.url).then(() => true, () => false))
    const { own } = await steps({ url: child.url, log }, () => child.stop('SIGINT'))
    assert.deepEqual(own.filter(step => step !== 'response').slice(-3), ['last', 'thrown', 'afterShutdown'])
  })
})
