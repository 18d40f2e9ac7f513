'use strict'

const http = require('node:http')
const { Duplex } = require('node:stream')

const CHUNK = 64 * 1024 // bytes that a socket gives at once

/**
 * Put a request through an app without a wire, whose 16 KB of header section would hide how a cost grows: node's own
 * request and response on a socket that goes nowhere.
 *
 *    await send(app.callback(), { method: 'POST', url: '/', headers: { 'content-type': 'text/plain' }, body: 'x' })
 */
exports.send = function (listener, { method = 'GET', url, headers = {}, body, version = 1 }) {
  const socket = new Sink()
  const req = new http.IncomingMessage(socket)
  req.method = method
  req.url = url
  req.headers = headers
  req.httpVersion = `${version}.1`
  req.httpVersionMajor = version
  req.httpVersionMinor = 1
  const bytes = body === undefined ? Buffer.alloc(0) : Buffer.from(body)
  for (let at = 0; at < bytes.length; at += CHUNK) req.push(bytes.subarray(at, at + CHUNK))
  req.push(null)
  req.complete = true

  const res = new http.ServerResponse(req)
  res.assignSocket(socket)
  // These two are what node's server does.
  socket.on('drain', () => res.emit('drain'))
  return new Promise(resolve => {
    res.on('close', () => resolve(res.statusCode))
    res.on('finish', () => {
      res.detachSocket(socket)
      res.emit('close')
      socket.destroy()
    })
    listener(req, res)
  })
}

class Sink extends Duplex {
  remoteAddress = '127.0.0.1'

  _read () {}

  _write (chunk, encoding, callback) { callback() }

  setTimeout () { return this }
}

/** Header fields that keep a record of which of them were read. */
exports.recorded = function (fields) {
  const names = new Set()
  const note = name => { if (typeof name === 'string') names.add(name) }
  const headers = new Proxy(fields, {
    get (target, name) {
      note(name)
      return target[name]
    },
    has (target, name) {
      note(name)
      return name in target
    },
    getOwnPropertyDescriptor (target, name) {
      note(name)
      return Reflect.getOwnPropertyDescriptor(target, name)
    }
  })
  return { headers, names }
}
