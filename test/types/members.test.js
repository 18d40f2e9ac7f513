'use strict'

process.noDeprecation = true // packages of koa warn of some values that they take

const path = require('node:path')
const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const ts = require('typescript')
const Kone = require('kone')
const { inMemory } = require('./compile')

// The members of ctx, request and response, each with every type that a declaration accepts.

const ROOT = path.join(__dirname, '../..')
const OPTIONS = { strict: true, noEmit: true, module: ts.ModuleKind.NodeNext, target: ts.ScriptTarget.ES2022, types: ['node'], skipLibCheck: true }
const OBJECTS = { ctx: 'Context', request: 'Request', response: 'Response', cookies: "Context['cookies']" }

/** Where not any value of a type will do, by the name of the member or the parameter. */
const VALUES = {
  number: { status: '404', code: '404' },
  string: {
    url: "'/a?b=1'",
    field: "'X-A'",
    header: "'X-A'",
    type: "'text/html'",
    lastModified: "'Thu, 01 Jan 2026 00:00:00 GMT'",
    search: "'?a=1'",
    date: "'Thu, 01 Jan 2026 00:00:00 GMT'",
    method: "'PUT'",
    path: "'/b'",
    href: "'/c'",
    'options.type': "'inline'"
  }
}

/** What the core uses, and what the app may assign. */
const PRIVATE = ['incoming', 'outgoing']
const ASSIGNED = ['respond']

/** Source text of values, by the name of their type. */
const SAMPLES = {
  Date: ['new Date(0)'],
  Error: ["new Error('no')"],
  Buffer: ["Buffer.from('a')"],
  Function: ['() => {}'],
  ParsedUrlQuery: ["{ a: '1', b: ['2', '3'] }"]
}

/** The type says nothing is readonly, as that of koa; what has no setter throws, as in koa. */
const isSettable = (object, name) => {
  for (let at = object; at !== null; at = Object.getPrototypeOf(at)) {
    const found = Object.getOwnPropertyDescriptor(at, name)
    if (found) return found.writable || found.set !== undefined
  }
  return false
}

/** The objects as `module` declares them. */
const declaredBy = (() => {
  const known = new Map()
  return module => known.get(module) ?? known.set(module, declare(module)).get(module)
})()

function declare (module) {
  const text = `import Koa = require('${module}')\n` + Object.entries(OBJECTS).map(([name, type]) => `export type ${name} = Koa.${type}`).join('\n')
  const { program, source, found } = inMemory(ts, path.join(ROOT, 'test/types/members.cts'), text, OPTIONS)
  assert.deepEqual(found, [])
  const checker = program.getTypeChecker()
  const typeOf = symbol => checker.getTypeOfSymbolAtLocation(symbol, source)
  const objects = checker.getExportsOfModule(checker.getSymbolAtLocation(source))
  return { checker, typeOf, objects }
}

