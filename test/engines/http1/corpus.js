'use strict'

/*
 * Reader of corpus/*.md. One case is a heading, the bytes, the verdicts:
 *
 *   ## second content-length
 *
 *   ```http
 *   POST / HTTP/1.1
 *   Content-Length: 3
 *   Content-Length: 4
 *
 *   abcd
 *   ```
 *
 *   http1: unsupported · node:http: 400, connection closed
 *
 * Bytes: a line break is CR LF; the last one belongs to the fence, unless it is the empty line that ends headers.
 * `\r \n \t \0 \xHH \\` are what they look like; a backslash at the end of a line joins it with the next one;
 * `<<a*500>>` is 500 times a. A line `>>> read | release | half-close | abort` ends a step (see harness.js).
 * Behind `http` in the fence: properties of the server, `maxHeadersCount=2`.
 *
 * Verdicts: `http1` is what the front makes of it: *head* (its own to the end), *more* (waits), *unsupported* (node:http's).
 * `node:http` is what a client gets: the statuses, and whether the connection stays open. Where versions of node differ,
 * one verdict for Node 20 and one for the rest: `400, connection closed (20) / 200, connection open (22 on)`.
 */

const fs = require('node:fs')
const path = require('node:path')

const STEPS = { read: null, release: { release: true }, 'half-close': { end: true }, abort: { reset: true } }

function corpus (folder = path.join(__dirname, 'corpus')) {
  return fs.readdirSync(folder).filter(name => name.endsWith('.md')).sort()
    .flatMap(file => read(file, fs.readFileSync(path.join(folder, file), 'utf8')))
}

function read (file, text) {
  return text.split(/^## /m).slice(1).map(section => {
    const title = section.slice(0, section.indexOf('\n')).trim()
    const fence = /^```http(.*)\n([^]*?)^```$/m.exec(section)
    const verdict = /^http1: (.+) · node:http: (.+)$/m.exec(section)
    if (!fence || !verdict) throw new Error(`${file}, ${title}: bytes or verdict missing`)
    return {
      file,
      title,
      server: properties(fence[1]),
      parts: parts(fence[2]),
      http1: verdict[1],
      node: forThisNode(verdict[2])
    }
  })
}

function properties (info) {
  return Object.fromEntries(info.trim().split(/\s+/).filter(Boolean).map(pair => {
    const [name, value] = pair.split('=')
    return [name, JSON.parse(value)]
  }))
}

/** Buffers, and the steps between them. */
function parts (text) {
  const found = []
  for (const piece of text.split(/^(>>> .+)\n/m)) {
    if (!piece.startsWith('>>> ')) {
      if (piece) found.push(bytes(piece))
      continue
    }
    const name = piece.slice(4)
    if (!(name in STEPS)) throw new Error(`no such step: ${name}`)
    if (STEPS[name]) found.push(STEPS[name])
  }
  return found
}

function bytes (text) {
  const raw = text
    .replace(/([^\n])\n$/, '$1')
    .replace(/\\\n/g, '')
    .replace(/<<(.+?)\*(\d+)>>/g, (all, what, times) => what.repeat(times))
    .replace(/\n/g, '\r\n')
    .replace(/\\(?:x([0-9a-f]{2})|(.))/gi, (all, hex, name) => {
      if (hex) return String.fromCharCode(parseInt(hex, 16))
      return { r: '\r', n: '\n', t: '\t', 0: '\0', '\\': '\\' }[name]
    })
  return Buffer.from(raw, 'latin1')
}

function forThisNode (verdict) {
  const versions = verdict.split(' / ')
  if (versions.length === 1) return verdict
  const is20 = process.versions.node.startsWith('20.')
  return versions[is20 ? 0 : 1].replace(/ \((?:20|22 on)\)$/, '')
}

/** The verdict on a record, in the words of the corpus. */
function verdictOf (record) {
  const last = record.at(-1)
  const statuses = record.map(entry => entry.got).join('').match(/(?<=HTTP\/1\.1 )\d{3}/g) ?? ['nothing']
  return {
    http1: last.node ? 'unsupported' : last.count ? 'head' : 'more',
    node: `${statuses.join(', ')}, connection ${last.socket === 'open' ? 'open' : 'closed'}`
  }
}

module.exports = { corpus, verdictOf }
