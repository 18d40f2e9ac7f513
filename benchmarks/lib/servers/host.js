'use strict'

/*
 * node host.js FILE [KEY] ARGS: runs a contender, in the language of Node 0.8. The file exports start(args), or a table of
 * such contenders.
 */

var serve = require('./serve')

var args = process.argv.slice(3)
var found = require(process.argv[2])
var contender = found.start ? found : found[args.shift()]
serve(contender.start(args))
