'use strict'

const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const { existsSync, readFileSync } = require('node:fs')
const { join } = require('node:path')
const { before, describe, it } = require('node:test')

const { DUTIES, LINES, FILE, read, functions, compare, digests } = require('./duties')

const SCRIPT = join(__dirname, 'duties.js')
const HTTP1 = join(__dirname, '../../../lib/front')

const book = JSON.parse(readFileSync(FILE, 'utf8'))

describe("node's private duties", () => {
  it('should have been read of every supported line', () => {
    assert.deepEqual(Object.keys(book).map(Number), LINES)
  })

  it('should exist in at least one line, and name a file of the front', () => {
    for (const [name, files] of Object.entries(DUTIES)) {
      for (const [file, duties] of Object.entries(files)) {
        assert(existsSync(join(HTTP1, file)), file)
        const unknown = duties.filter(duty => Object.values(book).every(line => line[name][duty] === undefined))
        assert.deepEqual(unknown, [], name)
      }
    }
  })
})

describe('the comparison of a Node with what was read', () => {
  let node, known

  before(async () => {
    node = await read(process.execPath)
    const [line] = node.version.split('.')
    known = { [line]: { version: node.version, ...digests(node.sources) } }
  })

  /** The sentence about this Node when its module _http_server has another source. */
  const sentence = change => {
    const sources = { ...node.sources, _http_server: change(node.sources._http_server) }
    return compare({ version: node.version, sources }, known).sentence
  }

  it('should find nothing when all is as it was', () => {
    assert.equal(sentence(source => source), '')
    assert(Object.keys(functions(node.sources._http_server)).length > 30)
  })

  it('should name a function of which one character has changed', () => {
    const found = sentence(source => source.replace('function resOnFinish(req, res, ', 'function resOnFinish(req, ses, '))
    assert.match(found, /node:_http_server: resOnFinish has changed; .* lib\/front\/node\/message\.js$/m)
    assert.match(found, /Read it, .* then renew: make node-duties ARGS="--renew"$/)
    assert.equal(found.split('\n').length, 3)
  })

  it('should find every duty of this line when one character of it has changed', () => {
    const [[line, { version, ...modules }]] = Object.entries(known)
    for (const [name, duties] of Object.entries(modules)) {
      const all = functions(node.sources[name])
      for (const duty of Object.keys(duties).filter(duty => duty !== 'names')) {
        const text = all[duty]
        const sources = { ...node.sources, [name]: node.sources[name].replace(text, () => text.replace(/\}$/, ' }')) }
        const { found } = compare({ version, sources }, known)
        assert.deepEqual(found, [{ name, duty, what: 'has changed' }], `Node ${line}`)
      }
    }
  })

  it('should name a function that is missing', () => {
    const found = sentence(source => source.replaceAll('abortIncoming', 'abortAll'))
    assert.match(found, /node:_http_server: abortIncoming is gone; .* lib\/front\/connection\.js$/m)
    assert.match(found, /node:_http_server: functions came or went/)
  })

  it('should notice a new function, and a module that is missing', () => {
    const found = sentence(source => `${source}\nfunction refuseAll () {}`)
    assert.match(found, /node:_http_server: functions came or went/)
    const sources = { ...node.sources }
    delete sources._http_common
    assert.match(compare({ version: node.version, sources }, known).sentence, /node:_http_common: freeParser is gone/)
  })

  it('should ask for a first reading of a new line of Node', () => {
    const { sentence } = compare({ version: '99.0.0', sources: node.sources }, known)
    assert.match(sentence, /^Nobody has read node:http of Node 99 yet/)
  })

  it('should be a command', () => {
    const { status, stdout } = spawnSync(process.execPath, [SCRIPT, '--node', process.execPath], { encoding: 'utf8' })
    // of a Node that is newer than what was read, the command says so: make node-duties is no part of make test
    assert.equal(status, stdout.startsWith(`Node ${process.versions.node}: as `) ? 0 : 1, stdout)
  })
})
