'use strict'

const http = require('node:http')

exports.package = 'sirv'

exports.start = ([root]) => http.createServer(require('sirv')(root))
