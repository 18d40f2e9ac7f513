'use strict'

const http = require('node:http')
const https = require('node:https')

/**
 * Send a request and compare the response with what every contender must give. No clock starts before.
 *
 *    await verify(port, { path: '/' }, { status: 200, type: 'text/plain', body: 'Hello World' })
 */
exports.verify = async function (port, request, expected) {
  const response = await ask(port, request)
  const type = normalized(response.headers['content-type'])
  if (response.status !== expected.status) differs('status', response.status, expected.status)
  const { type: wanted } = expected
  if (!(wanted instanceof RegExp ? wanted.test(type) : type === normalized(wanted))) differs('type', type, wanted)
  for (const [name, value] of Object.entries(expected.headers ?? {})) {
    if (response.headers[name] !== value) differs(name, response.headers[name], value)
  }
  if (!same(response, expected.body)) differs('body', response.body, expected.body)
  return response
}

/** Names and values of the headers in which a response differs from the reference's. */
exports.headerDifferences = function (headers, reference) {
  const differences = []
  for (const [name, value] of Object.entries(headers)) {
    if (!(name in reference)) differences.push(`+${name}: ${value}`)
    else if (changing.has(name)) continue
    else if (String(reference[name]) !== String(value)) differences.push(`~${name}: ${value}`)
  }
  for (const name of Object.keys(reference)) if (!(name in headers)) differences.push(`-${name}`)
  return differences
}

const changing = new Set(['date', 'set-cookie', 'x-response-time', 'x-request-id'])

/** One request on a connection of its own. */
const ask = exports.ask = function (port, { protocol = 'http', method = 'GET', path = '/', headers, body }) {
  const { Agent, request } = { http, https }[protocol]
  return new Promise((resolve, reject) => {
    const agent = new Agent({ keepAlive: true, rejectUnauthorized: false }) // certificates are made for the run
    const options = { host: '127.0.0.1', port, method, path, headers, agent, timeout: 10_000 }
    const req = request(options, res => {
      let text = ''
      res.setEncoding('utf8')
      res.on('data', chunk => { text += chunk })
      res.on('error', reject)
      const { socket } = res
      res.on('end', () => {
        resolve({ status: res.statusCode, headers: res.headers, body: text, bytes: socket.bytesRead })
        agent.destroy()
      })
    })
    req.on('timeout', () => req.destroy(new Error('no response in 10 s')))
    req.on('error', reject)
    req.end(body)
  })
}

function same ({ body, headers }, expected) {
  if (typeof expected === 'function') return expected(body, headers)
  return body === expected
}

// text/plain;charset=UTF-8 and text/plain; charset=utf-8 are one type.
const normalized = type => String(type).toLowerCase().replace(/\s/g, '')

function differs (what, found, expected) {
  const wanted = typeof expected === 'string' ? JSON.stringify(expected) : expected
  throw new Error(`its ${what} is ${brief(JSON.stringify(found))}, not ${brief(wanted)}`)
}

const brief = value => String(value).length > 300 ? `${String(value).slice(0, 300)}…` : value
