'use strict'

const http = require('node:http')
const https = require('node:https')
const { pipeline } = require('node:stream')
const { text } = require('node:stream/consumers')
const zlib = require('node:zlib')

/**
 * Send a request and compare the response with what every contender must give. No clock starts before.
 *
 *    await verify(port, { path: '/' }, { status: 200, type: 'text/plain', body: 'Hello World' })
 */
exports.verify = async function (port, request, expected) {
  const response = await ask(port, request)
  const { status, headers, body } = response
  if (status !== expected.status) differs('status', status, expected.status)
  const type = normalized(headers['content-type'])
  if (!matches(type, expected.type instanceof RegExp ? expected.type : normalized(expected.type))) differs('type', type, expected.type)
  for (const [name, value] of Object.entries(expected.headers ?? {})) {
    if (!matches(headers[name], value)) differs(name, headers[name], value)
  }
  const isSame = typeof expected.body === 'function' ? expected.body(body, headers) : body === expected.body
  if (!isSame) differs('body', body, expected.body)
  return response
}

/** Verify several requests; the response of the first stands for all. */
exports.verifyAll = async function (port, questions) {
  const responses = []
  for (const { request, expected } of questions) responses.push(await exports.verify(port, request, expected))
  return responses[0]
}

const CHANGING = new Set(['date', 'set-cookie', 'x-response-time', 'x-request-id'])

/** Names and values of the headers in which a response differs from the reference's. */
exports.headerDifferences = (headers, reference) => [
  ...Object.entries(headers).flatMap(([name, value]) => {
    if (!(name in reference)) return [`+${name}: ${value}`]
    return CHANGING.has(name) || String(reference[name]) === String(value) ? [] : [`~${name}: ${value}`]
  }),
  ...Object.keys(reference).filter(name => !(name in headers)).map(name => `-${name}`)
]

/** One request on a connection of its own; size: bytes of a body to post. A body in gzip is decompressed. */
const ask = exports.ask = function (port, { protocol = 'http', method = 'GET', path = '/', size, headers, body }) {
  const { Agent, request } = { http, https }[protocol]
  return new Promise((resolve, reject) => {
    const agent = new Agent({ keepAlive: true, rejectUnauthorized: false }) // certificates are made for the run
    const type = size && { 'content-type': 'application/octet-stream' }
    const options = { host: '127.0.0.1', port, method, path, headers: { ...type, ...headers }, agent, timeout: 10_000 }
    const req = request(options, res => {
      const { socket } = res
      text(res.headers['content-encoding'] === 'gzip' ? pipeline(res, zlib.createGunzip(), () => {}) : res).then(body => {
        resolve({ status: res.statusCode, headers: res.headers, body, bytes: socket.bytesRead })
        agent.destroy()
      }, reject)
    })
    req.on('timeout', () => req.destroy(new Error('no response in 10 s')))
    req.on('error', reject)
    req.end(size ? Buffer.alloc(size, 'x') : body)
  })
}

// text/plain;charset=UTF-8 and text/plain; charset=utf-8 are one type.
const normalized = type => String(type).toLowerCase().replace(/\s/g, '')

const matches = (found, wanted) => wanted instanceof RegExp ? wanted.test(found) : found === wanted

function differs (what, found, expected) {
  const wanted = typeof expected === 'string' ? JSON.stringify(expected) : expected
  throw new Error(`its ${what} is ${brief(JSON.stringify(found))}, not ${brief(wanted)}`)
}

const brief = value => String(value).length > 300 ? `${String(value).slice(0, 300)}…` : value
