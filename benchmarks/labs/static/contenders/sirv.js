'use strict'

const http = require('node:http')
const sirv = require('sirv')
const serve = require('../../../lib/servers/serve')

serve(http.createServer(sirv(process.argv[2])))
