'use strict'

// node kone.js WORKLOAD FOLDER
require('../serve')(() => require('../../../lib/servers/kone')('.'))
