'use strict'

const fs = require('node:fs')
const { createRequire } = require('node:module')
const os = require('node:os')
const path = require('node:path')

const ROOT = path.join(__dirname, '../..')

/**
 * What `npm i koa@npm:kone` makes, in a folder that is removed when the process ends: the framework's files in
 * node_modules/koa, all other packages beside it.
 *
 *    const Koa = inKoasPlace('kone')('koa')
 *
 * @param {'koa' | 'kone'} framework
 * @param {string} [root] the checkout of kone
 * @return {Function} `require` of a file in the folder
 */
exports.inKoasPlace = function (framework, root = ROOT) {
  const folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'kone-agents-')))
  process.on('exit', () => fs.rmSync(folder, { recursive: true, force: true }))
  const modules = path.join(folder, 'node_modules')
  fs.mkdirSync(modules)
  // Root's last, so that they win: Koa's own dependencies. A linked package finds its own where it really is.
  for (const place of [path.join(__dirname, 'node_modules'), path.join(root, 'node_modules')].filter(fs.existsSync)) {
    for (const name of fs.readdirSync(place)) {
      if (name === 'koa' || name.startsWith('.')) continue
      if (name.startsWith('@')) fs.mkdirSync(path.join(modules, name), { recursive: true })
      const scoped = name.startsWith('@') ? fs.readdirSync(path.join(place, name)).map(one => path.join(name, one)) : [name]
      for (const one of scoped) link(path.join(place, one), path.join(modules, one))
    }
  }
  const koa = path.join(modules, 'koa')
  const source = framework === 'kone' ? root : path.join(root, 'node_modules/koa')
  fs.mkdirSync(koa)
  fs.copyFileSync(path.join(source, 'package.json'), path.join(koa, 'package.json'))
  fs.cpSync(path.join(source, 'lib'), path.join(koa, 'lib'), { recursive: true })
  if (framework === 'koa' && fs.existsSync(path.join(source, 'node_modules'))) {
    fs.symlinkSync(path.join(source, 'node_modules'), path.join(koa, 'node_modules'))
  }
  return createRequire(path.join(folder, 'app.js'))
}

function link (from, to) {
  fs.rmSync(to, { force: true })
  fs.symlinkSync(from, to)
}
