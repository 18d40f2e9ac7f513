'use strict'

const { pbkdf2Sync } = require('node:crypto')
const path = require('node:path')
const kone = require('../../lib/servers/kone')

// What each request does: so many rounds of a hash, which take as long in all contenders.
const work = () => pbkdf2Sync('password', 'salt', Number(process.env.ROUNDS ?? 1), 32, 'sha256')

const respond = ctx => { ctx.body = work() && 'ok' }

// With the default length of the listen queue, as apps listen.
const listening = (app, ...fns) => (port, host) => [...fns, respond].reduce((app, fn) => app.use(fn), app).listen(port, host)

// In one worker, which loads this file.
const started = name => ({
  missing: () => process.platform === 'linux' ? null : 'what it costs is known on Linux only',
  command: ({ node = process.execPath }) => [node, path.join(kone.root, 'command'), 'start', __filename],
  env: ({ port }) => ({ NODE_ENV: 'production', CONTENDER: name, PORT: String(port), INSTANCES: '1', KONE_CLUSTER: 'node' }),
  version: node => node.slice(1)
})

module.exports = {
  kone: { package: 'kone', start: () => listening(new (kone('.'))(), kone('middleware/overload')()) },
  'kone start': started('kone'),
  koa: { package: 'koa', start: () => listening(new (require('koa'))()) },
  'fastify with under-pressure': {
    package: 'fastify',
    start () {
      const app = require('fastify')().register(require('@fastify/under-pressure'), { maxEventLoopDelay: 200 })
      return (port, host) => app.get('/', async () => work() && 'ok').listen({ port, host }).then(() => app.server)
    }
  },
  'kone without overload': { package: 'kone', start: () => listening(new (kone('.'))()) },
  'kone start without overload': started('kone without overload')
}

const { CONTENDER, PORT } = process.env
if (CONTENDER) module.exports[CONTENDER].start()(Number(PORT))
