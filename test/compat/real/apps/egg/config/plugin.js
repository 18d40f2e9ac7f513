'use strict'

const path = require('node:path')

exports.greet = { enable: true, path: path.join(__dirname, '../lib/greet') }
