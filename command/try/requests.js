'use strict'

const fs = require('node:fs')
const { Untried } = require('./processes')

const PAGE = '(kone/docs/api/try.md)'
const SAFE = ['GET', 'HEAD']
const LINE = /^([A-Z]+) (\/\S*)(?: (.+))?$/

/** Not sent: the client makes them, or they belong to a connection. */
const OWN = /^(?:host|content-length|connection|transfer-encoding|keep-alive|upgrade|te|:.*)$/i

/**
 * The requests of `--requests`, `--har`, or what the app's routers know.
 *
 * @param {object} values of the flags
 * @param {string[]} routes paths of GET routes
 * @return {{ requests: object[], left: number }} `left`: those of other methods, which only --all-methods sends
 * @throws {Untried}
 */
exports.requestsOf = function (values, routes) {
  const headers = Object.fromEntries((values.header === undefined ? [] : [values.header].flat()).map(field))
  const found = values.requests !== undefined
    ? fromLines(values.requests)
    : values.har !== undefined ? fromHar(values.har) : fromRoutes(routes)
  const sent = found.filter(({ method }) => values['all-methods'] || SAFE.includes(method))
  if (sent.length === 0) throw new Untried(`there is no request to send: ${found.length} have other methods than GET and HEAD, which --all-methods sends ${PAGE}`)
  return {
    requests: sent.map(one => ({ ...one, headers: { ...one.headers, ...headers } })),
    left: found.length - sent.length
  }
}

function field (text) {
  const [, name, value] = /^([^\s:]+): *(.*)$/.exec(text) ?? []
  if (name === undefined) throw new Untried(`--header must be 'name: value', not ${JSON.stringify(text)} ${PAGE}`)
  return [name, value]
}

function fromRoutes (routes) {
  const paths = routes.filter(path => /^\/[^:*(){}[\]?+\\]*$/.test(path))
  return [...new Set([...paths, '/', '/kone-try-missing'])].map(path => ({ method: 'GET', path, headers: {} }))
}

function fromLines (file) {
  const lines = read(file).split(/\r?\n/)
  const found = lines.flatMap((line, i) => {
    if (line.trim() === '' || line.startsWith('#')) return []
    const [, method, path, body] = LINE.exec(line) ?? []
    if (method === undefined) throw new Untried(`line ${i + 1} of ${file} is no request: expected GET /path, or POST /path {"json":1} ${PAGE}`)
    const type = body === undefined ? {} : { 'Content-Type': /^[[{"]/.test(body) ? 'application/json' : 'application/x-www-form-urlencoded' }
    return [{ method, path, headers: type, ...body === undefined ? {} : { body } }]
  })
  if (found.length === 0) throw new Untried(`${file} has no request ${PAGE}`)
  return found
}

function fromHar (file) {
  let entries
  try {
    ({ log: { entries } } = JSON.parse(read(file)))
  } catch {
    entries = null
  }
  if (!Array.isArray(entries) || entries.length === 0) throw new Untried(`${file} is no HAR with requests: save one in a browser's network panel ${PAGE}`)
  const requests = entries.map(({ request }) => ({ ...request, url: new URL(request.url) }))
  const [{ url: { host } }] = requests
  return requests.filter(({ url }) => url.host === host).map(({ method, url, headers = [], postData }) => ({
    method,
    path: url.pathname + url.search,
    headers: Object.fromEntries(headers.filter(({ name }) => !OWN.test(name)).map(({ name, value }) => [name, value])),
    ...postData?.text === undefined ? {} : { body: Buffer.from(postData.text, postData.encoding === 'base64' ? 'base64' : 'utf8') }
  }))
}

function read (file) {
  try {
    return fs.readFileSync(file, 'utf8')
  } catch (err) {
    throw new Untried(`cannot read ${file}: ${err.code} ${PAGE}`)
  }
}
