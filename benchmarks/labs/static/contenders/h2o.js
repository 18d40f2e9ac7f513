'use strict'

const fs = require('node:fs')
const path = require('node:path')
const { find, missing, version } = require('../../../lib/servers/program')

exports.missing = () => missing('h2o', 'apt-get install h2o (Debian, Ubuntu), or brew install h2o')

exports.version = () => version('h2o', ['--version'])

exports.command = function ({ host, port, folder, root }) {
  const file = path.join(folder, 'h2o.yaml')
  fs.writeFileSync(file, `
listen:
  host: ${host}
  port: ${port}
num-threads: 1
max-connections: 19000
http1-request-timeout: 600
${process.getuid() === 0 ? 'user: root' : ''}
file.mime.settypes:
  "text/html; charset=utf-8": [.html]
hosts:
  default:
    paths:
      /:
        file.dir: ${root}
`)
  return [find('h2o'), '-c', file]
}
