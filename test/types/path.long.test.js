'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const path = require('node:path')
const { pathToRegexp } = require('path-to-regexp')
const modern = require('path-to-regexp-8')
const ts = require('typescript')
const Layer = require('../../middleware/router/layer')
const { random } = require('../helpers/random')
const { inMemory } = require('./compile')

const root = path.join(__dirname, '../..')

// Patterns, with texts that they match.
const PATTERNS = [
  ['\\d+', ['7', '42']],
  ['\\d*', ['', '7']],
  ['.*', ['', 'a/b']],
  ['a|b', ['a', 'b']],
  ['a|', ['a', '']],
  ['(?:a|b)', ['a']],
  ['(?:a|b)?', ['', 'b']],
  ['[a-z]{2}', ['en']],
  ['[a-z]{0,2}', ['', 'en']],
  ['x\\)y', ['x)y']],
  ['(?:(?:u|v)+w)', ['uvw']]
]

const six = {
  syntax: 6,
  names (path) {
    const keys = []
    pathToRegexp(path, keys)
    return keys.map(({ name }) => String(name))
  },
  token (name, { pick }) {
    const [pattern, samples] = pick(PATTERNS)
    return pick([
      { path: '/text', texts: ['/text'] },
      { path: '/a\\:b\\(c', texts: ['/a:b(c'] },
      { path: `/:${name}`, texts: ['/x1', '/A-b'] },
      { path: `/:${name}?`, texts: ['', '/x1'] },
      { path: `/:${name}+`, texts: ['/x', '/x/y'] },
      { path: `/:${name}*`, texts: ['', '/x', '/x/y'] },
      { path: `/:${name}(${pattern})`, texts: slash(samples) },
      { path: `/:${name}(${pattern})?`, texts: ['', ...slash(samples)] },
      { path: `/(${pattern})`, texts: slash(samples) },
      { path: `/v{-:${name}}?`, texts: ['/v', '/v-x'] },
      { path: `/v{-:${name}(${pattern})\\}}`, texts: samples.map(sample => `/v-${sample}}`) },
      { path: `/v{-(${pattern})end}?`, texts: ['/v', ...samples.map(sample => `/v-${sample}end`)] },
      { path: '/v{-text}?', texts: ['/v', '/v-text'] }
    ])
  }
}

const eight = {
  syntax: 8,
  // a name has a key for each combination of groups
  names: path => [...new Set(modern.pathToRegexp(path).keys.map(({ name }) => name))],
  token: (name, { pick }) => pick([
    { path: '/text', texts: ['/text'] },
    { path: '/a\\:b\\(c', texts: ['/a:b(c'] },
    { path: `/:${name}`, texts: ['/x1', '/A-b'] },
    { path: `/:"${name} \\"é"`, texts: ['/x1'] },
    { path: `/:$${name}`, texts: ['/x1'] },
    { path: `/:ñ${name}`, texts: ['/x1'] },
    { path: `/*${name}`, texts: ['/x', '/x/y'] },
    { path: `/v{-:${name}}`, texts: ['/v', '/v-x'] },
    { path: `/v{/w{/:${name}}/*r${name}}`, texts: ['/v', '/v/w/x', '/v/w/x/y'] }
  ])
}

describe('the types of a path', () => {
  for (const syntax of [six, eight]) {
    it(`should name what path-to-regexp ${syntax.syntax} names, and promise only what is always there`, () => {
      const rnd = random(20)
      const cases = Array.from({ length: 300 }, () => make(syntax, rnd))
      const types = typesOf(cases.map(({ path }) => path), syntax.syntax)

      let optional = 0
      cases.forEach(({ path, texts }, i) => {
        assert.deepEqual(Object.keys(types[i]).sort(), syntax.names(path).sort(), path)

        const layer = new Layer(path, ['GET'], () => {}, { syntax: syntax.syntax })
        for (const text of texts) {
          assert(layer.match(text), `${path} should match ${text}`)
          const params = layer.params(text, layer.captures(text))
          for (const [name, isOptional] of Object.entries(types[i])) {
            if (isOptional) optional++
            else assert(typeof params[name] === 'string' && params[name] !== '', `${name} of ${path} in ${text}`)
          }
        }
      })
      assert(optional > 100)
    })
  }
})

// A path of a few tokens, and texts that it matches.
function make (syntax, rnd) {
  const { int, pick } = rnd
  const tokens = Array.from({ length: 1 + int(4) }, (_, i) => syntax.token(`p${i}_${pick(['a', 'Id', '9'])}`, rnd))
  const texts = Array.from({ length: 6 }, () => tokens.map(token => pick(token.texts)).join('') || '/')
  return { path: tokens.map(token => token.path).join(''), texts }
}

function slash (samples) {
  return samples.map(sample => `/${sample}`)
}

/** Of each path an object of its parameters: name → whether it is optional. */
function typesOf (paths, syntax) {
  const file = path.join(root, 'test/types/paths.ts')
  const code = "import type { PathParams } from '../../middleware/router/path.d.ts'\n" +
    paths.map((path, i) => `export type T${i} = PathParams<${JSON.stringify(path)}, ${syntax}>`).join('\n')

  const options = { strict: true, noEmit: true, module: ts.ModuleKind.NodeNext, types: [] }
  const { program, source, found } = inMemory(ts, file, code, options)
  assert.deepEqual(found, [])
  const checker = program.getTypeChecker()
  return checker.getExportsOfModule(checker.getSymbolAtLocation(source))
    .sort((a, b) => a.name.slice(1) - b.name.slice(1))
    .map(symbol => Object.fromEntries(checker.getDeclaredTypeOfSymbol(symbol).getProperties()
      .map(({ name, flags }) => [name, Boolean(flags & ts.SymbolFlags.Optional)])))
}
