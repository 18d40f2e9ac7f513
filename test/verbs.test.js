'use strict'

const assert = require('node:assert/strict')
const { readFileSync, readdirSync } = require('node:fs')
const http = require('node:http')
const { join } = require('node:path')
const { Duplex } = require('node:stream')
const { describe, it } = require('node:test')
const espree = require('espree')

const LIB = join(__dirname, '../lib')

/** Verbs of node's API whose classes share a row. */
const NODES = ['end', 'write', 'destroy', 'push']

/** Names that node's own objects have, and Koa's: the objects that have them have that API. */
const APIS = [
  http.ServerResponse, http.OutgoingMessage, http.IncomingMessage, Duplex, require('..'), require('koa')
].flatMap(({ prototype }) => Object.getOwnPropertyNames(prototype))

/** @return {Map<string, Set<string>>} the name of each method of lib → its classes */
function methods () {
  const found = new Map()
  const visit = node => {
    if (node.type === 'ClassDeclaration') for (const name of namesOf(node)) found.set(name, (found.get(name) ?? new Set()).add(node.id.name))
    for (const child of Object.values(node).flat()) if (typeof child?.type === 'string') visit(child)
  }
  for (const file of readdirSync(LIB, { recursive: true })) {
    if (file.endsWith('.js')) visit(espree.parse(readFileSync(join(LIB, file), 'utf8'), { ecmaVersion: 'latest', sourceType: 'commonjs' }))
  }
  return found
}

function namesOf ({ body }) {
  return body.body
    .filter(({ type, kind, computed }) => type === 'MethodDefinition' && kind === 'method' && !computed)
    .map(({ key }) => key.name)
}

/** @return {Map<string, string[]>} verb → classes, of the table in lib/README.md */
function glossary () {
  const [, part] = readFileSync(join(LIB, 'README.md'), 'utf8').split('\n## One verb, one meaning\n')
  const rows = part.split('\n## ')[0].split('\n').filter(line => line.startsWith('| `'))
  return new Map(rows.flatMap(row => {
    const [verbs, classes] = row.split('|').slice(1, 3)
    return verbs.match(/\w+/g).map(verb => [verb, classes.match(/\w+/g).sort()])
  }))
}

describe('the verbs of lib', () => {
  const all = methods()
  const listed = glossary()

  for (const [verb, classes] of listed) {
    it(`should have one meaning: ${verb}`, () => {
      const found = [...all.get(verb) ?? []].sort()
      if (NODES.includes(verb)) assert.deepEqual(found.filter(name => !classes.includes(name)), [])
      else assert.deepEqual(found, classes)
    })
  }

  it('should be in the table if several classes have them', () => {
    const several = [...all].filter(([name, classes]) => classes.size > 1 && !APIS.includes(name) && !/^on[A-Z]|^_/.test(name))
    assert.deepEqual(several.map(([name, classes]) => `${name}: ${[...classes]}`).filter(text => !listed.has(text.split(':')[0])), [])
  })
})

describe('a connection of the front', () => {
  it('should be notified by on…, and get few commands', () => {
    const HTTP1 = join(LIB, 'engines/http1')
    const calls = readdirSync(HTTP1, { recursive: true })
      .filter(file => file.endsWith('.js') && !file.endsWith('connection.js'))
      .flatMap(file => readFileSync(join(HTTP1, file), 'utf8').match(/\bconnection\.\w+(?=\(|, connection\b)/g) ?? [])
    const commands = new Set(calls.map(text => text.split('.')[1]).filter(name => !/^on[A-Z]/.test(name)))
    assert.deepEqual([...commands].sort(), ['handle', 'readOn'])
  })
})
