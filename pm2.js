#!/usr/bin/env node
'use strict'

/**
 * The command `kone` in a checkout: serves an app on all cores, in pm2's cluster mode if pm2 is installed,
 * otherwise in node:cluster.
 *
 *    node pm2.js           // npm start: the demo, examples/app
 *    node pm2.js app.js    // kone start app.js; flags as there
 *    node pm2.js reload    // and status, stop
 */

const { join } = require('node:path')

const [first] = process.argv.slice(2)
if (first === undefined) process.argv.push(join(__dirname, 'examples/app'))
if (!['start', 'reload', 'status', 'stop'].includes(first)) process.argv.splice(2, 0, 'start')

require('./command')
