'use strict'

// Decorators as functions: this is what TypeScript makes of them.

const { Readable } = require('node:stream')
const {
  Body, Configuration, Controller, Get, Headers, HttpStatus, Inject, MidwayHttpError, Param, Post, Provide, Query
} = require('@midwayjs/core')
const koa = require('@midwayjs/koa')

/** `method` of `Class` with its decorators and those of its parameters: TypeScript applies them from the last. */
function method (Class, name, decorators, parameters = []) {
  const { prototype } = Class
  Reflect.defineMetadata('design:paramtypes', parameters.map(() => Object), prototype, name)
  for (const [i, decorate] of [...parameters.entries()].reverse()) decorate(prototype, name, i)
  for (const decorate of decorators.reverse()) decorate(prototype, name, Object.getOwnPropertyDescriptor(prototype, name))
}

class Users {
  find (id) { return { id, name: 'Ada' } }
}
Provide()(Users)

class Home {
  async home () { return 'Hello Midway' }

  async user (id, verbose, a) { return { ...this.users.find(id), verbose, a } }

  async create (body) {
    if (!body.name) throw new MidwayHttpError('a user has a name', HttpStatus.UNPROCESSABLE_ENTITY)
    this.ctx.status = 201
    return body
  }

  async visits () {
    this.ctx.session.visits = (this.ctx.session.visits ?? 0) + 1
    return { visits: this.ctx.session.visits }
  }

  async moved () { this.ctx.redirect('/users/7') }

  async text () {
    this.ctx.type = 'text'
    this.ctx.set('X-Text', 'yes')
    return 'text'
  }

  async stream () { return Readable.from(['one ', 'two']) }

  async fails () { throw new Error('wrong') }
}
Inject()(Home.prototype, 'ctx')
Inject('users')(Home.prototype, 'users')
method(Home, 'home', [Get('/')])
method(Home, 'user', [Get('/users/:id')], [Param('id'), Query('verbose'), Headers('x-a')])
method(Home, 'create', [Post('/users')], [Body()])
for (const name of ['visits', 'moved', 'text', 'stream', 'fails']) method(Home, name, [Get(`/${name}`)])
Controller('/')(Home)

let application

class Main {
  async onReady (container, app) {
    application = app
    app.useMiddleware(async (ctx, next) => {
      const result = await next()
      ctx.set('X-Middleware', 'yes')
      return result
    })
  }

  async onServerReady () {}
}
Configuration({
  imports: [koa],
  importConfigs: [{ default: { keys: ['secret'], koa: { port: 0, hostname: '127.0.0.1' }, midwayLogger: { default: { level: 'none' } } } }]
})(Main)

module.exports = { configuration: { Configuration: Main, Home, Users }, server: () => application.getFramework?.().getServer?.() }
