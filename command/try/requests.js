'use strict'

const fs = require('node:fs')
const { merged } = require('./client')
const { Untried } = require('./processes')

const SAFE = ['GET', 'HEAD']
const LINE = /^([A-Z]+) (\/\S*)(?: (.+))?$/

/** Not sent: the client makes them, or they belong to a connection. */
const OWN = /^(?:host|content-length|connection|transfer-encoding|keep-alive|upgrade|te|:.*)$/i

exports.isSafe = method => SAFE.includes(method)

/**
 * The requests of `--requests`, `--har`, or what the app's routers know: flags are checked and files read
 * before the app is started.
 *
 * @param {object} values of the flags
 * @return {(routes: string[]) => { requests: object[], left: number }} takes paths of GET routes; `left`: those of
 *   other methods, which only --all-methods sends
 * @throws {Untried}
 */
exports.requestsOf = function (values) {
  const { header = [], requests, har, 'all-methods': isAll, seconds = '20' } = values
  if (!(Number(seconds) > 0)) refuse(`--seconds must be a positive number, not ${seconds}`)
  const unused = ['seconds', 'only', 'all'].find(flag => values[flag] !== undefined)
  if (unused !== undefined && !values.measure) refuse(`--${unused} is about --measure: give both`)
  if (requests !== undefined && har !== undefined) refuse('--requests and --har are two sources of requests: give one')
  const headers = Object.fromEntries(header.map(field))
  const given = requests !== undefined ? fromLines(requests) : har !== undefined ? fromHar(har) : null
  if (given !== null && !isAll && !given.some(({ method }) => exports.isSafe(method))) {
    refuse(`there is no request to send: --all-methods sends the ${given.length} of other methods than GET and HEAD`)
  }
  return routes => {
    const all = given ?? fromRoutes(routes)
    const sent = all.filter(({ method }) => isAll || exports.isSafe(method))
    const complete = sent.map(one => ({ ...one, headers: merged(one.headers, headers) }))
    return { requests: complete, left: all.length - sent.length }
  }
}

function refuse (why) {
  throw new Untried(`${why} (kone/docs/api/try.md)`)
}

function field (text) {
  const [, name, value] = /^([^\s:]+): *(.*)$/.exec(text) ?? []
  if (name === undefined) refuse(`--header must be 'name: value', not ${JSON.stringify(text)}`)
  return [name, value]
}

function fromRoutes (routes) {
  const paths = routes.filter(path => /^\/[^:*(){}[\]?+\\]*$/.test(path))
  return [...new Set([...paths, '/', '/kone-try-missing'])].map(path => ({ method: 'GET', path: encoded(path), headers: {} }))
}

/** A path as browsers send it. */
const encoded = path => path.replace(/[^\x21-\x7e]+/g, encodeURIComponent)

function fromLines (file) {
  const lines = read(file).split(/\r?\n/)
  const found = lines.flatMap((line, i) => {
    if (line.trim() === '' || line.startsWith('#')) return []
    const [, method, path, body] = LINE.exec(line) ?? []
    if (method === undefined) refuse(`line ${i + 1} of ${file} is no request: expected GET /path, or POST /path {"json":1}`)
    const type = body === undefined ? {} : { 'Content-Type': /^[[{"]/.test(body) ? 'application/json' : 'application/x-www-form-urlencoded' }
    return [{ method, path: encoded(path), headers: type, ...body === undefined ? {} : { body } }]
  })
  if (found.length === 0) refuse(`${file} has no request`)
  return found
}

function fromHar (file) {
  let requests
  try {
    const { log: { entries } } = JSON.parse(read(file))
    requests = entries.map(({ request }) => ({ ...request, url: new URL(request.url) }))
  } catch (err) {
    if (err instanceof Untried) throw err
    requests = []
  }
  if (requests.length === 0) refuse(`${file} is no HAR with requests: save one in a browser's network panel`)
  const [{ url: { host } }] = requests
  return requests.filter(({ url }) => url.host === host).map(({ method, url, headers = [], postData }) => ({
    method,
    path: url.pathname + url.search,
    headers: Object.fromEntries(headers.filter(({ name }) => !OWN.test(name)).map(({ name, value }) => [name, value])),
    ...postData?.text === undefined ? {} : { body: bodyOf(postData, headers) }
  }))
}

/** Chromium writes each byte of what is no text as a character. */
function bodyOf ({ text, encoding }, headers) {
  const length = headers.find(({ name }) => /^content-length$/i.test(name))?.value
  return Buffer.from(text, encoding === 'base64' ? 'base64' : Number(length) === text.length ? 'latin1' : 'utf8')
}

function read (file) {
  try {
    return fs.readFileSync(file, 'utf8').replace(/^\uFEFF/, '') // a byte order mark
  } catch (err) {
    refuse(`cannot read ${file}: ${err.code}`)
  }
}
