'use strict'

const fs = require('fs')
const { STATUS_CODES } = require('http')
const { isOfApp, placeOfFunction } = require('../../lib/shared/places')
const { descriptionOf } = require('../_shared/described')
const convert = require('../_shared/json-schema')
const { misuse } = require('../_shared/usage-error')
const { both, requestBodyOf } = require('./body')
const templatesOf = require('./path')
const Components = require('./schema')

/** Of a middleware: it is one of websocket(). */
const kUpgrade = Symbol.for('kone.upgrade')

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'] // that OpenAPI has
const PLACES = { params: 'path', query: 'query', headers: 'header', cookies: 'cookie' }
const EVENTS = 'text/event-stream'
const NOT_HEADERS = ['accept', 'content-type', 'authorization'] // OpenAPI describes them elsewhere
const PROBLEM = {
  type: 'object',
  required: ['type', 'title', 'status', 'issues'],
  properties: {
    type: { type: 'string' },
    title: { type: 'string' },
    status: { type: 'integer' },
    issues: {
      type: 'array',
      items: {
        type: 'object',
        required: ['in', 'path', 'message'],
        properties: {
          in: { enum: ['params', 'query', 'headers', 'cookies', 'body'] },
          path: { type: 'array', items: { type: ['string', 'integer'] } },
          message: { type: 'string' }
        }
      }
    }
  }
}

/**
 * @param {any} app
 * @return {any[]} its routers, each once
 */
function routersOf (app) {
  return [...new Set(app.middleware.map(fn => fn.router).filter(Boolean))]
}

/**
 * @param {any} app
 * @param {{ info?, servers?, tags?, security?, components? }} options
 * @return {{ document: object, warnings: string[], described: Map<any, Record<string, any>> }} described:
 *   `{ name, responses }` of each route by its method; `name()` looks up where its functions are
 * @throws {TypeError} naming route, file and line
 */
function describe (app, { info, servers, tags, security, components }) {
  const store = new Components()
  const paths = {}
  const ids = new Set()
  const warnings = []
  const described = new Map()
  Object.assign(store.schemas, components?.schemas)
  for (const router of routersOf(app)) {
    const around = app.middleware.slice(0, app.middleware.findIndex(fn => fn.router === router))
    for (const route of routesOf(router)) {
      warnings.push(...warningsOf(route))
      if (route.operation.hidden || route.later || paths[route.key]?.[route.method]) continue
      try {
        const operation = operationOf(route, around, store, ids, components?.securitySchemes)
        const path = paths[route.key] ??= {}
        path.template ??= route.template
        path[route.method] = { ...operation, ...renamed(operation, route, path.template) }
        const { responses } = operation
        const methods = described.get(route.layer)
        described.set(route.layer, { ...methods, [route.method]: { name: () => nameOf(route), responses } })
      } catch (cause) {
        throw misuse('openapi', `${nameOf(route)}: ${cause.message}`, { cause })
      }
    }
  }
  const document = {
    openapi: '3.1.0',
    info: { ...defaults(), ...JSON.parse(JSON.stringify(info ?? {})) }, // without what is undefined
    servers,
    tags,
    security,
    paths: Object.fromEntries(Object.values(paths).map(({ template, ...methods }) => [template, methods])),
    components: { ...components, schemas: store.schemas }
  }
  return { document: JSON.parse(JSON.stringify(document)), warnings, described }
}

// OpenAPI allows `/{id}` and `/{name}` once: a path's params have the names of its first route.
function renamed ({ parameters }, { template }, first) {
  if (template === first || parameters === undefined) return {}
  const [names, others] = [first, template].map(text => [...text.matchAll(/\{([^{}]*)\}/g)].map(([, name]) => name))
  return {
    parameters: parameters.map(one => one.in === 'path' ? { ...one, name: names[others.indexOf(one.name)] } : one)
  }
}

function defaults () {
  try {
    const { name = 'API', version = '0.0.0' } = JSON.parse(fs.readFileSync('package.json', 'utf8'))
    return { title: name, version }
  } catch {
    return { title: 'API', version: '0.0.0' }
  }
}