/** Statements for each member of the objects as `module` declares them, with each type of each value in turn. */
function statementsOf (module) {
  const { checker, typeOf, objects } = declaredBy(module)
  return objects.flatMap(object => checker.getDeclaredTypeOfSymbol(object).getProperties().flatMap(member => {
    const name = `${object.name}.${member.name}`
    const type = typeOf(member)
    const calls = type.getCallSignatures().flatMap(signature => callsOf(name, signature))
    const setter = member.declarations?.find(ts.isSetAccessorDeclaration)?.parameters[0]
    const written = setter === undefined ? type : checker.getTypeAtLocation(setter)
    const values = calls.length > 0 ? [] : samples(written, member.name)
    return [...calls, ...values.map(value => `${name} = ${value}`)]
  }))

  function callsOf (name, signature) {
    const parameters = signature.getParameters().map(parameter => {
      const { questionToken, dotDotDotToken } = parameter.valueDeclaration
      const type = typeOf(parameter)
      if (dotDotDotToken) return ['', ...samples(checker.getTypeArguments(type)[0], parameter.name).map(value => `${value}, ${value}`)]
      const values = samples(type, parameter.name)
      assert(values.length > 0 || questionToken, `no sample of ${checker.typeToString(type)} for ${name}`)
      return questionToken ? ['undefined', ...values] : values
    })
    const first = parameters.map(values => values[0])
    return [first, ...parameters.flatMap((values, i) => values.slice(1).map(value => first.with(i, value)))]
      .map(args => `${name}(${args.filter(Boolean).join(', ')})`)
  }

  function samples (type, name) {
    const { flags } = type
    if (type.isUnion()) return [...new Set(type.types.flatMap(one => samples(one, name)))]
    if (type.isLiteral()) return [JSON.stringify(type.value)]
    if (flags & ts.TypeFlags.BooleanLiteral) return [checker.typeToString(type)]
    if (flags & (ts.TypeFlags.Undefined | ts.TypeFlags.Void)) return ['undefined']
    if (flags & ts.TypeFlags.Null) return ['null']
    if (flags & ts.TypeFlags.String) return [VALUES.string[name] ?? "'text'"]
    if (flags & ts.TypeFlags.Number) return [VALUES.number[name] ?? '1']
    if (flags & (ts.TypeFlags.Any | ts.TypeFlags.Unknown)) return ["'text'", '1', '{ a: 1 }']
    if (checker.isArrayType(type)) {
      const values = samples(checker.getTypeArguments(type)[0], name)
      return values.length === 0 ? [] : values.map(value => `[${value}, ${value}]`)
    }
    const shown = type.symbol?.name ?? ''
    if (Object.hasOwn(SAMPLES, shown)) return SAMPLES[shown]
    if (type.getCallSignatures().length > 0) return SAMPLES.Function
    const properties = type.getProperties()
    if (!properties.every(({ flags }) => flags & ts.SymbolFlags.Optional)) return []
    const index = type.getStringIndexType()
    if (index !== undefined) return samples(index, name).map(value => `{ 'x-a': ${value} }`)
    return ['{}', ...properties.flatMap(property =>
      samples(checker.getNonNullableType(typeOf(property)), `${name}.${property.name}`).map(value => `{ ${property.name}: ${value} }`))]
  }
}

describe('the members of ctx, request and response', () => {
  it('should be those that the prototypes have', () => {
    const { checker, objects } = declaredBy('../../lib/index')
    const ctx = new Kone().createContext({ url: '/', headers: {} }, {})
    for (const [name, object] of Object.entries({ ctx, request: ctx.request, response: ctx.response })) {
      const type = checker.getDeclaredTypeOfSymbol(objects.find(object => object.name === name))
      const declared = new Set(type.getProperties().map(member => member.name))
      const present = new Set()
      for (let at = object; at !== Object.prototype; at = Object.getPrototypeOf(at)) {
        for (const one of Object.getOwnPropertyNames(at)) if (one[0] !== '_') present.add(one)
      }
      assert.deepEqual([...present].filter(one => !declared.has(one) && !PRIVATE.includes(one)), [], `${name}: not declared`)
      assert.deepEqual([...declared].filter(one => !present.has(one) && !ASSIGNED.includes(one)), [], `${name}: only declared`)
    }
  })

  it('should take each type that their declaration accepts', async () => {
    const failed = []
    const statements = statementsOf('../../lib/index')
    for (const statement of statements) {
      const app = new Kone({ keys: ['secret'], proxy: true })
      app.silent = true
      app.use(ctx => {
        const { request, response, cookies } = ctx
        const [, object, name, isSet] = /^(\w+)\.(\w+)( =)?/.exec(statement)
        if (isSet && !isSettable({ ctx, request, response, cookies }[object], name)) return
        try {
          // eslint-disable-next-line no-new-func -- the statements are of this file
          new Function('ctx', 'request', 'response', 'cookies', `'use strict'; ${statement}`)(ctx, request, response, cookies)
        } catch (err) {
          if (!(err instanceof Kone.HttpError)) failed.push(`${statement}: ${err.message}`) // of ctx.throw and ctx.assert
        }
      })
      await app.inject({ url: '/', headers: { 'X-Forwarded-Proto': 'https' } })
    }
    assert.deepEqual(failed, [])
    assert(statements.length > 200, `${statements.length} statements`)
  })

  it('should accept each type that @types/koa accepts', () => {
    const statements = statementsOf('koa')
    const text = "import Kone = require('../../lib/index')\n" +
      Object.entries(OBJECTS).map(([name, type]) => `declare const ${name}: Kone.${type}`).join('\n') + '\n' +
      statements.map(statement => `;() => { ${statement} }`).join('\n')
    const { found } = inMemory(ts, path.join(ROOT, 'test/types/accepted.cts'), text, OPTIONS)
    assert.deepEqual(found, [])
    assert(statements.length > 200, `${statements.length} statements`)
  })
})
