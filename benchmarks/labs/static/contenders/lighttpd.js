'use strict'

const fs = require('node:fs')
const path = require('node:path')
const { find, missing, version } = require('../../../lib/servers/program')

exports.missing = () => missing('lighttpd', 'apt-get install lighttpd, or brew install lighttpd')

exports.version = () => version('lighttpd', ['-v'])

exports.descriptorsEach = 2 // it accepts half of max-fds, whatever max-connections says

exports.command = function ({ host, port, folder, root, workers = 1 }) {
  const file = path.join(folder, 'lighttpd.conf')
  fs.writeFileSync(file, `
server.document-root = "${root}"
server.bind = "${host}"
server.port = ${port}
server.listen-backlog = 4096
server.max-fds = 20000
server.max-connections = 19000
server.max-worker = ${workers > 1 ? workers : 0}
server.max-keep-alive-requests = 65535
server.max-keep-alive-idle = 600
server.max-read-idle = 600
mimetype.assign = ( ".html" => "text/html; charset=utf-8" )
`)
  return [find('lighttpd'), '-D', '-f', file]
}
