import type { Middleware } from '../../lib/index'

/**
 * Serve an OpenAPI 3.1 document of the app: paths from its routers, schemas from `validate()`.
 *
 *    app.use(openapi(app, { info: { title: 'Shop', version: '1.0.0' }, page: '/docs' }))
 */
declare function openapi (app: { middleware: unknown[] }, options?: openapi.Options | null): Middleware & {
  /** The document as it is served. */
  document (): openapi.Document
}

declare namespace openapi {
  interface Options {
    /** default: name and version of package.json */
    info?: { title?: string, version?: string, [field: string]: unknown } | undefined
    servers?: Array<{ url: string, description?: string, [field: string]: unknown }> | undefined
    /** descriptions of the tags that routes have */
    tags?: Array<{ name: string, description?: string, [field: string]: unknown }> | undefined
    /** of all routes */
    security?: Array<Record<string, string[]>> | undefined
    /** `securitySchemes` and others */
    components?: Record<string, Record<string, unknown>> | undefined
    /** of the document, default: '/openapi.json' */
    path?: string | undefined
    /** path of a page with Scalar or Swagger UI, if one of them is installed */
    page?: string | false | undefined
    /** default: the one that is installed */
    ui?: 'scalar' | 'swagger' | undefined
    /** false: do not warn about handlers that are never reached, and responses that the document does not have */
    warnings?: boolean | undefined
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
