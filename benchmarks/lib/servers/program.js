'use strict'

const { execFile, execFileSync } = require('node:child_process')
const crypto = require('node:crypto')
const { once } = require('node:events')
const fs = require('node:fs')
const net = require('node:net')
const os = require('node:os')
const path = require('node:path')
const { setTimeout: sleep } = require('node:timers/promises')
const { promisify } = require('node:util')
const cpu = require('../../../command/measure/cpu')
const { OptionError } = require('../run/options')
const { CACHE } = require('./binaries')
const Server = require('./server')

const HOST = '127.0.0.1'
const START = 30_000 // ms a program may take to listen
const TRIES = 3 // ports: another process may take one between its choice and the start

// Ends the program when its own stdin ends, and that is when the lab does, however it ended. It waits for whom it
// started, for where nobody is process 1 the dead would stay in the list of processes.
const KEEPER = `
exec 3<&0
"$@" 3<&- & program=$!
{ read never <&3; kill $program; } & reader=$!
wait $program
kill -9 $reader
wait $reader
kill -9 0`

/**
 * A contender that is no Node program: nginx, say. It has its process group, on a free port.
 *
 *    const nginx = {
 *      missing: () => find('nginx') ? null : 'apt-get install nginx',
 *      command: ({ host, port, folder, root }) => [find('nginx'), '-c', write(folder, root)],
 *      env: ({ port }) => ({ PORT: port }), // if it needs any
 *      build: () => go(source) // if it must be built; command is told its `binary`
 *    }
 *    await Program.start({ name: 'nginx', program: nginx, given: { root } }, { pin })
 */
const Program = module.exports = class extends Server {
  async open () {
    const { program, given } = this.contender
    const built = program.build ? { binary: await program.build() } : {}
    for (let tries = 1; ; tries++) {
      try {
        const port = await (program.port ?? freePort)()
        return await this.#openAt({ host: HOST, ...given, ...built, port })
      } catch (err) {
        if (tries === TRIES || !/address (is )?already in use|EADDRINUSE/i.test(err.message)) throw err
      }
    }
  }

  async #openAt (given) {
    const { program } = this.contender
    const { port } = given
    // What listens there would be measured in place of the program.
    if (await connects(port)) throw new Error(`port ${port} is taken: address already in use`)
    this.port = port
    this.folder = fs.mkdtempSync(path.join(os.tmpdir(), 'kone-bench-'))
    const where = { ...given, folder: this.folder }
    this.spawn(['/bin/sh', '-c', KEEPER, 'keeper', ...program.command(where)], {
      cwd: this.folder,
      detached: true, // a group of its own
      env: { ...process.env, ...program.env?.(where) },
      stdio: ['pipe', 'ignore', 'pipe']
    })
    this.process.stdin.on('error', () => {})

    let isEnded = false
    this.ended.then(() => { isEnded = true })
    try {
      for (const until = Date.now() + START; !await connects(port); await sleep(20)) {
        if (isEnded) throw new Error(this.reason || `${this.name} ended before it listened`)
        if (Date.now() > until) throw new Error(`${this.name} did not listen in ${START} ms`)
      }
    } catch (err) {
      await this.stop()
      throw err
    }
  }

  async resident () {
    return cpu.resident(this.pid)
  }

  async stop () {
    this.process.stdin.end()
    await super.stop()
    fs.rmSync(this.folder, { recursive: true, force: true })
  }

  kill () {
    try {
      process.kill(-this.pid, 'SIGKILL')
    } catch {} // it has ended
    fs.rmSync(this.folder, { recursive: true, force: true })
  }
}

/** A program's file, also from where an ordinary user's PATH does not lead. */
Program.find = function (name) {
  const folders = [...(process.env.PATH ?? '').split(path.delimiter), '/usr/local/sbin', '/usr/sbin', '/usr/local/go/bin']
  return folders.map(folder => path.join(folder, name)).find(file => {
    try {
      fs.accessSync(file, fs.constants.X_OK)
      return fs.statSync(file).isFile()
    } catch {
      return false
    }
  })
}

/** Why a program cannot be measured here. */
Program.missing = function (name, how) {
  if (process.platform !== 'linux') return 'what a program costs that is no Node program is known on Linux only'
  return Program.find(name) ? null : how
}

/** The version that a program prints. */
Program.version = function (name, args) {
  try {
    const said = execFileSync('/bin/sh', ['-c', 'exec "$0" "$@" 2>&1', Program.find(name), ...args], { encoding: 'utf8' })
    return /\d+\.\d+(?:\.\d+)?/.exec(said)[0]
  } catch {
    return 'unknown'
  }
}

/**
 * A Go program, built on the spot and kept in the cache folder. The first build takes a minute on a busy machine,
 * and must not keep the lab from hearing the servers that start meanwhile.
 */
Program.go = async function (source) {
  const version = Program.version('go', ['version'])
  const hash = crypto.createHash('sha256').update(version).update(fs.readFileSync(source)).digest('hex').slice(0, 12)
  const binary = path.join(CACHE, `go-${path.basename(source, '.go')}-${hash}`)
  if (!fs.existsSync(binary)) {
    fs.mkdirSync(CACHE, { recursive: true })
    const fresh = `${binary}.${process.pid}`
    const env = { ...process.env, GOCACHE: path.join(CACHE, 'go-build'), CGO_ENABLED: '0', GOTOOLCHAIN: 'local' }
    await promisify(execFile)(Program.find('go'), ['build', '-o', fresh, source], { env })
    fs.renameSync(fresh, binary)
  }
  return binary
}

/**
 * Other servers, named on the command line: `EXTRA="name=command"`, several on lines of their own. The command
 * goes to the shell, with PORT, HOST and what else the lab gives in its environment.
 *
 *    Program.extra('hphs=./hphs $PORT 1 $ROOT')
 */
Program.extra = function (text = '') {
  return text.split('\n').map(line => line.trim()).filter(Boolean).map(line => {
    const [, name, command] = /^([\w.-]+)\s*=\s*(\S.*)$/.exec(line) ?? []
    if (!name) throw new OptionError(`EXTRA must be name=command, not ${line}`)
    const program = {
      missing: () => null,
      command: () => ['/bin/sh', '-c', `cd "$FROM" && exec ${command}`],
      env: where => ({
        FROM: process.env.INIT_CWD || process.cwd(),
        ...Object.fromEntries(Object.entries(where).map(([key, value]) => [key.toUpperCase(), String(value)]))
      })
    }
    return { name, program, version: () => 'given by EXTRA', extra: true }
  })
}

async function freePort () {
  const server = net.createServer().listen(0, HOST)
  await once(server, 'listening')
  const { port } = server.address()
  await new Promise(resolve => server.close(resolve))
  return port
}

function connects (port) {
  const socket = net.connect(port, HOST)
  return once(socket, 'connect').then(() => true, () => false).finally(() => socket.destroy())
}
