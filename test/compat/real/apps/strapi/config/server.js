'use strict'

module.exports = {
  host: '127.0.0.1',
  port: 0,
  app: { keys: ['one', 'two'] },
  logger: { updates: { enabled: false }, startup: { enabled: false } }
}
