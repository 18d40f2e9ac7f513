'use strict'

const convert = require('../_shared/json-schema')
const { keyOf } = require('./options')

// What a property cannot say in JSON Schema is of no matter for the others.
const LENIENT = { zod: { unrepresentable: 'any' }, arktype: { fallback: ({ base }) => base }, valibot: { errorMode: 'ignore' } }

/**
 * A schema of the query that takes one value for a list of one: `?tag=a` is ['a'] where the schema has a list of
 * `tag`, because a client sends a list so (OpenAPI: style form, explode). Only the JSON Schema says what is a list, and
 * only a query that was refused is tried again, so that a schema that splits the text itself gets the text.
 *
 * @param {object} schema Standard Schema
 * @return {{ validate: function(object): object }} its `validate()` writes the lists to its argument
 * @api private
 */
module.exports = function lists (schema) {
  const standard = schema['~standard']
  let names // of lists

  function again (input, refused) {
    names ??= listsOf(schema)
    const single = refused.issues.map(({ path }) => path?.length === 1 ? keyOf(path[0]) : undefined)
      .filter(name => names.has(name) && typeof input[name] === 'string')
    if (single.length === 0) return refused

    const before = { ...input }
    for (const name of single) input[name] = [before[name]]
    const failed = () => {
      Object.assign(input, before)
      return refused
    }
    try {
      const result = standard.validate(input)
      return typeof result?.then === 'function' ? result.then(undefined, failed) : result
    } catch {
      return failed()
    }
  }

  const conclude = (input, result) => Array.isArray(result?.issues) ? again(input, result) : result

  return {
    validate (input) {
      const result = standard.validate(input)
      return typeof result?.then === 'function' ? result.then(result => conclude(input, result)) : conclude(input, result)
    }
  }
}

/** The names of properties whose value must be a list. */
function listsOf (schema) {
  const names = new Set()
  try {
    const json = convert(schema, LENIENT)
    const resolve = one => one?.$ref === undefined ? one : resolve(pointed(json, one.$ref))
    const collect = ({ properties = {}, allOf = [] }) => {
      for (const [name, one] of Object.entries(properties)) {
        if (convert.isOnly(['array'], one, resolve)) names.add(name)
      }
      for (const one of allOf) collect(resolve(one))
    }
    collect(resolve(json))
  } catch {
    // without a converter nobody knows
  }
  return names
}

function pointed (json, ref) {
  return convert.namesIn(ref).slice(1).reduce((value, name) => value[name], json)
}
