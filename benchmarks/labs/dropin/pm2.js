'use strict'

const fs = require('node:fs')
const path = require('node:path')
const { root } = require('../../lib/servers/kone')

const app = path.join(__dirname, 'pm2-app.js')
const bin = path.join(root, 'node_modules/pm2/bin/pm2')

/** how to get pm2, if it is missing */
exports.missing = () => fs.existsSync(bin) ? null : 'npm install in the root'

/**
 * A contender as `pm2 start app.js -i 1` runs it: one worker in cluster mode, watched by pm2's metrics. The daemon
 * stays in the foreground, so that it ends with the lab.
 */
exports.underPm2 = function ({ name, file, key, version }, { node }) {
  return {
    name,
    version,
    program: {
      missing: () => null,
      command: () => [node, bin, 'start', app, '-i', '1', '--no-daemon'],
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
