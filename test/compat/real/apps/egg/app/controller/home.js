'use strict'

const { Readable } = require('node:stream')

const { Controller } = require('egg')

module.exports = class HomeController extends Controller {
  async index () { this.ctx.body = 'hello' }

  async greet () {
    const { ctx } = this
    ctx.body = { text: ctx.greet(ctx.params.name), loud: ctx.query.loud, ip: ctx.ip, locals: Object.keys(ctx.locals) }
  }

  async echo () { this.ctx.body = await this.ctx.service.echo.again() }

  async session () {
    const { session } = this.ctx
    session.visits = (session.visits || 0) + 1
    this.ctx.body = { visits: session.visits }
  }

  async stream () { this.ctx.body = Readable.from(['hello ', 'world']) }

  async refused () { this.ctx.throw(403, 'not you') }

  async fails () { throw new Error('broken') }

  async async () {
    const { ctx } = this
    await new Promise(setImmediate)
    ctx.body = { same: this.app.currentContext === ctx }
  }
}
