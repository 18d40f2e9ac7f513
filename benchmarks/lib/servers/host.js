'use strict'

/*
 * node host.js FILE ARGS: runs a contender, in the language of Node 0.8. The file exports start(args).
 */

var serve = require('./serve')

serve(require(process.argv[2]).start(process.argv.slice(3)))
