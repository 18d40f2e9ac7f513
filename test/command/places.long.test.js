'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { spawn } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const path = require('node:path')
const { onFreePort } = require('../helpers/ports')
const { long } = require('../helpers/share')
const { KONE, ROOT, project, scratch } = require('./project')

// Kind of error × kind of module: one line, which ends with the place of the error. The commands, which read it in one place,
// take turns: each meets each kind of error.

/** Where the error is in a source; it is removed. */
const HERE = '/*here*/'

/** What an error's message begins with, and the module that has it: by its extension, or one text for all. */
const ERRORS = [
  [/Unexpected end of input|Expected/, `\nconst a = {${HERE}`],
  [/Invalid or unexpected token|Expected|Expression expected|Syntax error/, `\nlet a = ${HERE}@`],
  [/bodyParser is not defined/, `\n  ${HERE}bodyParser()`],
  [/app\.get is not a function: routes belong to a router, router\.get/, {
    cjs: `const app = new (require('kone'))()\n${HERE}app.get('/', () => {})`,
    mjs: `import { Kone } from 'kone'\nconst app = new Kone()\n${HERE}app.get('/', () => {})`
  }],
  [/no bread/, `\nthrow ${HERE}new Error('no\\nbread')`],
  [/Cannot find module/, { cjs: `\n${HERE}require('./nope')`, mjs: `\nimport ${HERE}'./nope.mjs'`, ts: `\nimport ${HERE}'./nope.ts'` }],
  [/Cannot find (module|package)/, { cjs: `\n${HERE}require('nope')`, mjs: `\nimport a from ${HERE}'nope'`, ts: `\nimport a from ${HERE}'nope'\na()` }],
  [/The requested module .* does not provide an export/, { mjs: `\nimport { ${HERE}nope } from './fine.mjs'`, ts: `\nimport { ${HERE}nope } from './fine.mjs'\nnope()` }],
  [/Expected double-quoted property name in JSON/, { json: `{\n"a": 1,${HERE}}` }],
  [/options\.kyes is unknown/, {
    cjs: `const Kone = require('kone')\n${HERE}new Kone({ kyes: 1 })`,
    mjs: `import Kone from 'kone'\n${HERE}new Kone({ kyes: 1 })`,
    ts: `import Kone from 'kone'\n${HERE}new Kone({ kyes: 1 })`
  }]
]

const APP = { cjs: name => `require('./${name}')`, mjs: name => `import './${name}'`, ts: name => `import './${name}'` }
const JSON_APP = { cjs: APP.cjs, mjs: name => `import './${name}' with { type: 'json' }`, ts: name => `import './${name}' with { type: 'json' }` }

describe('the place of an error', () => {
  const { folder, write } = project(scratch())
  fs.symlinkSync(path.join(ROOT, 'node_modules/esbuild'), path.join(folder, 'node_modules/esbuild'), 'junction')
  write('fine.mjs', '')

  for (const [i, [message, sources]] of ERRORS.entries()) {
    for (const [k, kind] of Object.keys(APP).entries()) {
      const source = typeof sources === 'string' ? sources : sources[kind] ?? sources.json
      if (source === undefined) continue
      const isJson = sources.json !== undefined
      const name = `faulty-${i}-${kind}.${isJson ? 'json' : kind}`
      write(name, source.replace(HERE, ''))
      write(`app-${i}.${kind}`, (isJson ? JSON_APP : APP)[kind](name))
      const before = source.slice(0, source.indexOf(HERE)).split('\n')

      it(`should be printed for ${message.source} in ${kind}`, async t => {
        const commands = kind === 'ts' && !process.features.typescript ? ['routes', 'dev'] : ['routes', 'dev', 'start']
        await Promise.all(long([commands[(i + k) % commands.length]], commands).map(async command => {
          const line = await lineOf(t, folder, command, `app-${i}.${kind}`)
          const [, text, file, row, column] = /^kone: (.*) \((\S+):(\d+):(\d+)\)$/.exec(line) ?? assert.fail(line)
          assert.match(text, message)
          assert.deepEqual([file, Number(row)], [name, before.length], line)
          assert(Number(column) >= 1, line)
        }))
      })
    }
  }
})

/** What a command prints as the error of an app, which is one line. */
async function lineOf (t, cwd, command, file) {
  return onFreePort(async port => {
    const env = { ...process.env, NODE_TEST_CONTEXT: undefined, NODE_ENV: undefined, KONE_CLUSTER: 'node', PORT: String(port) }
    const child = spawn(process.execPath, [KONE, command, file], { cwd, env, stdio: ['ignore', 'ignore', 'pipe'] })
    t.after(() => child.kill())
    let printed = ''
    for await (const text of child.stderr.setEncoding('utf8')) {
      printed += text
      if (command === 'dev' && /^kone: .*\n/m.test(printed)) child.kill() // it waits for a change
    }
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    const lines = printed.split('\n').filter(line => line !== '' && !/Warning|--trace-warnings|^Failed running/.test(line))
    assert.equal(lines.length, 1, printed)
    return lines[0]
  })
}
