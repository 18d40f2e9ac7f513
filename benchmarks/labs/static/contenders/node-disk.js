'use strict'

const fs = require('node:fs')
const http = require('node:http')
const path = require('node:path')
const { pipeline } = require('node:stream')

exports.about = 'node:http, fs.stat and fs.createReadStream for every response'

exports.start = ([root]) => http.createServer((req, res) => {
  const file = path.join(root, path.normalize(req.url))
  fs.stat(file, (err, stats) => {
    res.statusCode = err ? 404 : 200
    if (err) return res.end()
    res.setHeader('Content-Type', 'text/html; charset=utf-8')
    res.setHeader('Content-Length', stats.size)
    pipeline(fs.createReadStream(file), res, () => {}) // closes the file if the client has gone; pipe() does not
  })
})
