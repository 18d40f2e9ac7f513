'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const path = require('node:path')
const { pathToRegexp } = require('path-to-regexp')
const ts = require('typescript')
const Layer = require('../../middleware/router/layer')
const { random } = require('../helpers/random')

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

describe('the types of a path', () => {
  it('should name what path-to-regexp names, and promise only what is always there', () => {
    const rnd = random(20)
    const cases = Array.from({ length: 300 }, () => make(rnd))
    const types = typesOf(cases.map(({ path }) => path))

    let optional = 0
    cases.forEach(({ path, texts }, i) => {
      const keys = []
      pathToRegexp(path, keys)
      assert.deepEqual(Object.keys(types[i]).sort(), keys.map(({ name }) => String(name)).sort(), path)

      const layer = new Layer(path, ['GET'], () => {})
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
})

// A path of a few tokens, and texts that it matches: each optional token once with and once without.
function make ({ pick, int }) {
  const tokens = Array.from({ length: 1 + int(4) }, (_, i) => token(`p${i}_${pick(['a', 'Id', '9'])}`, pick))
  const texts = Array.from({ length: 6 }, () => tokens.map(token => pick(token.texts)).join('') || '/')
  return { path: tokens.map(token => token.path).join(''), texts }
}

function token (name, pick) {
  const [pattern, samples] = pick(PATTERNS)
  const plain = ['x1', 'A-b']
  const slash = samples => samples.map(sample => `/${sample}`)
  return pick([
    { path: '/text', texts: ['/text'] },
    { path: '/a\\:b\\(c', texts: ['/a:b(c'] },
    { path: `/:${name}`, texts: slash(plain) },
    { path: `/:${name}?`, texts: ['', ...slash(plain)] },
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

/** Of each path an object of its parameters: name → whether it is optional. */
function typesOf (paths) {
  const file = path.join(root, 'test/types/paths.ts')
  const code = "import type { PathParams } from '../../middleware/router/path'\n" +
    paths.map((path, i) => `export type T${i} = PathParams<${JSON.stringify(path)}>`).join('\n')

  const options = { strict: true, noEmit: true, module: ts.ModuleKind.NodeNext, types: [] }
  const host = ts.createCompilerHost(options)
  const { getSourceFile, fileExists } = host
  host.fileExists = name => name === file || fileExists(name)
  host.getSourceFile = (name, ...rest) =>
    name === file ? ts.createSourceFile(name, code, ...rest) : getSourceFile.call(host, name, ...rest)

  const program = ts.createProgram([file], options, host)
  const source = program.getSourceFile(file)
  assert.deepEqual(program.getSemanticDiagnostics(source).map(({ messageText }) => messageText), [])
  const checker = program.getTypeChecker()
  return checker.getExportsOfModule(checker.getSymbolAtLocation(source))
    .sort((a, b) => a.name.slice(1) - b.name.slice(1))
    .map(symbol => Object.fromEntries(checker.getDeclaredTypeOfSymbol(symbol).getProperties()
      .map(({ name, flags }) => [name, Boolean(flags & ts.SymbolFlags.Optional)])))
}
