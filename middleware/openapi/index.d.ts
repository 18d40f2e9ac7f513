import Kone = require('../../lib/index')

/**
 * Serve an OpenAPI 3.1 document of the app: paths from its routers, schemas from `validate()`.
 *
 *    app.use(openapi(app, { info: { title: 'Shop', version: '1.0.0' }, page: '/docs' }))
 */
declare function openapi (app: { middleware: unknown[] }, options?: openapi.Options | null): Kone.Middleware & {
  /** The document as it is served. */
  document (): openapi.Document
}

declare namespace openapi {
  interface Options {
    // <options>
    /** Title, version, description and others. Default: name and version of package.json. */
    info?: { title?: string, version?: string, [field: string]: unknown } | undefined
    /** As in OpenAPI. */
    servers?: Array<{ url: string, description?: string, [field: string]: unknown }> | undefined
    /** Descriptions of the tags that routes have. */
    tags?: Array<{ name: string, description?: string, [field: string]: unknown }> | undefined
    /** Security of all routes, as in OpenAPI. */
    security?: Array<Record<string, string[]>> | undefined
    /** As in OpenAPI; its `securitySchemes` names the schemes that routes may use. */
    components?: Record<string, Record<string, unknown>> | undefined
    /** Path of the document. Default: `'/openapi.json'`. */
    path?: string | undefined
    /** Path of a page that shows the document. Default: `false`. */
    page?: string | false | undefined
    /** What shows the page: Scalar or Swagger UI. Default: the one that is installed. */
    ui?: 'scalar' | 'swagger' | undefined
    /**
     * `false`: no warnings of handlers that are never reached, and of responses that the document does not have.
     * Default: `true`.
     */
    warnings?: boolean | undefined
    // </options>
  }

  interface Document {
    openapi: string
    info: { title: string, version: string, [field: string]: unknown }
    paths: Record<string, Record<string, any>>
    components: { schemas: Record<string, any>, [field: string]: unknown }
    [field: string]: unknown
  }
}

export = openapi
