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
const { fileURLToPath, pathToFileURL } = require('node:url')
const { Replacement } = require('./replacement')
const { refuseBundles, refuseOwnLoaders } = require('./unreplaced')

const replacement = new Replacement()

const resolveFilename = nodeModule._resolveFilename

// Also `require.resolve()`, of which registerHooks() of Node 22 is not notified.
nodeModule._resolveFilename = function (request, parent, ...rest) {
  const file = resolveFilename.call(this, request, parent, ...rest)
  return replacement.of(file) ?? replacement.shared(request, parent?.filename) ?? file
}

/** An import's URL, or that of kone's file. */
function resolve (specifier, context, next) {
  const found = next(specifier, context)
  const file = found.url.startsWith('file:') ? replacement.of(fileURLToPath(found.url)) : null
  return file === null ? found : { ...found, url: pathToFileURL(file).href, format: file.endsWith('.json') ? 'json' : 'commonjs' }
}

if (nodeModule.registerHooks) nodeModule.registerHooks({ resolve })
else nodeModule.register?.('./hooks.mjs', { parentURL: pathToFileURL(__filename), data: replacement.reported })

refuseOwnLoaders(replacement)
refuseBundles(replacement)

module.exports = replacement
