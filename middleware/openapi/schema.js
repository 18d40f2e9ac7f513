'use strict'

const { isDeepStrictEqual } = require('util')
const { isObject } = require('../../lib/shared/options')
const convert = require('../_shared/json-schema')

const TYPES = ['null', 'boolean', 'object', 'array', 'number', 'string', 'integer']
// Keywords that hold a schema or a list of them, and those that hold schemas by name. Others hold values and an app's
// notes (`meta()` of zod), whatever these look like.
const SCHEMAS = [
  'additionalProperties', 'allOf', 'anyOf', 'contains', 'contentSchema', 'else', 'if', 'items', 'not', 'oneOf', 'prefixItems',
  'propertyNames', 'then', 'unevaluatedItems', 'unevaluatedProperties'
]
const BY_NAME = ['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas']

/**
 * The schemas of one document: a schema's `$defs` become components, and its references point to them.
 */
class Components {
  schemas = {} // name → as the document has it
  sources = {} // name → what it was made of

  /**
   * @param {any} given JSON Schema
   * @param {string} hint name, if it has to be a component and has no `id` or `title`
   * @return {object} for the document
   * @throws {Error} for what is not a JSON Schema: its place and why
   */
  add (given, hint) {
    const { $schema, $id, id, ...json } = copy(given, [], [])
    const { $defs, definitions, ...bare } = json
    const defs = { ...definitions, ...$defs }
    const names = byName(defs, name => this.reserve(name, defs[name]))
    const isName = typeof id === 'string' && /^[\w.-]+$/.test(id)
    const refersToItself = JSON.stringify(json).includes('"$ref":"#"') || /"\$ref":"#\/(?!\$defs\/|definitions\/)/.test(JSON.stringify(json))
    const root = isName || refersToItself ? this.reserve(isName ? id : bare.title ?? hint, bare) : undefined

    const rewrite = ref => {
      if (ref === '#' || ref === $id) return `#/components/schemas/${root}`
      const [, holder, name, rest] = /^#\/(?:(\$defs|definitions)\/([^/]+)(?=\/|$))?(.*)$/.exec(ref) ?? []
      if (name !== undefined) {
        const [key] = convert.namesIn(name)
        if (holder !== undefined && Object.hasOwn(names, key)) return `#/components/schemas/${names[key]}${rest}`
      } else if (rest !== undefined && pointed(json, rest)) {
        return `#/components/schemas/${root}/${rest}`
      }
      if (!ref.startsWith('#')) return ref
      throw new Error(`$ref '${ref}' points to nothing`)
    }
    for (const [name, def] of Object.entries(defs)) this.schemas[names[name]] = refer(def, rewrite)
    const schema = refer(bare, rewrite)
    if (root !== undefined) this.schemas[root] = schema
    for (const one of [schema, ...Object.values(names).map(name => this.schemas[name])]) this.follow(one)
    return root === undefined ? schema : { $ref: `#/components/schemas/${root}` }
  }

  /** @return {string} the name of the component from now on: with a number if another schema has it */
  reserve (name, schema) {
    const plain = String(name).replace(/[^\w.-]+/g, '_') || 'Schema'
    let unique = plain
    for (let i = 2; unique in this.schemas && !isDeepStrictEqual(this.sources[unique], schema); i++) unique = `${plain}${i}`
    this.sources[unique] = schema
    this.schemas[unique] ??= {}
    return unique
  }

  /** A chain of references must end at a schema. */
  follow ({ $ref }, passed = []) {
    const name = /^#\/components\/schemas\/([^/]+)$/.exec($ref)?.[1]
    if (name === undefined) return
    if (passed.includes(name)) throw new Error(`$ref is circular and has no schema: ${[...passed, name].join(' → ')}`)
    this.follow(this.schemas[name], [...passed, name])
  }

  /** @return {object} the schema itself, if it is a reference to a component */
  resolve (schema) {
    const name = /^#\/components\/schemas\/([^/]+)$/.exec(schema.$ref)?.[1]
    return name === undefined ? schema : this.resolve(this.schemas[name])
  }
}

function pointed (json, pointer) {
  return convert.namesIn(pointer).reduce((value, name) => value?.[name], json) !== undefined
}

/** A copy without what JSON cannot have, such as the symbols of TypeBox. @return {any} */
function copy (schema, place, above) {
  const at = place.length === 0 ? 'the schema' : place.join('.')
  if (typeof schema === 'boolean' && place.length > 0) return schema
  if (schema === null || typeof schema !== 'object' || Array.isArray(schema)) throw new Error(`${at} is not a JSON Schema`)
  if (above.includes(schema)) throw new Error(`${at} is circular: use $ref`)
  const inner = (value, ...keys) => copy(value, [...place, ...keys], [...above, schema])
  const copied = {}
  for (const [key, value] of Object.entries(schema)) {
    if (value === undefined || typeof value === 'function') continue
    check(key, value, at)
    if (BY_NAME.includes(key)) copied[key] = byName(value, name => inner(value[name], key, name))
    else if (!SCHEMAS.includes(key)) copied[key] = Object(value) === value ? JSON.parse(JSON.stringify(value)) : value
    else copied[key] = Array.isArray(value) ? value.map((one, i) => inner(one, key, i)) : inner(value, key)
  }
  return copied
}

function byName (object, make) {
  return Object.fromEntries(Object.keys(object).map(name => [name, make(name)]))
}

function check (key, value, at) {
  const fits = {
    type: () => [value].flat().every(type => TYPES.includes(type)),
    required: () => Array.isArray(value) && value.every(name => typeof name === 'string'),
    enum: () => Array.isArray(value),
    items: () => isObject(value) || typeof value === 'boolean',
    $ref: () => typeof value === 'string',
    pattern: () => typeof value === 'string' && isPattern(value)
  }[key] ?? (() => !BY_NAME.includes(key) || isObject(value))
  if (!fits()) throw new Error(`${at} has a ${key} that is not one of JSON Schema: ${JSON.stringify(value)}`)
}

/** Also without the flag `u`, which knows no needless escapes: the schema itself has it so. */
function isPattern (text) {
  return ['u', ''].some(flags => {
    try {
      return new RegExp(text, flags) instanceof RegExp
    } catch {
      return false
    }
  })
}

function refer (schema, rewrite) {
  if (Array.isArray(schema)) return schema.map(one => refer(one, rewrite))
  if (schema === null || typeof schema !== 'object') return schema
  return Object.fromEntries(Object.entries(schema).map(([key, value]) => {
    if (key === '$ref') return [key, rewrite(value)]
    if (BY_NAME.includes(key)) return [key, byName(value, name => refer(value[name], rewrite))]
    return [key, SCHEMAS.includes(key) ? refer(value, rewrite) : value]
  }))
}

module.exports = Components
