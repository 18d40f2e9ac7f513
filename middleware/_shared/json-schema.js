'use strict'

/**
 * JSON Schema of a schema, by the library's own converter.
 *
 * @param {object | Function} schema a Standard Schema, or JSON Schema
 * @return {object} JSON Schema 2020-12 of what the schema accepts
 * @throws {Error} if the library has no converter, or its converter cannot express the schema
 */
module.exports = function convert (schema) {
  const standard = schema['~standard']
  if (standard === undefined) return schema
  const { input } = standard.jsonSchema ?? {}
  if (typeof input === 'function') return input({ target: 'draft-2020-12' })
  if (standard.vendor === 'valibot') return valibot(schema)
  throw new Error(`${standard.vendor} has no converter to JSON Schema (\`~standard.jsonSchema\`): ` +
    'update it, or wrap the schema by the converter that it recommends')
}

function valibot (schema) {
  let toJsonSchema
  try {
    ({ toJsonSchema } = require('@valibot/to-json-schema'))
  } catch (cause) {
    throw new Error("valibot's converter is missing: npm install @valibot/to-json-schema", { cause })
  }
  return toJsonSchema(schema, { typeMode: 'input', target: 'draft-2020-12' })
}
