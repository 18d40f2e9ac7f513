import Application = require('./bluebird.js')

export = Application
