'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { spawn } = require('node:child_process')
const fs = require('node:fs')
const { once } = require('node:events')
const path = require('node:path')
const { WebSocket } = require('ws')
const { project, scratch } = require('../command/project')
const { connect, requestOf, responseOf } = require('../helpers/handshake')
const share = require('../helpers/share')
const { ROOT, make, until } = require('./instance')

/** Each step of its end waits a little, and writes a line with the pid when it is over. */
const app = (log, last = '') => `
const { once } = require('node:events')
const { appendFileSync } = require('node:fs')
const { setTimeout: sleep } = require('node:timers/promises')
const Kone = require('${ROOT}/lib/application.js')
const health = require('${ROOT}/middleware/health')
const Router = require('${ROOT}/middleware/router')
const websocket = require('${ROOT}/middleware/websocket')
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
app.use(new Router().get('/ws', (ctx, next) => ctx.query.waits ? new Promise(() => {}) : next(), websocket(async socket => {
  await socket.closed
  await sleep(100)
  write('handler')
})).routes())
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

const STEPS = ['request', 'request', 'beforeShutdown', 'response', 'handler', 'last', 'thrown', 'afterShutdown']

/**
 * What the process writes that serves a request and has another one in flight when it ends, and what others write. A
 * WebSocket is open, too, and a handshake waits.
 */
async function steps ({ url, log }, end) {
  const pid = await (await fetch(url)).text()
  const held = await fetch(`${url}/held`)
  const socket = new WebSocket(`${url.replace('http', 'ws')}/ws`)
  await once(socket, 'open')
  const closed = once(socket, 'close')
  const waiting = await connect(new URL(url).port)
  waiting.write(requestOf(new URL(url).port, '/ws?waits=1'))
  const response = responseOf(waiting)
  await end()
  await held.text().catch(() => {})
  const lines = () => fs.readFileSync(log, 'utf8').trim().split('\n')
  await until(() => lines().includes(`${pid} afterShutdown`))
  const written = lines().map(line => /^(\d+) (.*)/.exec(line))
  return {
    sockets: [(await closed)[0], (await response).status],
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
      const { own, others, sockets } = await steps(instance, async () => {
        assert.deepEqual(await instance.run('stop'), { code: 0, lines: [] })
      })
      assert.deepEqual(own, STEPS)
      assert.deepEqual(sockets, [1001, 503])
      assert.deepEqual(others, ['last', 'thrown', 'afterShutdown']) // of the process that tries the app
    })
  }

  for (const cluster of share(['node'], ['node', 'pm2'])) {
    it(`should be over when ${cluster} has replaced it`, async t => {
      const instance = await serve(t, cluster)
      const { own, sockets } = await steps(instance, async () => {
        assert.deepEqual(await instance.run('reload'), { code: 0, lines: [] })
      })
      // a new worker of node:cluster serves, and a probe of the old one need not fail
      assert.deepEqual(own, STEPS.filter(step => cluster === 'pm2' || step !== 'beforeShutdown'))
      assert.deepEqual(sockets, [1001, 503])
    })
  }

  it('should be over when the master process and all workers get the signal of a terminal', async t => {
    const instance = await serve(t, 'node')
    const { own, sockets } = await steps(instance, async () => {
      for (const pid of await instance.workers()) process.kill(pid, 'SIGINT')
      instance.master.kill('SIGINT')
      assert.deepEqual((await instance.master.ended).code, 0)
    })
    assert.deepEqual(own, STEPS)
    assert.deepEqual(sockets, [1001, 503])
  })

  it('should be left, and named, when it is not over in time', async t => {
    const last = 'app.onClose(function never () { return new Promise(() => {}) })\n' +
      'app.onClose(function neverBefore () { return new Promise(() => {}) }, { before: true })'
    const instance = await serve(t, 'node', last, { DRAIN_TIMEOUT: '1000' })
    const { own } = await steps(instance, async () => {
      assert.deepEqual((await instance.run('stop')).code, 0)
    })
    assert.deepEqual(own.filter(step => step !== 'response'), [
      'request', 'request', 'app.onClose(): neverBefore was not over within 1000 ms', 'beforeShutdown', 'handler',
      'app.onClose(): never was not over within 1000 ms', 'last', 'thrown', 'afterShutdown'
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
    const { own, sockets } = await steps(instance, () => child.kill('SIGTERM'))
    assert.deepEqual(own, STEPS)
    assert.deepEqual(sockets, [1001, 503])
    assert.deepEqual(await exit, [0, null])
  })

  it('should be over when kone dev starts the app again, and when it ends', async t => {
    const { folder, write, dev } = project(scratch())
    const log = path.join(folder, 'log')
    write('app.js', app(log))
    const child = await dev(t, 'app.js')
    const change = await steps({ url: child.url, log }, () => write('app.js', app(log, '// changed')))
    assert.deepEqual(change.own.filter(step => step !== 'response'), ['request', 'request', 'handler', 'last', 'thrown', 'afterShutdown'])
    assert.deepEqual(change.sockets, [1001, 503])
    await until(() => fetch(child.url).then(() => true, () => false))
    const { own } = await steps({ url: child.url, log }, () => child.stop('SIGINT'))
    assert.deepEqual(own.filter(step => step !== 'response').slice(-4), ['handler', 'last', 'thrown', 'afterShutdown'])
  })
})
