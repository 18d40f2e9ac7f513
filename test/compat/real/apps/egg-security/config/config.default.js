'use strict'

const path = require('node:path')

module.exports = ({ baseDir }) => ({
  keys: 'one,two',
  rundir: path.join(baseDir, 'run'),
  logger: { dir: path.join(baseDir, 'logs'), disableConsoleAfterReady: false, consoleLevel: 'NONE' },
  security: {
    domainWhiteList: ['.example.com'],
    csrf: { refererWhiteList: ['.example.com'] },
    hsts: { enable: true, includeSubdomains: true },
    referrerPolicy: { enable: true },
    csp: { enable: true, policy: { 'script-src': ["'self'", 'example.com'], 'report-uri': '/report' } }
  }
})
