'use strict'

const http = require('node:http')
const { send } = require('../../lib/servers/send')

/** What a request of the load asks for: so many that what the load itself costs is nothing beside them. */
const CALLS = exports.CALLS = 200

/** A server that sends requests by `app.fetch(new Request())`, without a server of the app. */
exports.inProcess = app => http.createServer(async (req, res) => {
  let text
  for (let i = 0; i < CALLS; i++) text = await (await app.fetch(new Request('http://localhost/'))).text()
  send(res, 'text/plain; charset=utf-8', text)
})
