'use strict'

const path = require('node:path')
const { go } = require('../../../lib/servers/program')
const files = require('../../static/contenders/go')

module.exports = { ...files, build: () => go(path.join(__dirname, 'hello.go')) }
