'use strict'

const JSON_TYPE = 'application/json'
const FORM = 'application/x-www-form-urlencoded'
const MULTIPART = 'multipart/form-data'
const FILE = { type: 'string', format: 'binary' }
const WITH_BODY = ['post', 'put', 'patch']

// For each type an example of what a form may have for a property: a form is text.
const TEXTS = { number: '1', integer: '1', boolean: 'true' }

/**
 * What a route accepts as its body: the schemas of `validate()`, in the types that the body parsers before it parse.
 *
 * @param {import('../_shared/described').Description[]} given of the functions that run for the route
 * @param {string} method in lower case
 * @param {function(object, string): object} jsonOf JSON Schema of a Standard Schema
 * @param {import('./schema')} store
 * @return {object | undefined} a Request Body Object
 * @api private
 */
function requestBodyOf (given, method, jsonOf, store) {
  const parsers = given.map(({ body }) => body)
    .filter(one => one !== undefined && (one.methods === undefined || one.methods.has(method.toUpperCase())))
  const schemas = given.map(({ schemas }) => schemas?.body).filter(Boolean)
  const json = schemas.map(schema => jsonOf(schema, 'body')).reduce(both, undefined)
  if (json === undefined && !WITH_BODY.includes(method)) return undefined

  const shape = json && store.resolve(json)
  const content = {}
  for (const { types, files } of parsers) {
    for (const type of json === undefined ? [] : types) {
      if (fits(type, shape, store, schemas)) content[type] = { schema: json }
    }
    if (files === undefined || (json !== undefined && !fits(MULTIPART, shape, store, schemas))) continue
    content[MULTIPART] = { schema: withFiles(shape, files) }
  }
  if (Object.keys(content).length > 0) return { required: json !== undefined, content }
  // the parser is another package's
  return json && { required: true, content: { [JSON_TYPE]: { schema: json } } }
}

function fits (type, shape, store, schemas) {
  if (type === JSON_TYPE) return shape.type !== 'string'
  return type === FORM || type === MULTIPART ? isForm(shape, store, schemas) : isText(shape, store)
}

/** A form is an object of texts, which a schema accepts or converts. */
function isForm (shape, store, schemas) {
  return shape.type === 'object' && Object.entries(shape.properties ?? {}).every(([name, property]) =>
    isText(property, store) || schemas.every(schema => converts(schema, name, TEXTS[property.type])))
}

function isText (schema, store) {
  const { type, anyOf, enum: values } = store.resolve(schema)
  if (type !== undefined) return [type].flat().includes('string')
  return (anyOf?.some(one => isText(one, store)) ?? true) && (values?.every(value => typeof value === 'string') ?? true)
}

// Only the schema knows whether it converts text: JSON Schema has no word for that.
function converts (schema, name, text) {
  if (text === undefined) return false
  try {
    const result = schema['~standard'].validate({ [name]: text })
    if (typeof result?.then !== 'function') return !result.issues?.some(({ path: [key] = [] }) => (key?.key ?? key) === name)
    result.then(undefined, () => {}) // an asynchronous schema is not awaited
  } catch {
    // nor is one that throws
  }
  return false
}

/** The files of `upload()` beside the fields of a form. */
function withFiles (shape = { type: 'object' }, files) {
  if (files === true) return { ...shape, additionalProperties: FILE }
  const named = files.map(({ name, maxCount }) => [name, maxCount === 1 ? FILE : { type: 'array', items: FILE, maxItems: maxCount }])
  return { ...shape, properties: { ...shape.properties, ...Object.fromEntries(named) } }
}

/** What fits the two of them: every `validate()` of a route runs. */
function both (one, other) {
  return one === undefined ? other : { allOf: [one, other] }
}

module.exports = { both, requestBodyOf }
