'use strict'

const http = require('node:http')

exports.package = 'sirv'

exports.descriptorsEach = 2 // one for the connection, one for the file while it is sent

exports.leaks = true // the file of a response stays open if the client goes before its end, as wrk's clients do

exports.start = ([root]) => http.createServer(require('sirv')(root))
