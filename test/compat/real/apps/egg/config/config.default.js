'use strict'

const path = require('node:path')

module.exports = ({ baseDir }) => ({
  keys: 'one,two',
  rundir: path.join(baseDir, 'run'),
  logger: { dir: path.join(baseDir, 'logs'), disableConsoleAfterReady: false, consoleLevel: 'NONE' },
  security: { csrf: { enable: false } },
  middleware: ['marked'],
  greet: { greeting: 'hello' }
})
