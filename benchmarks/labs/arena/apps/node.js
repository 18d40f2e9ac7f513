'use strict'

const fs = require('node:fs')
const http = require('node:http')
const path = require('node:path')
const querystring = require('node:querystring')
const { pipeline } = require('node:stream')
const zlib = require('node:zlib')
const { send, sendJSON } = require('../../../lib/servers/send')
const { TEXT, items } = require('../data')

const PLAIN = 'text/plain; charset=utf-8'
const TYPES = { '.html': 'text/html; charset=utf-8', '.css': 'text/css; charset=utf-8', '.png': 'image/png' }

const routes = {
  'GET /baseline' (req, res, query) {
    const { a, b } = querystring.parse(query)
    send(res, PLAIN, String(Number(a) + Number(b)))
  },

  'GET /json': (req, res) => sendJSON(res, items()),

  'POST /upload' (req, res) {
    let bytes = 0
    req.on('data', chunk => { bytes += chunk.length })
    req.on('end', () => send(res, PLAIN, String(bytes)))
  },

  'GET /gzip' (req, res) {
    zlib.gzip(TEXT, (err, body) => {
      if (err) return res.destroy(err)
      res.writeHead(200, { 'Content-Type': PLAIN, 'Content-Encoding': 'gzip', 'Content-Length': body.length, Vary: 'Accept-Encoding' })
      res.end(body)
    })
  }
}

module.exports = function (folder) {
  return http.createServer((req, res) => {
    const [target, query] = req.url.split('?')
    const route = routes[`${req.method} ${target}`]
    if (route) return route(req, res, query)
    const file = path.join(folder, path.normalize(target))
    fs.stat(file, (err, stats) => {
      if (res.destroyed) return // pipeline() throws then, since Node 26
      res.statusCode = err ? 404 : 200
      if (err) return res.end()
      res.setHeader('Content-Type', TYPES[path.extname(file)])
      res.setHeader('Content-Length', stats.size)
      pipeline(fs.createReadStream(file), res, () => {})
    })
  })
}
