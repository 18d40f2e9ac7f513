'use strict'

/** What the engines share; none of it knows an engine. */
const BETWEEN = 'engines/(?:objects/|(?:contract|errors|field-names|rest)\\.js$)'

/*
 * Imports point one way. test/consumers/package/imports.test.js checks these rules.
 */
module.exports = {
  forbidden: [
    {
      name: 'lib-is-closed',
      comment: 'lib requires only lib, node and packages',
      severity: 'error',
      from: { path: '^lib/' },
      to: { path: '^(?!lib/|node_modules/)', dependencyTypesNot: ['core', 'npm', 'npm-dev'] }
    },
    {
      name: 'application-is-on-top',
      comment: 'only kone/bluebird and kone@3, which extend the class, require lib/application.js',
      severity: 'error',
      from: { path: '^lib/', pathNot: '^lib/(?:bluebird|koa3)\\.js$' },
      to: { path: '^lib/application\\.js$' }
    },
    {
      name: 'front-knows-no-koa',
      comment: 'the front can be read and used without the framework: it knows only the contract of an engine',
      severity: 'error',
      from: { path: '^lib/front/' },
      to: { path: `^lib/(?!front/|shared/|${BETWEEN})` }
    },
    {
      name: 'front-reaches-no-koa',
      comment: 'nor does what it requires: http-errors, for example, is given to engines/errors.js by core/errors.js',
      severity: 'error',
      from: { path: '^lib/front/' },
      to: { path: `^node_modules/|^lib/(?!front/|shared/|${BETWEEN})`, reachable: true }
    },
    {
      name: 'engines-know-no-koa',
      comment: 'an engine gets what it needs of the core: see the parameters of Host',
      severity: 'error',
      from: { path: '^lib/engines/' },
      to: { path: '^lib/(?!engines/|shared/)' }
    },
    {
      name: 'pure-parts',
      comment: 'what runs for every request by itself depends on nothing',
      severity: 'error',
      from: { path: '^lib/(?:compose|final|front/output/writer)\\.js$' },
      to: { dependencyTypesNot: ['core'], pathNot: '^lib/shared/(?:text|timers)\\.js$' }
    },
    {
      name: 'middleware-knows-no-kone',
      comment: 'the set works in Koa, too: of lib it requires only lib/shared, which knows nothing of an app',
      severity: 'error',
      from: { path: '^middleware/' },
      to: { path: '^lib/(?!shared/)' }
    },
    {
      name: 'shared-stand-alone',
      comment: 'lib/shared requires nothing else of lib, and no package but http-errors',
      severity: 'error',
      from: { path: '^lib/shared/' },
      to: { dependencyTypesNot: ['core'], pathNot: ['^lib/shared/', '^node_modules/http-errors/'] }
    },
    {
      name: 'middleware-stand-alone',
      comment: 'a middleware shares code with others only by _shared; views is another name of template',
      severity: 'error',
      from: { path: '^middleware/([^/]+)/', pathNot: '^middleware/views/' },
      to: { path: '^middleware/', pathNot: '^middleware/(?:$1|_shared)/' }
    },
    {
      name: 'declared',
      comment: 'what the package requires is among its dependencies, or an optional peer',
      severity: 'error',
      from: { path: '^(?:lib|middleware)/' },
      to: { pathNot: '^node_modules/(?:prom-client|ws|fast-json-stringify|@valibot/to-json-schema)/', dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown', 'unknown', 'undetermined'] }
    },
    {
      name: 'resolvable',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true }
    },
    {
      name: 'no-circles',
      severity: 'error',
      from: { path: '^(?:lib|middleware)/' },
      to: { circular: true }
    }
  ],
  options: { doNotFollow: { path: 'node_modules' }, exclude: { path: '\\.d\\.mts$' }, moduleSystems: ['cjs', 'es6'] }
}
