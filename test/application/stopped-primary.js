'use strict'

/** A worker closes its app while its primary is stopped. Prints 'closed'. */

const cluster = require('node:cluster')
const { once } = require('node:events')
const Kone = require('../helpers/kone')

if (cluster.isPrimary) cluster.fork().on('error', () => {}) // it replies when the worker has ended
else close()

async function close () {
  const app = new Kone()
  await once(app.listen(0), 'listening')
  process.kill(process.ppid, 'SIGSTOP')
  await app.close({ timeout: 100, grace: 0 })
  process.kill(process.ppid, 'SIGCONT')
  console.log('closed')
  process.exit()
}
