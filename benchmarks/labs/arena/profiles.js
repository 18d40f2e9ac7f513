'use strict'

const { TEXT, content, items } = require('./data')
const { verifyAll } = require('../../lib/run/verify')

const UPLOAD = 20 * 2 ** 20

/*
 * The rows of the lab. A profile sends its requests in turn; `expected` is the response of each.
 */

const baseline = {
  path: '/baseline?a=1&b=2',
  expected: { type: 'text/plain; charset=utf-8', body: '3' }
}
const json = { path: '/json', expected: { type: /^application\/json(;charset=utf-8)?$/, body: JSON.stringify(items()) } }
const gzip = {
  path: '/gzip',
  headers: { 'accept-encoding': 'gzip' },
  expected: { type: 'text/plain; charset=utf-8', body: TEXT, headers: { 'content-encoding': 'gzip', vary: /accept-encoding/i } }
}
const upload = {
  method: 'POST',
  path: '/upload',
  size: UPLOAD,
  expected: { type: 'text/plain; charset=utf-8', body: String(UPLOAD) }
}
const asset = (name, type) => ({
  path: `/${name}`,
  expected: { type, body: content(name), headers: { 'content-length': String(content(name).length) } }
})
const page = asset('page.html', 'text/html; charset=utf-8')
const assets = [page, asset('style.css', 'text/css; charset=utf-8'), asset('picture.png', 'image/png')]

const wrk = { generator: 'wrk', connections: 50 }

/** Profiles by name: `{ about, requests, load }`. */
exports.PROFILES = {
  baseline: { about: 'GET, a sum of two numbers of the query', requests: [baseline], load: wrk },
  pipelined: { about: 'the same, 16 requests at once', requests: [baseline], load: { ...wrk, pipeline: 16 } },
  json: { about: 'JSON of 50 items', requests: [json], load: wrk },
  upload: { about: 'POST of 20 MB, counted', requests: [upload], load: { generator: 'pooled', connections: 4 } },
  gzip: { about: 'gzip of 100 KB', requests: [gzip], load: wrk },
  assets: { about: 'files of 2, 16 and 128 KB', requests: assets, load: wrk },
  mixed: {
    about: 'of ten requests: 4 sums, 3 × JSON, 2 files, 1 × gzip',
    requests: [baseline, json, page, baseline, json, gzip, baseline, assets[1], json, baseline],
    load: wrk
  }
}

/**
 * The load of a profile, as generators take it. The headers of one request are sent with all.
 *
 *    loadOf(PROFILES.json) // { generator: 'wrk', connections: 50, path: '/json', headers: {} }
 */
const loadOf = exports.loadOf = function ({ requests, load }) {
  const [{ method, path, size }] = requests
  const headers = Object.assign({}, ...requests.map(({ headers }) => headers))
  const paths = requests.length > 1 ? requests.map(({ path }) => path) : undefined
  return { ...load, method, path, size, paths, headers }
}

/** Whether a raw socket can write the bytes of the response: there is one, and the request is short. */
exports.hasFloor = ({ requests }) => requests.length === 1 && !requests[0].size

/** Verify every response of a profile: status, type, headers, and the body, decompressed. */
exports.check = function ({ port }, { requests }) {
  const { headers } = loadOf({ requests })
  const question = request => ({ request: { ...request, headers }, expected: { status: 200, ...request.expected } })
  return verifyAll(port, [...new Set(requests)].map(question))
}
