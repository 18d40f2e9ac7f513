'use strict'

const http = require('node:http')
const https = require('node:https')
const querystring = require('node:querystring')
const { certificate } = require('../../../lib/servers/certificate')
const { send, sendJSON } = require('../../../lib/servers/send')

// The same responses with node:http alone.
const handlers = {
  hello (req, res) {
    send(res, 'text/plain; charset=utf-8', 'Hello World')
  },

  browser (req, res) {
    const query = querystring.parse(req.url.slice(req.url.indexOf('?') + 1))
    res.setHeader('X-Language', req.headers['accept-language'])
    res.setHeader('X-Page', query.page)
    send(res, 'text/plain; charset=utf-8', 'Hello World')
  },

  json (req, res) {
    sendJSON(res, { id: 4711, name: 'kone', tags: ['web', 'framework'], fast: true })
  },

  post (req, res) {
    const chunks = []
    req.on('data', chunk => chunks.push(chunk))
    req.on('end', () => sendJSON(res, JSON.parse(Buffer.concat(chunks))))
  }
}

exports.start = function ([workload, folder]) {
  const handler = handlers[workload]
  return folder ? https.createServer(certificate(folder), handler) : http.createServer(handler)
}
