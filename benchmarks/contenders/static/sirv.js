'use strict'

const http = require('node:http')
const sirv = require('sirv')
const serve = require('../../lib/serve')

serve(http.createServer(sirv(process.argv[2])))
