'use strict'

const { Options, boolean, list, object, oneOf, off, path, shape, string } = require('../../lib/shared/options')

module.exports = new Options('openapi', {
  info: shape({ title: string, version: string }, { open: true }).says('title, version, description and others', {
    otherwise: 'name and version of package.json', type: '{ title?: string, version?: string, [field: string]: unknown }'
  }),
  servers: list(object, 'objects').says('as in OpenAPI', {
    type: 'Array<{ url: string, description?: string, [field: string]: unknown }>'
  }),
  tags: list(object, 'objects').says('descriptions of the tags that routes have', {
    type: 'Array<{ name: string, description?: string, [field: string]: unknown }>'
  }),
  security: list(object, 'objects').says('security of all routes, as in OpenAPI', { type: 'Array<Record<string, string[]>>' }),
  components: object.says('as in OpenAPI; its `securitySchemes` names the schemes that routes may use', {
    type: 'Record<string, Record<string, unknown>>'
  }),
  path: path.says('path of the document', { default: '/openapi.json' }),
  page: path.or(off).says('path of a page that shows the document', { default: false }),
  ui: oneOf('scalar', 'swagger').says('what shows the page: Scalar or Swagger UI', { otherwise: 'the one that is installed' }),
  warnings: boolean.says('`false`: no warnings of handlers that are never reached, and of responses that the document ' +
    'does not have', { default: true })
})
