'use strict'

module.exports = class Boot {
  constructor (app) { this.app = app }

  configWillLoad () { this.app.config.coreMiddleware.unshift('counted') }

  async didLoad () { this.app.greeted = 0 }
}
