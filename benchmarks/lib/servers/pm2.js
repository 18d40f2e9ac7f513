'use strict'

const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const { root } = require('./kone')

const app = path.join(__dirname, 'pm2-app.js')
const bin = path.join(root, 'node_modules/pm2/bin/pm2')

/** why pm2 cannot be measured here */
exports.missing = function () {
  if (process.platform !== 'linux') return 'what its daemon costs is known on Linux only'
  return fs.existsSync(bin) ? null : 'npm install in the root'
}

/**
 * A contender as `pm2 start app.js -i 1` runs it: workers in cluster mode, watched by pm2's metrics. The daemon
 * stays in the foreground, so that it ends with the lab.
 */
exports.underPm2 = function ({ name, file, key, version }, { node }, { instances = 1 } = {}) {
  return {
    name,
    version,
    isSpread: instances > 1,
    program: {
      missing: exports.missing,
      command: () => [node, bin, 'start', app, '-i', String(instances), '--no-daemon'],
      env: ({ folder, port }) => ({
        CONTENDER: file,
        KEY: key,
        PM2_HOME: folder,
        PORT: String(port),
        NODE_ENV: 'production',
        NODE_OPTIONS: ''
      })
    }
  }
}

/** What a command of pm2 prints about such a server. */
exports.ask = ({ folder }, { node }, ...args) =>
  execFileSync(node, [bin, ...args], { encoding: 'utf8', env: { ...process.env, PM2_HOME: folder } }).trim()
