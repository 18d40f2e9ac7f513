'use strict'

const path = require('node:path')
const serve = require('../../lib/servers/serve')

// node host.js CONTENDER WORKLOAD FOLDER
const [, , file, ...args] = process.argv
serve(require(path.resolve(file)).start(args))
