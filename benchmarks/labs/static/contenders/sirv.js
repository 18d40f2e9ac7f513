'use strict'

const http = require('node:http')

exports.package = 'sirv'

exports.descriptorsEach = 2 // one for the connection, one for the file while it is sent

exports.start = ([root]) => http.createServer(require('sirv')(root))
