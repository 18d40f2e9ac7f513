'use strict'

// Before node:http is loaded, because an agent patches it then.
if (process.argv[2] === 'OpenTelemetry') require('./tracing')

const serve = require('../../lib/servers/serve')

/**
 * Start the server of a workload: under pm2 as an app of pm2's, otherwise as a contender of the lab. Loaded before
 * node:http.
 *
 *    start((workload, folder) => http.createServer(handlers[workload]))
 *
 * @param {(workload: string, folder: string) => { listen: Function }} create
 */
module.exports = function start (create) {
  const [, , workload, folder] = process.argv
  const app = create(workload, folder)
  if (workload === 'pm2') return app.listen(Number(process.env.PORT), '127.0.0.1')
  serve(app)
}