/** Every method of every template of a router, with the functions that may run for it. */
function routesOf ({ stack, exclusive }) {
  const routes = []
  for (const layer of stack) {
    if (typeof layer.path !== 'string') continue // OpenAPI has no regular expressions
    for (const { template, params, samples } of templatesOf(layer.path, layer.opts.syntax === 8 ? 8 : 6)) {
      for (const method of methodsOf(layer)) {
        const isSampled = samples.every(sample => layer.regexp.test(sample))
        const layers = stack.filter(other => other === layer || (isSampled && accepts(other, method) &&
          samples.every(sample => other.regexp.test(sample))))
        const later = exclusive ? layers.slice(layers.indexOf(layer) + 1).find(isRoute) : undefined
        routes.push({
          key: template.replace(/\{[^{}]*\}/g, '{}'),
          template,
          params,
          method,
          layer,
          operation: layer.operation ?? {},
          fns: exclusive ? layer.stack : functionsOf(layers, layer.path),
          before: exclusive ? [] : layers.slice(0, layers.indexOf(layer)).filter(isRoute),
          later // runs instead
        })
      }
    }
  }
  return routes
}

/** Those of a layer that the document has, in OpenAPI's order. */
function methodsOf (layer) {
  const isAll = layer.methods.length > METHODS.length
  return METHODS.filter(method => {
    if (!isRoute(layer) || !accepts(layer, method) || (method === 'head' && accepts(layer, 'get'))) return false
    return !isAll || (layer.operation !== undefined && !['head', 'options', 'trace'].includes(method))
  })
}

function accepts ({ methods }, method) {
  return methods.length === 0 || methods.includes(method.toUpperCase())
}

/** Not of `use()`. */
function isRoute ({ methods }) {
  return methods.length > 0
}

/** Up to the last route of this path: whether one of them calls `next`, nobody knows. */
function functionsOf (layers, path) {
  const last = layers.findLastIndex(layer => isRoute(layer) && layer.path === path)
  return layers.slice(0, last + 1).flatMap(({ stack }) => stack)
}

/**
 * For warnings alone: does this function end the chain? One that has no `next`, or does not use it, cannot call the
 * one after it. Its source text tells.
 */
