'use strict'

const path = require('node:path')

// One of each process: kone try starts three.
const filename = path.join(__dirname, `../data-${process.pid}.db`)

module.exports = { connection: { client: 'sqlite', connection: { filename }, useNullAsDefault: true } }
