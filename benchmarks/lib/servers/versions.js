'use strict'

const fs = require('node:fs')
const path = require('node:path')
const { root } = require('./kone')

/**
 * The version of an installed contender.
 *
 *    version('koa')() // '2.16.4'
 *
 * @param {string} name
 * @return {() => string}
 */
exports.version = name => () => read(path.join(__dirname, '../../node_modules', name))

/**
 * @return {string} kone's
 */
exports.koneVersion = () => read(root)

function read (folder) {
  return JSON.parse(fs.readFileSync(path.join(folder, 'package.json'), 'utf8')).version.replace(/^v/, '')
}
