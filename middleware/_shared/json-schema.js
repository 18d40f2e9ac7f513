'use strict'

const MAX_DEPTH = 10 // of alternatives in one another: a schema may refer to itself

/**
 * JSON Schema of a schema, by the library's own converter.
 *
 * @param {object | Function} schema a Standard Schema, or JSON Schema
 * @param {Record<string, object>} [settings] of the converters, by vendor
 * @return {object} JSON Schema 2020-12 of what the schema accepts
 * @throws {Error} if the library has no converter, or its converter cannot express the schema
 */
module.exports = function convert (schema, settings) {
  const standard = schema['~standard']
  if (standard === undefined) return schema
  const { input } = standard.jsonSchema ?? {}
  const libraryOptions = settings?.[standard.vendor]
  if (typeof input === 'function') return input({ target: 'draft-2020-12', libraryOptions })
  if (standard.vendor === 'valibot') return valibot(schema, libraryOptions)
  throw new Error(`${standard.vendor} has no converter to JSON Schema (\`~standard.jsonSchema\`): ` +
    'update it, or wrap the schema by the converter that it recommends')
}

/**
 * The names in a part of a JSON Pointer, as a `$ref` has it (RFC 6901, 3 and 6).
 *
 *    namesIn('$defs/a~1b')   // ['$defs', 'a/b']
 *
 * @param {string} pointer without the `#/` in front
 * @return {string[]}
 */
module.exports.namesIn = pointer =>
  pointer.split('/').map(name => decodeURIComponent(name).replaceAll('~1', '/').replaceAll('~0', '~'))

/**
 * Must the value be of one of these types? `null` counts for none.
 *
 * @param {string[]} types of JSON Schema
 * @param {object} schema JSON Schema
 * @param {function(object): object} resolve gives what a `$ref` points to
 * @return {boolean}
 */
module.exports.isOnly = function isOnly (types, schema, resolve, depth = 0) {
  const { type, anyOf, oneOf, allOf } = resolve(schema)
  if (type !== undefined) {
    const others = [type].flat().filter(one => one !== 'null')
    return others.length > 0 && others.every(one => types.includes(one))
  }
  if (depth === MAX_DEPTH) return false
  const inside = one => isOnly(types, one, resolve, depth + 1)
  const branches = (anyOf ?? oneOf)?.filter(one => one.type !== 'null')
  return branches === undefined ? allOf?.some(inside) ?? false : branches.length > 0 && branches.every(inside)
}

function valibot (schema, settings) {
  let toJsonSchema
  try {
    ({ toJsonSchema } = require('@valibot/to-json-schema'))
  } catch (cause) {
    throw new Error("valibot's converter is missing: npm install @valibot/to-json-schema", { cause })
  }
  return toJsonSchema(schema, { typeMode: 'input', target: 'draft-2020-12', ...settings })
}
