'use strict'

// The tarball of 3.0.1 is the newest with tests. Those of its speed depend on the machine.
module.exports = {
  title: 'koa-classic-server, its own tests',
  group: 'suites',
  packages: { 'koa-classic-server': '3.0.1', jest: '30.2.0', supertest: '7.2.2', ejs: '4.0.1' },
  responses: 546, // of tests: passed or failed
  suite: ['jest/bin/jest.js', '--testMatch', '**/__tests__/**/*.test.js', '--testPathIgnorePatterns', 'performance']
}
