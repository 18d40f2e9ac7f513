'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')
const net = require('node:net')
const { once } = require('node:events')
const path = require('node:path')
const { describe, it } = require('node:test')
const { filesOf, unseen } = require('../helpers/messages')
const { SHAPES, make } = require('./instance')

/*
 * What a user reads when an app cannot be served on all cores: what was given, what is expected and where to read on.
 * Real processes print it.
 */

const ROOT = path.join(__dirname, '../..')
const EXCEPTIONS = {
  error: 'what the master has said, with the page',
  'cannot listen on port': 'a port that only root may open, and the tests may run as root',
  'reason || lastWords(printed) || how': "the app's own last words, or the sentence with its exit code",
  's: the app has to listen there': 'after a minute',
  'ended before it responded': 'a master that is killed between a command and its response',
  'is being stopped': 'a reload that meets a stop',
  'came to listen on port': "pm2's workers, which the trial before them has tried",
  'was replaced: pm2 logs': "pm2's workers, which the trial before them has tried",
  'pm2 is not installed': 'pm2 is a development dependency here',
  'err.msg || err': "pm2's own message"
}

// [what is typed, the environment, the app's file, what was given, what is expected]
const MISTAKES = [
  ['--fast', {}, SHAPES.app, 'unknown flag --fast', 'node pm2.js [app.js] | reload | status | stop'],
  ['app.js b.js', {}, SHAPES.app, 'b.js is one argument too many', 'node pm2.js [app.js] | reload | status | stop'],
  ['app.js', { PORT: '70000' }, SHAPES.app, 'not 70000', 'PORT must be a whole number from 1 to 65535'],
  ['app.js', { INSTANCES: 'many' }, SHAPES.app, 'not many', 'INSTANCES must be a whole number from 1 to 1024'],
  ['app.js', { DRAIN_TIMEOUT: '-1' }, SHAPES.app, 'not -1', 'DRAIN_TIMEOUT must be a whole number from 0'],
  ['app.js', { KONE_CLUSTER: 'pm3' }, SHAPES.app, 'not pm3', 'KONE_CLUSTER must be pm2 or node'],
  ['app.js', {}, '', 'it exports neither an app nor a function nor a server', 'export an app, or listen there'],
  ['app.js', {}, 'process.exit(3)', 'it ended with exit code 3 before it listened'],
  ['app.js', { KONE_CLUSTER: 'pm2', PM2_HOME: '/dev/null/pm2' }, SHAPES.app, '/dev/null/pm2', 'set PM2_HOME'],
  ['status', {}, '', 'nothing was started on port', 'kone start <file> --port'],
  ['reload', {}, '', 'nothing was started on port', 'kone start <file> --port'],
  ['stop', {}, '', 'nothing was started on port', 'kone start <file> --port']
]

let printed = ''

async function refused (instance, typed, parts) {
  const args = typed.split(' ').map(arg => arg === 'app.js' ? instance.app : arg)
  const { code, lines } = await instance.run(...args)
  printed += `${lines.join('\n')}\n`
  assert.deepEqual([code, lines.length], [1, 1], lines.join('\n'))
  for (const part of parts) assert(lines[0].includes(part), `no ${part} in: ${lines[0]}`)
  const [, page] = /^kone: .* \(kone\/(docs\/api\/\w+\.md)\)$/.exec(lines[0]) ?? []
  assert(page && fs.existsSync(path.join(ROOT, page)), `no page in: ${lines[0]}`)
}

describe('an error of a cluster', () => {
  for (const [typed, env, source, ...parts] of MISTAKES) {
    it(`should say what is wrong: ${Object.entries(env).map(entry => entry.join('=') + ' ').join('')}${typed}: ${parts[0]}`, async t => {
      const instance = await make(t, 'node', env)
      instance.write(source)
      await refused(instance, typed, parts)
    })
  }

  it('should say which port is in use', async t => {
    const instance = await make(t, 'node')
    instance.write(SHAPES.app)
    const server = net.createServer().listen(instance.port)
    await once(server, 'listening')
    await refused(instance, 'app.js', [`port ${instance.port} is in use`, 'end what listens there, or set PORT'])
    server.close()
  })

  it('should say that an instance of its own has the port', async t => {
    const instance = await make(t, 'node', { INSTANCES: '1' })
    instance.write(SHAPES.app)
    await instance.start()
    await refused(instance, 'app.js', [`port ${instance.port} is in use by an instance of its own`, 'reload or stop that one'])
  })

  it('should say whose the folder of the sockets is', { skip: process.platform === 'win32' && 'pipes have no folder' }, async t => {
    const instance = await make(t, 'node')
    const uid = process.getuid()
    const folder = path.join(instance.folder, `kone-${uid}`)
    fs.mkdirSync(folder)
    fs.chmodSync(folder, 0o755)
    await refused(instance, 'status', [`one of user ${uid} with mode 755`, `${folder} must be a folder of user ${uid} with mode 700`])
  })

  it('should be in this table, or be listed here', () => {
    assert.deepEqual(unseen([...filesOf('cluster'), 'pm2.js'], printed, EXCEPTIONS), [])
  })
})
