'use strict'

const fs = require('node:fs')
const http = require('node:http')
const https = require('node:https')
const path = require('node:path')
const { Readable } = require('node:stream')
const { certificate } = require('../../lib/servers/certificate')
const { send, sendJSON } = require('../../lib/servers/send')
const { load, logger, CHUNKS, USER } = require('./app')

/*
 * The same responses by node:http, and by the packages that were written for it.
 */

exports.start = function ([workload, folder]) {
  load(workload)
  const handler = handlers[workload](folder)
  return workload === 'https' ? https.createServer(certificate(folder), handler) : http.createServer(handler)
}

const handlers = {
  'ctx.res.setHeader': () => (req, res) => {
    res.setHeader('X-Response-Id', '4711')
    send(res, 'text/plain; charset=utf-8', 'Hello World')
  },

  "ctx.res.once('finish')": () => {
    let finished = 0
    return (req, res) => {
      res.once('finish', () => { finished++ })
      res.before = finished
      send(res, 'text/plain; charset=utf-8', 'Hello World')
    }
  },

  API: api,

  'API, POST': api,

  'pino-http': folder => {
    const log = logger(folder)
    return (req, res) => {
      log(req, res)
      sendJSON(res, USER)
    }
  },

  'koa-static, 1 KB': files,

  'koa-static, 64 KB': files,

  'Readable.from': () => (req, res) => {
    res.setHeader('Content-Type', 'text/plain; charset=utf-8')
    Readable.from(CHUNKS).pipe(res)
  },

  OpenTelemetry: api,

  pm2: () => (req, res) => send(res, 'text/plain; charset=utf-8', 'Hello World'),

  https: () => (req, res) => sendJSON(res, USER)
}

// helmet is what koa-helmet wraps; the others are a line each.
function api () {
  const helmet = require('helmet')()
  return (req, res) => helmet(req, res, () => {
    res.setHeader('Vary', 'Origin')
    res.setHeader('Access-Control-Allow-Origin', '*')
    if (req.method === 'GET') return sendJSON(res, { ...USER, id: Number(req.url.slice('/users/'.length)) })
    const chunks = []
    req.on('data', chunk => chunks.push(chunk))
    req.on('end', () => sendJSON(res, JSON.parse(Buffer.concat(chunks))))
  })
}

// What koa-static does for a file, without its ranges, indexes and refusals.
function files (folder) {
  const root = path.join(folder, 'public')
  return (req, res) => {
    const file = path.join(root, req.url)
    fs.stat(file, (err, stats) => {
      res.statusCode = err ? 404 : 200
      if (err) return res.end()
      res.setHeader('Content-Length', stats.size)
      res.setHeader('Last-Modified', stats.mtime.toUTCString())
      res.setHeader('Cache-Control', 'max-age=0')
      res.setHeader('Content-Type', 'text/html; charset=utf-8')
      fs.createReadStream(file).pipe(res)
    })
  }
}
