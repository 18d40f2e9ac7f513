'use strict'

const assert = require('node:assert/strict')
const { spawn } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { freePort, isTaken, onFreePort } = require('../helpers/ports')
const until = require('../helpers/until')

const ROOT = path.join(__dirname, '../..')
const PM2 = path.join(ROOT, 'pm2.js')
const APP = path.join(__dirname, 'fixtures/app.js')

/** The four things that a file can be. */
const SHAPES = {
  app: `module.exports = require('${APP}')`,
  function: `module.exports = require('${APP}').callback()`,
  server: `module.exports = require('node:http').createServer(require('${APP}').callback())`,
  listens: `require('${APP}').listen(process.env.PORT)`
}

/** Exports the app, and listens itself once somebody does: no worker lives long. */
const BOTH = `module.exports = require('${APP}');
  (function wait () {
    require('node:net').connect(process.env.PORT).on('error', () => setTimeout(wait, 20)).on('connect', function () {
      this.destroy()
      module.exports.listen(process.env.PORT)
    })
  })()`

/**
 * A folder with an app to be served, a port and, for pm2, a home of its own.
 *
 *    const instance = await make(t, 'node')
 *    instance.write(SHAPES.app)
 *    await instance.start()
 *    const { code, lines } = await instance.run('status')
 *
 * What is still there at the end of the test is taken away.
 */
async function make (t, cluster, env) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'kone-'))
  const instance = new Instance(folder, await freePort(), cluster, env)
  t.after(() => instance.clear())
  return instance
}

class Instance {
  constructor (folder, port, cluster, env) {
    this.folder = this.cwd = folder
    this.cluster = cluster
    this.app = path.join(folder, 'app.js')
    this.master = null
    this.command = PM2
    this.env = {
      ...process.env,
      NODE_TEST_CONTEXT: undefined,
      KONE_CLUSTER: cluster,
      INSTANCES: '2',
      KONE_MIN_LIFE: '0',
      PM2_HOME: folder,
      TMPDIR: folder, // the master's socket, which a killed one leaves
      ...env
    }
    this.move(env?.PORT ?? port)
  }

  move (port) {
    this.port = Number(port)
    this.url = `http://127.0.0.1:${port}`
    this.env.PORT = String(port)
  }

  write (source, version = 1) {
    fs.writeFileSync(this.app, `'use strict'\nprocess.env.VERSION = '${version}'\n${source}\n`)
  }

  /** Serve the app, on another port when ours was taken meanwhile; node:cluster's master stays as `master`. */
  async start () {
    try {
      await this.startHere()
    } catch (err) {
      if (!isTaken(err)) throw err
      await onFreePort(port => {
        this.move(port)
        return this.startHere()
      })
    }
  }

  async startHere () {
    const child = this.spawn([this.app])
    if (this.cluster === 'pm2') {
      const { code, lines } = await ended(child)
      assert.equal(code, 0, lines.join('\n'))
      return
    }
    this.master = child
    child.ended = ended(child)
    const line = await Promise.race([once(child.stdout, 'data'), child.ended])
    assert.match(String(line), /^http(?::| on )/, JSON.stringify(line))
  }

  /** A command, or an app that will not start: what it printed, line by line, and its exit code. */
  run (...args) {
    return ended(this.spawn(args))
  }

  spawn (args) {
    return spawn(process.execPath, [this.command, ...args], {
      env: this.env,
      cwd: this.cwd,
      stdio: ['ignore', 'pipe', 'pipe', 'ipc']
    })
  }

  /** The pids that `status` prints. */
  async workers () {
    const { code, lines } = await this.run('status')
    assert.equal(code, 0, lines.join('\n'))
    return lines.filter(line => line !== 'pid -  waiting').map(line => Number(/^pid (\d+) /.exec(line)[1]))
  }

  /** Processes that have this instance in their environment, the daemon of pm2 excepted. */
  left () {
    return fs.readdirSync('/proc').filter(pid => /^\d+$/.test(pid) && this.owns(pid)).map(Number)
  }

  owns (pid) {
    try {
      const environ = fs.readFileSync(`/proc/${pid}/environ`, 'latin1')
      const name = fs.readFileSync(`/proc/${pid}/cmdline`, 'latin1')
      return environ.includes(`\0PORT=${this.port}\0`) && !name.startsWith('PM2') && !name.includes('Daemon.js')
    } catch {
      return false
    }
  }

  async clear () {
    if (this.master !== null && isAlive(this.master.pid)) {
      this.master.kill('SIGKILL') // its workers go with it
      await this.master.ended
    }
    if (this.cluster === 'pm2') {
      await ended(spawn(process.execPath, [require.resolve('pm2/bin/pm2'), 'kill'], { env: this.env }))
    }
    fs.rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

function ended (child) {
  return new Promise((resolve, reject) => {
    let printed = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', text => { printed += text })
    }
    child.once('error', reject)
    child.once('close', (code, signal) => {
      resolve({ code: code ?? signal, lines: printed.split('\n').filter(Boolean) })
    })
  })
}

function isAlive (pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

module.exports = { BOTH, PM2, ROOT, SHAPES, make, isAlive, until: isTrue => until(isTrue, 60000) }