function endsHere (fn) {
  const text = Function.prototype.toString.call(fn)
  if (fn.param || /^[^{=]*\.\.\.|\barguments\b/.test(text)) return false
  const [, name] = /^[^(]*\([^,(){}]*,\s*([\w$]+)/.exec(text) ?? []
  return fn.length < 2 || (name !== undefined && text.split(name).length === 2)
}

function warningsOf (route) {
  const { layer, method, before, later } = route
  const other = later ?? before.find(({ stack }) => stack.some(endsHere))
  if (other !== undefined) {
    return [`openapi: ${nameOf(route)} is never reached: ${method.toUpperCase()} ${other.path}${placeOf(other.stack)} matches ` +
      (later === undefined ? 'first and its handler has no `next`' : 'later, and `exclusive` runs the last one')]
  }
  const last = layer.stack.findIndex(endsHere)
  if (last === -1 || last === layer.stack.length - 1) return []
  return [`openapi: ${nameOf(route)} has a handler that is never reached: the one before it has no \`next\``]
}

function nameOf ({ method, layer }) {
  return `${method.toUpperCase()} ${layer.path}${placeOf(layer.stack)}`
}

// Of the last handler that the app wrote.
function placeOf (handlers) {
  const places = handlers.toReversed().map(placeOfFunction)
  const place = places.find(place => place !== null && isOfApp(place.file))
  return place === undefined ? '' : ` (${place.file}:${place.row})`
}

function operationOf (route, around, store, ids, schemes = {}) {
  const { hidden, name, responses, operationId, ...fields } = route.operation
  const descriptions = [...around, ...route.fns].map(descriptionOf)
  const given = descriptions.map(({ schemas }) => schemas).filter(Boolean)
  const hint = pascal(operationId ?? route.layer.name ?? `${route.method} ${route.template}`)
  const jsonOf = (schema, part) => {
    try {
      return store.add(convert(schema), `${hint}${pascal(part)}`)
    } catch (cause) {
      throw new Error(`the schema of ${part} cannot be described: ${cause.message}`, { cause })
    }
  }
  for (const scheme of (fields.security ?? []).flatMap(Object.keys)) {
    if (!Object.hasOwn(schemes, scheme)) throw new Error(`security '${scheme}' is not one of options.components.securitySchemes`)
  }

  const operation = { ...fields, operationId: unique(operationId ?? route.layer.name, ids) }
  const parameters = allParameters(route.params, given, jsonOf, store)
  if (parameters.length > 0) operation.parameters = parameters
  operation.requestBody = requestBodyOf(descriptions, route.method, jsonOf, store)
  const streams = route.layer.stack.some(fn => descriptionOf(fn).sendsEvents)
  const upgrades = route.layer.stack.some(fn => fn[kUpgrade] === true)
  operation.responses = responsesOf(given, responses, jsonOf, store, upgrades ? '101' : streams ? '200' : 'default')
  const { 200: ok } = operation.responses
  if (streams && ok) operation.responses[200] = { content: { [EVENTS]: {} }, ...ok }
  return operation
}

/** Those of the path, and of every schema: one that several have fits all of them. */
function allParameters (params, given, jsonOf, store) {
  const validated = new Map()
  for (const schemas of given) {
    for (const [part, place] of Object.entries(PLACES)) {
      if (schemas[part] === undefined) continue
      for (const one of parametersOf(jsonOf(schemas[part], part), place, store)) {
        if (place === 'path' && !(one.name in params)) continue
        const key = `${place} ${one.name}`
        const { required = false, schema } = validated.get(key) ?? {}
        validated.set(key, { ...one, required: required || one.required, schema: both(schema, one.schema) })
      }
    }
  }
  const ofPath = Object.entries(params).map(([name, pattern]) =>
    [`path ${name}`, { name, in: 'path', required: true, schema: { type: 'string', pattern: pattern ?? undefined } }])
  return [...new Map(/** @type {any[]} */ ([...ofPath, ...validated])).values()]
}

/** @return {any[]} */
function parametersOf (given, place, store) {
  const schema = store.resolve(given)
  if (schema.properties === undefined) {
    return place === 'query' ? [{ name: 'query', in: place, style: 'form', explode: true, schema: given }] : []
  }
  return Object.entries(schema.properties)
    .filter(([name]) => place !== 'header' || !NOT_HEADERS.includes(name.toLowerCase()))
    .map(([name, { description, deprecated, ...rest }]) => ({
      name,
      in: place,
      description,
      deprecated,
      required: place === 'path' || (schema.required ?? []).includes(name),
      ...styleOf(name, place, rest, store),
      schema: rest
    }))
}

/** How an object and a list are written, beside the list of the query, whose style is OpenAPI's default. */
function styleOf (name, place, schema, store) {
  const isOnly = (...types) => convert.isOnly(types, schema, one => store.resolve(one))
  if (place === 'query') return isOnly('object') ? { style: 'deepObject', explode: true } : {} // as koa-qs parses it
  if (!isOnly('array', 'object')) return {}
  throw new Error(`'${name}' can be no list and no object, because ${place === 'path' ? 'a param of the path' : `a ${place}`} is text: ` +
    'the schema has to accept text, and may split it')
}

/** `undeclared`: what a route has that declares no success, because its handler chooses the status. */
function responsesOf (given, declared = {}, jsonOf, store, undeclared) {
  const responses = {}
  const successes = Object.keys(declared).filter(status => /^2(?:\d\d|XX)$/.test(status) && !['204', '205'].includes(status))
  for (const { response } of given) {
    for (const [range, schema] of Object.entries(response ?? {})) {
      for (const status of range !== '2XX' ? [range] : successes.length > 0 ? successes : ['200']) {
        const json = both(responses[status]?.content['application/json'].schema, jsonOf(schema, `response ${status}`))
        responses[status] = { description: textOf(status), content: { 'application/json': { schema: json } } }
      }
    }
  }
  for (const [status, one] of Object.entries(declared)) {
    responses[status] = { description: textOf(status), ...responses[status], ...typeof one === 'string' ? { description: one } : one }
  }
  if (!Object.keys(responses).some(status => status < '4' || status === 'default')) {
    responses[undeclared] = { description: textOf(undeclared) }
  }
  const refuses = ({ response, serialize, onError, ...parts }) => onError === undefined && Object.keys(parts).length > 0
  if (given.some(refuses)) {
    store.schemas.Problem ??= PROBLEM
    responses[400] = {
      description: 'The request is not valid',
      content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
      ...responses[400]
    }
  }
  return responses
}

function textOf (status) {
  return STATUS_CODES[status] ?? 'Response'
}

function unique (id, ids) {
  if (typeof id !== 'string') return undefined
  let free = id
  for (let i = 2; ids.has(free); i++) free = `${id}_${i}`
  ids.add(free)
  return free
}

function pascal (text) {
  return String(text).replace(/[^A-Za-z0-9]+(.?)/g, (all, first) => first.toUpperCase()).replace(/^./, first => first.toUpperCase())
}

module.exports = { describe, routersOf }
