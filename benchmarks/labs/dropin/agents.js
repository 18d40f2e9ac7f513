'use strict'

const { fork } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const path = require('node:path')
const { certificate } = require('../../lib/servers/certificate')
const { root } = require('../../lib/servers/kone')

const TESTS = path.join(root, 'test/agents')

/*
 * Agents of vendors, as test/agents starts them, and a collector in a process of its own that drops what they send.
 */

exports.AGENTS = ['dd-trace', 'elastic-apm-node', 'newrelic']

/** how to get the agents, if they are missing */
exports.missing = () => fs.existsSync(path.join(TESTS, 'node_modules')) ? null : 'npm ci in test/agents'

/**
 * Start an agent, and then an app of a framework in koa's place.
 *
 *    await underAgent('dd-trace', '/tmp/dropin', 'kone', require => new (require('koa'))())
 *
 * @return {Promise<object>} what `make(require)` gives
 */
exports.underAgent = async function (agent, folder, framework, make) {
  const collector = fork(__filename, [agent, folder])
  const [url] = await once(collector, 'message')
  const requireApp = require(path.join(TESTS, 'place')).inKoasPlace(framework, root)
  const { ready } = require(path.join(TESTS, 'agents'))[agent].start({ require: requireApp, url, flushInterval: 2000 })
  for (const name of ['http', 'https']) require(name) // agents patch what is required from now on
  const app = make(requireApp)
  await ready
  return app
}

function collect (agent, folder) {
  const { isSecure } = require(path.join(TESTS, 'agents'))[agent]
  const { respond = () => '{}' } = require(path.join(TESTS, 'read'))[agent]
  const server = require(isSecure ? 'https' : 'http').createServer(isSecure ? certificate(folder) : {}, (req, res) => {
    res.setHeader('Content-Type', 'application/json')
    req.resume().on('end', () => res.end(respond(req)))
  })
  server.listen(0, '127.0.0.1', () => process.send(`http${isSecure ? 's' : ''}://127.0.0.1:${server.address().port}`))
  process.on('disconnect', () => process.exit())
}

if (require.main === module) collect(...process.argv.slice(2))
