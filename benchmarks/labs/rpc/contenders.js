'use strict'

const domain = require('node:domain') // eslint-disable-line n/no-deprecated-api -- the report's way
const http = require('node:http')
const path = require('node:path')
const kone = require('../../lib/servers/kone')
const { read, send } = require('../../lib/servers/send')

/*
 * Servers with the methods of the first report's service; `protocol` and `codec` are how they are called.
 */

const methods = {
  ping: () => 'echo',
  // Its complex object, made anew for every call.
  parse: () => ({
    string: 'hello world',
    number: 1024.1,
    boolean: true,
    array: ['hello', 1024.12, true, { foo: 'bar' }, [1, 2, 3]],
    obj: { string: 'hello', boolean: true, array: ['hello', 'world'], number: 1024.123, obj: { foo: 'bar' } }
  }),
  noError: () => 'ok',
  // Thrown where no promise and no caller can catch it.
  asyncError: () => new Promise(() => { process.nextTick(() => { throw new Error('async') }) })
}

let hessianjs // hessian.js, once it is loaded
const hessian = () => (hessianjs ??= require('hessian.js'))
const codecs = {
  JSON: { type: 'application/json', decode: JSON.parse, encode: JSON.stringify },
  Hessian: {
    type: 'application/x-hessian',
    decode: buffer => hessian().decode(buffer, '2.0'),
    encode: value => hessian().encode(value, '2.0')
  }
}
const byType = new Map(Object.values(codecs).map(codec => [codec.type, codec]))

// Isolation by hand, as the first report had it: a domain per call. sofa-rpc-node takes no other than an async function.
const guarded = method => async (...args) => new Promise((resolve, reject) => {
  const isolated = domain.create()
  isolated.on('error', reject)
  isolated.run(() => Promise.resolve(method(...args)).then(resolve, reject))
})
const { ping, parse, noError, asyncError } = methods
const offered = { ping, parse, noError: guarded(noError), asyncError: guarded(asyncError) }
const byPath = new Map([['/rpc/ping', ping], ['/rpc/parse', parse], ['/guarded/noError', offered.noError], ['/guarded/asyncError', offered.asyncError]])

// What kone/middleware/rpc does, by hand.
async function respond (req, type) {
  const codec = byType.get(type)
  const args = codec.decode(await read(req))
  return codec.encode(await byPath.get(req.url)(...args))
}

const hello = (ctx, next) => {
  if (ctx.path !== '/') return next()
  ctx.body = 'hello world'
}

function koneWith (isIsolated) {
  const [app, rpc, options] = [new (kone('.'))(), kone('middleware/rpc'), { codecs: [codecs.Hessian] }]
  app.silent = true
  app.use(hello).use(rpc({ ping, parse, noError }, options))
  if (isIsolated) app.use(kone('middleware/isolate')())
  return app.use(rpc({ noError, asyncError }, { ...options, prefix: '/guarded' }))
}

function koa () {
  const app = new (require('koa'))()
  app.silent = true
  return app.use(hello).use(async ctx => {
    const type = ctx.get('content-type')
    const body = await respond(ctx.req, type)
    ctx.set('Content-Type', type)
    ctx.body = body
  })
}

const node = () => http.createServer((req, res) => {
  if (req.url === '/') return send(res, 'text/plain; charset=utf-8', 'hello world')
  const type = req.headers['content-type']
  respond(req, type).then(body => send(res, type, body), () => {
    res.statusCode = 500
    send(res, 'text/plain; charset=utf-8', 'Internal Server Error')
  })
})

function grpc () {
  const grpc = require('@grpc/grpc-js')
  const reply = (method, wrap = value => ({ value })) => ({ request: { a, b } }, callback) => Promise.resolve(method(a, b))
    .then(value => callback(null, wrap(value)), ({ message }) => callback({ code: grpc.status.INTERNAL, message }))
  // Protobuf has no array of mixed values: each item names which of its fields is set.
  const item = value => Array.isArray(value)
    ? { numbers: { values: value } }
    : { [typeof value === 'object' ? 'foo' : typeof value]: value }
  const server = new grpc.Server()
  server.addService(grpcService(), {
    ...Object.fromEntries(Object.entries(offered).map(([name, method]) => [name, reply(method)])),
    parse: reply(parse, value => ({ ...value, array: value.array.map(item) }))
  })
  return (port, host) => new Promise((resolve, reject) => {
    server.bindAsync(`${host}:${port}`, grpc.ServerCredentials.createInsecure(), (err, port) => {
      if (err) reject(err)
      else resolve({ listening: true, address: () => ({ port }) })
    })
  })
}

function grpcService () {
  const definition = require('@grpc/proto-loader').loadSync(path.join(__dirname, 'calls.proto'), { oneofs: true })
  return require('@grpc/grpc-js').loadPackageDefinition(definition).kone.Calls.service
}

const silent = () => {}
const logger = { info: silent, warn: silent, error: silent, debug: silent, log: silent }
const interfaceName = 'com.taobao.hsfcpp.service.nodejs.benchmark'

const sofa = protocol => async function listen (port) {
  const server = new (require('sofa-rpc-node').server.RpcServer)({ logger, port, protocol: require(protocol), version: '1.0.0', group: '' })
  server.on('error', () => {}) // of asyncError: it is the caller who gets it
  server.addService({ interfaceName }, { ...offered, ping: async () => ping(), parse: async () => parse() })
  await server.start()
  return server._servers[0]
}

const JSON_CALLS = { protocol: 'http', codec: 'JSON' }
const HESSIAN = { protocol: 'http', codec: 'Hessian' }

module.exports = {
  kone: { ...JSON_CALLS, package: 'kone', start: () => koneWith(true) },
  'kone-hessian': { ...HESSIAN, package: 'kone', start: () => koneWith(true) },
  'kone-unguarded': {
    ...JSON_CALLS,
    package: 'kone',
    about: 'the same app without the middleware that isolates errors',
    start: () => koneWith(false)
  },
  node: { ...JSON_CALLS, start: node },
  'node-hessian': { ...HESSIAN, start: node },
  koa: { ...JSON_CALLS, package: 'koa', start: koa },
  'koa-hessian': { ...HESSIAN, package: 'koa', start: koa },
  'sofa-bolt': { protocol: 'bolt', package: 'sofa-rpc-node', start: () => sofa('sofa-bolt-node') },
  'sofa-dubbo': { protocol: 'dubbo', package: 'sofa-rpc-node', start: () => sofa('dubbo-remoting') },
  grpc: { protocol: 'grpc', package: '@grpc/grpc-js', about: 'typed protobuf messages', start: grpc }
}

/** What both ends of a call agree on. */
Object.defineProperty(module.exports, 'agreed', { value: { codecs, grpcService, interfaceName, logger, methods } })
