'use strict'

/**
 * kone in Koa's place, without installing anything: for trying it, not for production.
 *
 *    NODE_OPTIONS='--require kone/as-koa' npm test
 *
 * It goes by the file that was found, not by the name that was requested: Vite and others resolve names themselves.
 * Node 22.15 and later resolve imports in this thread; before that, hooks.mjs does it in a thread of its own.
 */

const nodeModule = require('node:module')
const { pathToFileURL } = require('node:url')
const { isInternalThread } = require('node:worker_threads')
const { Replacement } = require('./replacement')
const { refuseBundles, refuseOwnLoaders } = require('./unreplaced')

const replacement = new Replacement()

const resolveFilename = nodeModule._resolveFilename

// Also `require.resolve()`, of which registerHooks() of Node 22 is not notified.
nodeModule._resolveFilename = function (request, parent, ...rest) {
  const file = resolveFilename.call(this, request, parent, ...rest)
  return replacement.of(file) ?? replacement.ofDependency(request, parent?.filename) ?? file
}

function resolve (specifier, context, next) {
  return replacement.ofImport(next(specifier, context))
}

// Node 22 runs hooks of module.register() (Yarn's, OpenTelemetry's) in a thread of its own, which loads this file, too,
// and cannot resolve for hooks of registerHooks().
if (nodeModule.registerHooks === undefined) {
  nodeModule.register?.('./hooks.mjs', { parentURL: pathToFileURL(__filename), data: replacement.shared })
} else if (!isInternalThread) nodeModule.registerHooks({ resolve })

refuseOwnLoaders(replacement)
refuseBundles(replacement)

module.exports = replacement
