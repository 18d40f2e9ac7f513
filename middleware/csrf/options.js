'use strict'

const { Options, any, boolean, each, fn, integer, list, refused, string } = require('../../lib/shared/options')

module.exports = new Options('csrf', {
  errorHandler: fn.says('`ctx => *`, called instead of responding 403', {
    otherwise: '403 `Invalid CSRF token`', type: '(ctx: Kone.Context) => any'
  }),
  excludedMethods: list(string, 'strings').says('methods that are not checked', { default: ['GET', 'HEAD', 'OPTIONS'] }),
  disableQuery: boolean.says('`true`: do not read a token from the query', { default: false }),
  ignoredPathGlobs: list(string, 'strings').says(
    'paths that are not checked, in the syntax of multimatch without extended globs `+(…)`', { default: [] }),
  // fewer could be guessed, more fit into no header
  secretLength: integer({ min: 16, max: 1024, unit: 'bytes' }).says("length of a session's secret, 16 to 1024", { default: 18 }),
  saltLength: any.says('accepted and not used: these tokens have no salt', { type: 'number' }),
  ...each(refused('let errorHandler respond'), 'invalidTokenMessage', 'invalidTokenStatusCode') // koa-csrf 3
})
