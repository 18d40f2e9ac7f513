'use strict'

const path = require('node:path')
const { go, missing, version } = require('../../../lib/servers/program')

exports.missing = () => missing('go', 'https://go.dev/dl, or apt-get install golang-go; it is built on the spot')

exports.version = () => version('go', ['version'])

exports.build = () => go(path.join(__dirname, 'files.go'))

exports.command = ({ binary }) => [binary]

exports.env = ({ host, port, root = '' }) => ({ HOST: host, PORT: String(port), ROOT: root })
