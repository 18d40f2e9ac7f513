'use strict'

const fs = require('node:fs')
const path = require('node:path')

/**
 * The files of a directory, in memory.
 *
 * @param {string} root
 * @return {Map<string, Buffer>} by the path of their request
 */
module.exports = root => new Map(fs.readdirSync(root).map(name => [`/${name}`, fs.readFileSync(path.join(root, name))]))
