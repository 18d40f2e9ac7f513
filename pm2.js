#!/usr/bin/env node
'use strict'

/**
 * Serve an app on all cores, and replace it without losing a request.
 *
 *    node pm2.js app.js
 *    node pm2.js reload
 *    node pm2.js status
 *    node pm2.js stop
 *
 * In pm2's cluster mode if pm2 is installed, otherwise in node:cluster. docs/api/cluster.md has the
 * environment: PORT, INSTANCES, KONE_CLUSTER, DRAIN_TIMEOUT, PM2_HOME. In an installed package the
 * same is `kone start app.js` and so on.
 */

const { join } = require('node:path')
const { ask, start } = require('./cluster/command')
const line = require('./cluster/line')
const { PAGE } = require('./cluster/settings')

const USAGE = 'usage: node pm2.js [app.js] | reload | status | stop'

main(process.argv.slice(2)).catch(err => {
  console.error(`kone: ${line(err)}`)
  process.exit(1)
})

async function main ([what = join(__dirname, 'examples/app'), ...rest]) {
  if (what.startsWith('-')) throw new Error(`unknown flag ${what}: settings are environment variables, ${USAGE}${PAGE}`)
  if (rest.length > 0) throw new Error(`${rest[0]} is one argument too many: ${USAGE}${PAGE}`)
  if (['reload', 'status', 'stop'].includes(what)) {
    for (const text of await ask(what, process.env)) console.log(text)
    process.exit(0) // pm2's client keeps sockets open
  }
  const { text, isOver } = await start(what, process.env)
  console.log(text)
  if (isOver) process.exit(0)
}
