'use strict'

const start = require('./start')

/**
 * Serve the app of the workload that the command line names, by a framework.
 *
 *    serve(() => require('koa'))
 *
 * @param {() => Function} framework its class; called when the agent of the workload, if it has one, is in place
 */
module.exports = framework => start((workload, folder) => require('./app')(workload, framework(), { folder }))
