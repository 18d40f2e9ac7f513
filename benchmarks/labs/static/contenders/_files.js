'use strict'

const fs = require('node:fs')
const path = require('node:path')

/** The files of a directory, in memory. */
module.exports = root => new Map(fs.readdirSync(root).map(name => [`/${name}`, fs.readFileSync(path.join(root, name))]))
