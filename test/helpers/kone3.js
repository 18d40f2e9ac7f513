'use strict'

const fs = require('node:fs')
const { createRequire } = require('node:module')
const os = require('node:os')
const path = require('node:path')
const { DEPENDENCIES, edit } = require('../../tools/pack')

/*
 * kone@3 as an app has it: a copy of the checkout turned into that package, beside Koa 3's version of what both depend on.
 *
 *    const { Kone3, modules } = require('../helpers/kone3')
 *    fs.symlinkSync(modules, path.join(app, 'node_modules')) // where kone@3 is the package koa
 */

const ROOT = path.join(__dirname, '../..')
const PACKAGES = path.join(ROOT, 'node_modules')

const folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'kone-koa3-')))
process.once('exit', () => fs.rmSync(folder, { recursive: true, force: true }))
const modules = path.join(folder, 'node_modules')

fs.mkdirSync(modules)
for (const name of fs.readdirSync(PACKAGES)) {
  if (name !== 'koa') fs.symlinkSync(path.join(PACKAGES, name), path.join(modules, name), 'junction')
}
const requireByKoa3 = createRequire(require.resolve('koa3'))
for (const name of Object.keys(DEPENDENCIES)) {
  fs.unlinkSync(path.join(modules, name))
  fs.symlinkSync(path.dirname(requireByKoa3.resolve(`${name}/package.json`)), path.join(modules, name), 'junction')
}

const koa = path.join(modules, 'koa')
for (const entry of ['lib', 'middleware', 'package.json']) fs.cpSync(path.join(ROOT, entry), path.join(koa, entry), { recursive: true })
edit(koa)

module.exports = { Kone3: require(koa), modules }
