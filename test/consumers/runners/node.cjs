'use strict'

const { it } = require('node:test')
require('./cases')(it)
