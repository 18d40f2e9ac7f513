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
 * environment: PORT, INSTANCES, KONE_CLUSTER, DRAIN_TIMEOUT, PM2_HOME.
 */

const { join, resolve } = require('node:path')
const line = require('./cluster/line')
const { read } = require('./cluster/settings')

const backends = {
  get pm2 () { return require('./cluster/pm2') },
  get node () { return require('./cluster/node') }
}

const USAGE = 'usage: node pm2.js [app.js] | reload | status | stop'

main(process.argv.slice(2)).catch(err => {
  console.error(`kone: ${line(err)}`)
  process.exit(1)
})

async function main ([what = join(__dirname, 'examples/app'), ...rest]) {
  if (rest.length > 0 || what.startsWith('-')) throw new Error(USAGE)
  const settings = read(process.env)

  switch (what) {
    case 'reload':
      await ask('reload', settings)
      return leave()
    case 'stop':
      await ask('stop', settings)
      return leave()
    case 'status':
      for (const { pid, state } of await ask('status', settings)) console.log(`pid ${pid}  ${state}`)
      return leave()
    default:
      return start(resolve(what), settings)
  }
}

async function start (app, settings) {
  const cluster = settings.cluster || (backends.pm2.isThere() ? 'pm2' : 'node')
  const by = await backends[cluster].start(settings, app)
  console.log(`http://localhost:${settings.port} in ${settings.instances} workers (${by})`)
  if (cluster === 'pm2') leave()
}

/** Whichever serves the port, unless KONE_CLUSTER says which one. */
async function ask (command, settings) {
  const { cluster, port } = settings
  const asked = cluster ? [cluster] : backends.pm2.isThere() ? ['node', 'pm2'] : ['node']
  for (const name of asked) {
    const answer = await backends[name].ask(command, settings)
    if (answer) return answer.result
  }
  throw new Error(`nothing was started on port ${port}`)
}

/** pm2's client keeps sockets open. */
function leave () {
  process.exit(0)
}
