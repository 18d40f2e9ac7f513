'use strict'

const { AsyncLocalStorage } = require('node:async_hooks')
const http = require('node:http')
const path = require('node:path')
const { promisify } = require('node:util')
const kone = require('../../lib/servers/kone')
const { read, send } = require('../../lib/servers/send')
const { codecs: { json, hessian }, inProtobuf, methods, pathOf } = require('./service')

/*
 * Servers with the methods of service.js, called by HTTP with JSON. What differs is in the entry: `codec`; `open`, the
 * client of another protocol, as rpc-worker.js takes it; `values`, its methods where messages differ; `only`, what is called.
 */

const { ping, parse, noError, asyncError } = methods

// Isolation by hand: an error goes to the call in whose context it is thrown; a listener of 'uncaughtException' would be
// beside sofa-rpc-node's, which ends the process. sofa-rpc-node takes no other than an async function.
const calls = new AsyncLocalStorage()
let isWatching = false
const guarded = method => async (...args) => new Promise((resolve, reject) => {
  if (!isWatching) process.setUncaughtExceptionCaptureCallback(err => calls.getStore()(err))
  isWatching = true
  calls.run(reject, () => Promise.resolve(method(...args)).then(resolve, reject))
})
const byHand = { ping, parse, noError: guarded(noError), asyncError: guarded(asyncError) }
const byPath = new Map(Object.entries(byHand).map(([name, method]) => [pathOf(name), method]))
const byType = new Map([json, hessian].map(codec => [codec.type, codec]))

// What kone/middleware/rpc does, by hand.
async function respond (req, type) {
  const { decode, encode } = byType.get(type)
  const args = decode(await read(req))
  return encode(await byPath.get(req.url)(...args))
}

const hello = (ctx, next) => {
  if (ctx.path !== '/') return next()
  ctx.body = 'hello world'
}

function mounted (app, ...middleware) {
  app.silent = true
  for (const fn of [hello, ...middleware]) app.use(fn)
  return app
}

const koneWith = (...isolation) => ({
  package: 'kone',
  start () {
    const [rpc, codecs, isolate] = [kone('middleware/rpc'), [hessian], isolation.map(name => kone(name)())]
    return mounted(new (kone('.'))(), rpc({ ping, parse }, { codecs }), ...isolate, rpc({ noError, asyncError }, { codecs, prefix: '/guarded' }))
  }
})

const koa = {
  package: 'koa',
  start: () => mounted(new (require('koa'))(), async ctx => {
    const type = ctx.get('content-type')
    const body = await respond(ctx.req, type)
    ctx.set('Content-Type', type)
    ctx.body = body
  })
}

const node = {
  start: () => http.createServer((req, res) => {
    if (req.url === '/') return send(res, 'text/plain; charset=utf-8', 'hello world')
    const type = req.headers['content-type']
    respond(req, type).then(body => send(res, type, body), () => {
      res.statusCode = 500
      send(res, 'text/plain; charset=utf-8', 'Internal Server Error')
    })
  })
}

const interfaceName = 'com.taobao.hsfcpp.service.nodejs.benchmark'
const logger = Object.fromEntries(['info', 'warn', 'error', 'debug', 'log'].map(name => [name, () => {}]))

const sofa = protocol => ({
  package: 'sofa-rpc-node',
  start: () => async function listen (port) {
    const { RpcServer } = require('sofa-rpc-node').server
    const server = new RpcServer({ logger, port, protocol: require(protocol), version: '1.0.0', group: '' })
    server.on('error', () => {}) // of asyncError: it is the caller who gets it
    server.addService(interfaceName, { ...byHand, ping: async () => ping(), parse: async () => parse() })
    await server.start()
    return server._servers[0]
  },
  async open ({ port, method, args }) {
    const client = new (require('sofa-rpc-node').client.RpcClient)({ logger, protocol: require(protocol), responseTimeout: 10_000 })
    const consumer = client.createConsumer({ interfaceName, serverHost: `127.0.0.1:${port}`, version: '1.0.0', group: '' })
    await consumer.ready()
    return { call: () => consumer.invoke(method, args), close: () => client.close() }
  }
})

function grpcCalls () {
  const definition = require('@grpc/proto-loader').loadSync(path.join(__dirname, 'calls.proto'))
  return require('@grpc/grpc-js').loadPackageDefinition(definition).kone.Calls
}

const grpc = {
  package: '@grpc/grpc-js',
  about: 'typed protobuf messages',
  values: inProtobuf,
  start () {
    const { Server, ServerCredentials, status: { INTERNAL: code } } = require('@grpc/grpc-js')
    const server = new Server()
    const reply = method => ({ request: { a, b } }, callback) => Promise.resolve(method(a, b)).then(
      value => callback(null, typeof value === 'string' ? { value } : value), ({ message }) => callback({ code, message }))
    const all = Object.entries({ ...byHand, parse: inProtobuf.parse }).map(([name, method]) => [name, reply(method)])
    server.addService(grpcCalls().service, Object.fromEntries(all))
    return async function listen (port, host) {
      const bound = await promisify(server.bindAsync).call(server, `${host}:${port}`, ServerCredentials.createInsecure())
      return { address: () => ({ port: bound }) }
    }
  },
  async open ({ port, method, args: [a, b] }) {
    const insecure = require('@grpc/grpc-js').credentials.createInsecure()
    const client = new (grpcCalls())(`127.0.0.1:${port}`, insecure, { 'grpc.use_local_subchannel_pool': 1 })
    await promisify(client.waitForReady).call(client, Date.now() + 5000)
    const call = promisify(client[method]).bind(client, { a, b })
    return { call: () => call().then(({ value, ...message }) => value ?? message), close: () => client.close() }
  }
}

const ours = koneWith('middleware/isolate')
const inHessian = one => ({ ...one, codec: hessian, only: ['ping', 'parse'] }) // where the codec matters

module.exports = {
  kone: ours,
  'kone-hessian': inHessian(ours),
  'kone-unguarded': { ...koneWith(), only: ['noError'], about: 'the same app without the middleware that isolates errors' },
  node,
  'node-hessian': inHessian(node),
  koa,
  'koa-hessian': inHessian(koa),
  'sofa-bolt': sofa('sofa-bolt-node'),
  'sofa-dubbo': sofa('dubbo-remoting'),
  grpc
}
