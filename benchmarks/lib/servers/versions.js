'use strict'

const fs = require('node:fs')
const path = require('node:path')
const { root } = require('./kone')

/**
 * The version of a package that is installed for the lab.
 *
 *    packageVersion('koa') // '2.16.4'
 */
exports.packageVersion = name => read(path.join(__dirname, '../../node_modules', name))

/** kone's */
exports.koneVersion = () => read(root)

function read (folder) {
  return JSON.parse(fs.readFileSync(path.join(folder, 'package.json'), 'utf8')).version.replace(/^v/, '')
}
