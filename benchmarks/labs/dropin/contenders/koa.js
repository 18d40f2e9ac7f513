'use strict'

// node koa.js WORKLOAD FOLDER
require('../serve')(() => require('koa'))
