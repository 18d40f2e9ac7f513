'use strict'

const { relative } = require('node:path')
const { placeOfFunction } = require('../lib/shared/places')
const { routersOf } = require('../middleware/openapi/document')

/**
 * The routes of an app: of every router among its middleware, kone's or of a package with
 * koa-router's `stack`.
 *
 *    routesOf(app) // [{ method: 'GET', path: '/users/:id', middleware: ['validate', 'show'] }]
 *
 * @param {Application} app
 * @return {object[]} in the order of registration
 */
function routesOf (app) {
  return routersOf(app).flatMap(({ stack }) => stack).flatMap(layer => methodsOf(layer).map(method => {
    return { method, path: String(layer.path), middleware: layer.stack.map(nameOf) }
  }))
}

// A layer of GET responds to HEAD, too, and one of `all` to every method.
function methodsOf ({ methods }) {
  if (methods.length > 20) return ['*']
  return methods.filter(method => method !== 'HEAD' || !methods.includes('GET'))
}

/**
 * The names of what runs for every request.
 *
 * @param {Application} app
 * @return {string[]}
 */
function middlewareOf (app) {
  return app.middleware.filter(fn => !fn.router).map(nameOf)
}

/**
 * @param {object[]} routes
 * @return {string[]} lines of three columns
 */
function lines (routes) {
  const width = name => Math.max(0, ...routes.map(route => route[name].length))
  const [method, path] = [width('method'), width('path')]
  return routes.map(route => {
    return `${route.method.padEnd(method)}  ${route.path.padEnd(path)}  ${route.middleware.join(', ')}`.trimEnd()
  })
}

function nameOf (fn) {
  const name = fn._name || fn.name
  if (name) return name
  const place = placeOfFunction(fn)
  return place === null ? '(anonymous)' : `(anonymous at ${relative(process.cwd(), place.file)}:${place.row})`
}

module.exports = { routesOf, middlewareOf, lines }
