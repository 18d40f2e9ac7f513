'use strict'

const assert = require('node:assert/strict')
const { readFileSync, readdirSync } = require('node:fs')
const { join } = require('node:path')
const { describe, it } = require('node:test')
const espree = require('espree')

const LIB = join(__dirname, '../lib')

/** Verbs of node's streams, and the classes that have them because they have node's API. */
const NODES = {
  end: ['FrontResponse', 'Outgoing', 'Sink'],
  write: ['FrontResponse', 'NullSocket', 'Sink'],
  destroy: ['FrontResponse', 'Outgoing', 'Sink'],
  push: ['Message']
}

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

describe('the verbs of lib', () => {
  const all = methods()

  for (const [verb, classes] of Object.entries(NODES)) {
    it(`should mean what they mean in node: ${verb}`, () => assert.deepEqual([...all.get(verb) ?? []].sort(), classes))
  }
})

describe('a connection of the front', () => {
  it('should be notified by on…, and get few commands', () => {
    const HTTP1 = join(LIB, 'front')
    const calls = readdirSync(HTTP1, { recursive: true })
      .filter(file => file.endsWith('.js') && !file.endsWith('connection.js'))
      .flatMap(file => readFileSync(join(HTTP1, file), 'utf8').match(/\bconnection\.\w+(?=\(|, connection\b)/g) ?? [])
    const commands = new Set(calls.map(text => text.split('.')[1]).filter(name => !/^on[A-Z]/.test(name)))
    assert.deepEqual([...commands].sort(), ['closeFlushed', 'handle', 'readOn'])
  })
})
