'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { spawn } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const path = require('node:path')
const share = require('../helpers/share')
const { ROOT, make } = require('./instance')

const APP = `const here = require('./part')
module.exports = (req, res) => res.end(JSON.stringify({ here, cwd: process.cwd(), worker }))
const worker = Object.keys(require.cache).find(file => file.endsWith('/cluster/worker.js'))`

const PARTS = ['cluster', 'command', 'lib', 'middleware', 'package.json', 'pm2.js']

/** Releases with kone among their packages, as npm installs it, and a link to the first one. */
function release (folder) {
  for (const name of ['1', '2']) {
    const at = path.join(folder, 'releases', name)
    const kone = path.join(at, 'node_modules/kone')
    fs.mkdirSync(kone, { recursive: true })
    for (const part of PARTS) fs.cpSync(path.join(ROOT, part), path.join(kone, part), { recursive: true })
    fs.symlinkSync(path.join(ROOT, 'node_modules'), path.join(kone, 'node_modules'))
    fs.writeFileSync(path.join(at, 'app.js'), APP)
    fs.writeFileSync(path.join(at, 'part.js'), `module.exports = '${name}'`)
  }
  lead(folder, '1')
}

/** As deployments do it: rename() replaces the link at once. */
function lead (folder, name) {
  fs.symlinkSync(path.join('releases', name), path.join(folder, 'next'))
  fs.renameSync(path.join(folder, 'next'), path.join(folder, 'current'))
}

describe('a release by a symbolic link', { skip: process.platform === 'win32' && 'links need rights' }, () => {
  // in an array: the cluster, how it is started, where, as which the shell names that, and the file
  for (const [cluster, how, cwd, PWD, file] of [
    ['node', 'its folder is entered', 'current', 'current', 'app.js'],
    ['node', 'its folder is entered without a shell, and the file is given by its path', 'current', undefined, '/current/app'],
    ['pm2', 'the reload is pm2 reload', 'current', 'current', 'app.js'],
    ...share([], [
      ['node', 'it is given from another folder, by its folder', '.', '.', 'current/app.js'],
      ['pm2', 'its folder is entered', 'current', 'current', 'app.js'],
      ['pm2', 'it is given from another folder', '.', '.', '/current/app.js']
    ])
  ]) {
    it(`should be followed by a reload with ${cluster} when ${how}, also if the first one is gone`, async t => {
      const instance = await make(t, cluster, { INSTANCES: '1' })
      const folder = instance.folder = fs.realpathSync(instance.folder)
      release(folder)
      instance.cwd = path.join(folder, cwd)
      instance.env.PWD = PWD && path.join(folder, PWD)
      instance.command = path.join(folder, 'current/node_modules/kone/pm2.js')
      instance.app = file[0] === '/' ? path.join(folder, file) : file
      await instance.start()
      const found = async () => await (await fetch(instance.url)).json()
      const at = name => {
        const home = path.join(folder, 'releases', name)
        return { here: name, cwd: cwd === '.' ? folder : home, worker: path.join(home, 'node_modules/kone/cluster/worker.js') }
      }
      assert.deepEqual(await found(), at('1'))
      lead(folder, '2')
      fs.rmSync(path.join(folder, 'releases/1'), { recursive: true })
      if (how.endsWith('pm2 reload')) {
        const child = spawn(process.execPath, [require.resolve('pm2/bin/pm2'), 'reload', `kone-${instance.port}`], { env: instance.env, stdio: 'ignore' })
        assert.deepEqual(await once(child, 'exit'), [0, null])
      } else {
        assert.deepEqual(await instance.run('reload'), { code: 0, lines: [] })
      }
      assert.deepEqual(await found(), at('2'))
    })
  }
})
