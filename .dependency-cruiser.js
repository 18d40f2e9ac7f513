'use strict'

/*
 * Imports point one way. test/package.test.js checks these rules.
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
      comment: 'only kone/bluebird, which extends the class, and the ES module require lib/application.js',
      severity: 'error',
      from: { path: '^lib/', pathNot: '^lib/(?:bluebird\\.js|index\\.mjs)$' },
      to: { path: '^lib/application\\.js$' }
    },
    {
      name: 'http1-knows-no-koa',
      comment: 'the front can be read and used without the framework',
      severity: 'error',
      from: { path: '^lib/http1/' },
      to: { path: '^lib/(?!http1/)' }
    },
    {
      name: 'pure-parts',
      comment: 'what runs for every request by itself depends on nothing',
      severity: 'error',
      from: { path: '^lib/(?:compose|final|http1/input/partial|http1/output/writer)\\.js$' },
      to: { dependencyTypesNot: ['core'], pathNot: '^lib/http1/(?:input/headers|detach)\\.js$' }
    },
    {
      name: 'middleware-knows-no-kone',
      comment: 'the set works in Koa, too',
      severity: 'error',
      from: { path: '^middleware/' },
      to: { path: '^lib/' }
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
      to: { pathNot: '^node_modules/prom-client/', dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown', 'unknown', 'undetermined'] }
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
      from: { path: '^middleware/' },
      to: { circular: true }
    }
  ],
  options: { doNotFollow: { path: 'node_modules' }, exclude: { path: '\\.d\\.mts$' }, moduleSystems: ['cjs', 'es6'] }
}
