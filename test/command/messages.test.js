'use strict'

const assert = require('node:assert/strict')
const { spawn, spawnSync } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const net = require('node:net')
const os = require('node:os')
const path = require('node:path')
const { after, before, describe, it } = require('node:test')
const { filesOf, unseen } = require('../helpers/messages')
const until = require('../helpers/until')

/*
 * What a user reads when a command line or a file is wrong: what was given, what is expected and where to read on. Real
 * processes print it.
 */

const ROOT = path.join(__dirname, '../..')
const KONE = path.join(ROOT, require('kone/package.json').bin.kone)
const EXCEPTIONS = {
  'which Node ': 'only on a Node that runs no TypeScript; test/command/command.test.js has it'
}

// [what is typed, what was given, what is expected]; where to read on is in all of them
const MISTAKES = [
  ['strat app.js', 'unknown command strat', 'did you mean start?'],
  ['xyzzy', 'unknown command xyzzy', 'expected dev, routes, start, reload, status, stop'],
  ['--verson', 'unknown flag --verson', 'did you mean --version?'],
  ['-x', 'unknown flag -x', 'expected --help, --version'],
  ['start --prot 1 app.js', 'unknown flag --prot', 'did you mean --port?'],
  ['routes --xyzzy app.js', 'unknown flag --xyzzy', 'expected --json, --help'],
  ['status --port', '--port', 'needs a value: <number>'],
  ['start app.js --cluster=', '--cluster', 'needs a value: <pm2|node>'],
  ['routes --json=1 app.js', 'not 1', '--json takes no value'],
  ['start', 'no file was given', 'kone start <file> [flags]'],
  ['dev', 'no file was given', 'kone dev <file> [flags]'],
  ['stop app.js', 'app.js is one argument too many', 'kone stop [flags]'],
  ['routes app.js b.js', 'b.js is one argument too many', 'kone routes <file> [flags]'],
  ['start nope.js', 'there is no file nope.js', 'name the one that makes the app'],
  ['dev nope.js', 'there is no file nope.js', 'name the one that makes the app'],
  ['routes nope.js', 'there is no file nope.js', 'name the one that makes the app'],
  ['routes empty.js', 'empty.js makes no Kone app', 'expected one new Kone()'],
  ['start app.js --port many', 'not many', 'PORT must be a whole number from 1 to 65535'],
  ['start app.js --instances 0', 'not 0', 'INSTANCES must be a whole number from 1 to 1024'],
  ['start app.js --drain-timeout 1s', 'not 1s', 'DRAIN_TIMEOUT must be a whole number from 0'],
  ['start app.js --cluster pm3', 'not pm3', 'KONE_CLUSTER must be pm2 or node']
]

let folder
let printed = ''

before(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'kone-messages-'))
  fs.mkdirSync(path.join(folder, 'node_modules'))
  fs.symlinkSync(ROOT, path.join(folder, 'node_modules/kone'), 'junction')
  const app = "const Kone = require('kone')\nmodule.exports = new Kone({ odd: 1 })\n"
  for (const [name, text] of Object.entries({ 'app.js': app, 'empty.js': '' })) fs.writeFileSync(path.join(folder, name), text)
})

after(() => fs.rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))

const env = { ...process.env, NODE_TEST_CONTEXT: undefined, NODE_ENV: undefined, KONE_CLUSTER: 'node' }

function hasPlace (text) {
  assert.match(text, /\((?:see kone(?: \w+)? --help|kone\/docs\/[\w/]+\.md)\)$/m)
  const [, page] = /\(kone\/(docs\/[\w/]+\.md)\)/.exec(text) ?? []
  if (page) assert(fs.existsSync(path.join(ROOT, page)), page)
}

describe('an error of the command', () => {
  for (const [typed, ...parts] of MISTAKES) {
    it(`should say what is wrong: kone ${typed}`, () => {
      const { status, stdout, stderr } = spawnSync(process.execPath, [KONE, ...typed.split(' ')], { cwd: folder, env, encoding: 'utf8' })
      printed += stderr
      assert.deepEqual([status, stdout], [1, ''])
      assert.match(stderr, /^kone: [^\n]+\n$/)
      for (const part of parts) assert(stderr.includes(part), `no ${part} in: ${stderr}`)
      hasPlace(stderr)
    })
  }

  // it stays, and waits for a change of the file
  for (const [title, typed, ...parts] of [
    ['an address of another machine', 'app.js --host 192.0.2.1', 'cannot listen', '--host must be an address of this machine'],
    ['a port that is in use', 'app.js', 'is in use: end what listens there, or set PORT'],
    ['an option of no app', 'app.js', 'new Kone({ odd }): there is no such option, expected proxy, env, '],
    ['a file without an app', 'empty.js', 'empty.js exports neither an app nor a function nor a server', 'export the app']
  ]) {
    it(`should say what is wrong: kone dev with ${title}`, async t => {
      const server = net.createServer().listen(0)
      await once(server, 'listening')
      t.after(() => server.close())
      const child = spawn(process.execPath, [KONE, 'dev', ...typed.split(' '), '--port', String(server.address().port)], { cwd: folder, env })
      t.after(async () => {
        child.kill()
        await once(child, 'exit')
      })
      let text = ''
      child.stderr.setEncoding('utf8').on('data', chunk => { text += chunk })
      const line = await until(() => text.split('\n').find(line => parts.every(part => line.includes(part))))
      printed += text
      hasPlace(line)
    })
  }

  it('should be in this table, or be listed here', () => {
    assert.deepEqual(unseen(filesOf('command'), printed, EXCEPTIONS, ['unknown']), [])
  })
})
