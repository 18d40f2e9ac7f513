'use strict'

const { Service } = require('egg')

module.exports = class EchoService extends Service {
  async again () {
    await null
    return { body: this.ctx.request.body, type: this.ctx.request.type }
  }
}
