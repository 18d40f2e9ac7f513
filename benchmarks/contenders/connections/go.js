'use strict'

const path = require('node:path')
const { go } = require('../../lib/program')
const files = require('../static/go')

module.exports = { ...files, build: () => go(path.join(__dirname, 'hello.go')) }
