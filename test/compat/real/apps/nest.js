'use strict'

// Nest on Koa: a controller, a provider, a pipe, middleware of Koa. Decorators as functions, in TypeScript's order.

module.exports = {
  title: 'Nest 10 by nest-koa-adapter, a controller and a provider',
  isFramework: true,
  packages: {
    'nest-koa-adapter': '4.0.1', '@nestjs/common': '10.4.20', '@nestjs/core': '10.4.20', 'reflect-metadata': '0.2.2', rxjs: '7.8.2'
  },
  responses: 11,

  async serve () {
    require('reflect-metadata')
    const { NestFactory } = require('@nestjs/core')
    const Koa = require('koa')
    const { KoaAdapter } = require('nest-koa-adapter')
    const {
      Body, Controller, Delete, Get, Headers, HttpCode, Injectable, Module, NotFoundException, Param, ParseIntPipe, Post, Query,
      Redirect
    } = require('@nestjs/common')

    class Users {
      find (id) {
        if (id !== 7) throw new NotFoundException(`no user ${id}`)
        return { id, name: 'Ada' }
      }
    }
    Injectable()(Users)

    class Home {
      constructor (users) { this.users = users }
      home () { return 'Hello Nest' }
      user (id, verbose, a) { return { ...this.users.find(id), verbose, a } }
      create (body) { return body }
      remove () {}
      moved () {}
      async fails () { throw new Error('wrong') }
    }
    const method = (name, decorators, parameters = []) => {
      const { prototype } = Home
      Reflect.defineMetadata('design:paramtypes', parameters.map(() => Object), prototype, name)
      for (const [i, decorate] of [...parameters.entries()].reverse()) decorate(prototype, name, i)
      for (const decorate of decorators.reverse()) decorate(prototype, name, Object.getOwnPropertyDescriptor(prototype, name))
    }
    method('home', [Get()])
    method('user', [Get('users/:id')], [Param('id', ParseIntPipe), Query('verbose'), Headers('x-a')])
    method('create', [Post('users')], [Body()])
    method('remove', [Delete('users/:id'), HttpCode(204)])
    method('moved', [Get('moved'), Redirect('/users/7', 301)])
    method('fails', [Get('fails')])
    Reflect.defineMetadata('design:paramtypes', [Users], Home)
    Controller()(Home)

    class App {}
    Module({ controllers: [Home], providers: [Users] })(App)

    const koa = new Koa()
    koa.silent = true
    const app = await NestFactory.create(App, new KoaAdapter(koa), { logger: false })
    await app.init()
    return koa.listen(0) // as the adapter's listen() does, but that gives no server: its promise is never resolved
  },

  async ask (client) {
    await client.ask('GET /')
    await client.ask('GET /users/7?verbose=1', { headers: { 'x-a': 'b' } })
    await client.ask('HEAD /users/7')
    await client.ask('GET /users/8')
    await client.ask('GET /users/x')
    await client.ask('POST /users', { json: { name: 'Ada ☃' } })
    await client.ask('POST /users', { form: { name: 'Edsger & co' } })
    await client.ask('DELETE /users/7')
    await client.ask('GET /moved')
    await client.ask('GET /fails')
    await client.ask('GET /nothing')
  },

  load: { line: 'GET /users/7' }
}
