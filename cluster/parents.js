'use strict'

const { dirname } = require('node:path')

/**
 * A folder and those above it, the nearest first.
 *
 *    withParents('/srv/app')   // ['/srv/app', '/srv', '/']
 *
 * @param {string} folder
 * @return {string[]}
 */
module.exports = function withParents (folder) {
  const parent = dirname(folder)
  return parent === folder ? [folder] : [folder, ...withParents(parent)]
}
