'use strict'

const domain = require('node:domain') // eslint-disable-line n/no-deprecated-api -- the report's way
const http = require('node:http')
const path = require('node:path')
const kone = require('../../lib/servers/kone')
const { read } = require('../../lib/servers/send')

/*
 * The servers of the lab, each with the methods of the first report's service: node servers.js NAME. Packages are loaded
 * when a server starts, because the lab requires this file, too.
 */

const methods = exports.methods = {
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
  asyncError: () => new Promise(() => {
    process.nextTick(() => { throw new Error('async') })
  })
}

let hessianjs // hessian.js, once it is loaded
const hessian = () => (hessianjs ??= require('hessian.js'))

const codecs = exports.codecs = {
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

const servers = {
  kone: () => koneWith(true),

  'kone-unguarded': () => koneWith(false),

  koa () {
    const app = new (require('koa'))()
    app.silent = true
    return app.use(hello).use(async ctx => {
      const type = ctx.get('content-type')
      const body = await respond(ctx.req, type)
      ctx.set('Content-Type', type)
      ctx.body = body
    })
  },

  node () {
    const send = (res, status, type, body) => {
      res.statusCode = status
      res.setHeader('Content-Type', type)
      res.setHeader('Content-Length', Buffer.byteLength(body))
      res.end(body)
    }
    return http.createServer((req, res) => {
      if (req.url === '/') return send(res, 200, 'text/plain; charset=utf-8', 'hello world')
      const type = req.headers['content-type']
      respond(req, type).then(body => send(res, 200, type, body), () => send(res, 500, 'text/plain; charset=utf-8', 'Internal Server Error'))
    })
  },

  'sofa-bolt': () => sofa('sofa-bolt-node'),

  'sofa-dubbo': () => sofa('dubbo-remoting'),

  grpc () {
    const grpc = require('@grpc/grpc-js')
    const reply = (method, wrap = value => ({ value })) => async ({ request }, callback) => {
      try {
        callback(null, wrap(await method(request.a, request.b)))
      } catch (err) {
        callback({ code: grpc.status.INTERNAL, message: err.message })
      }
    }
    // Protobuf has no array of mixed values: each item names which of its fields is set.
    const item = value => {
      if (typeof value === 'string') return { string: value }
      if (typeof value === 'number') return { number: value }
      if (typeof value === 'boolean') return { boolean: value }
      return Array.isArray(value) ? { numbers: { values: value } } : { foo: value }
    }
    const server = new grpc.Server()
    server.addService(exports.grpcService(), {
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
}

exports.start = ([name]) => servers[name.replace('-hessian', '')]()

exports.grpcService = function () {
  const definition = require('@grpc/proto-loader').loadSync(path.join(__dirname, 'calls.proto'), { oneofs: true })
  return require('@grpc/grpc-js').loadPackageDefinition(definition).kone.Calls.service
}

const silent = () => {}

/** What both ends of sofa-rpc-node agree on. */
exports.SOFA = {
  interfaceName: 'com.taobao.hsfcpp.service.nodejs.benchmark',
  logger: { info: silent, warn: silent, error: silent, debug: silent, log: silent }
}

const sofa = protocol => async function listen (port) {
  const { interfaceName, logger } = exports.SOFA
  const server = new (require('sofa-rpc-node').server.RpcServer)({ logger, port, protocol: require(protocol), version: '1.0.0', group: '' })
  server.on('error', () => {}) // of asyncError: it is the caller who gets it
  server.addService({ interfaceName }, { ...offered, ping: async () => ping(), parse: async () => parse() })
  await server.start()
  return server._servers[0]
}
