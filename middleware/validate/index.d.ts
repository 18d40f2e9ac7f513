import type { Context, HttpError, Middleware } from '../../lib/index'

/**
 * Validate parts of a request by Standard Schema v1. What the schemas return is `ctx.valid` for the
 * middleware that follow on the same route; what does not fit is a 400.
 *
 *    router.post('/items', validate({ body: Item }), ctx => { ctx.body = ctx.valid.body.price })
 */
declare function validate<const Schemas extends validate.Schemas & validate.Options> (
  options: Schemas
): Middleware<{}, validate.ValidContext<Schemas>>

declare namespace validate {
  /** What zod, valibot, arktype and others implement: https://standardschema.dev */
  interface StandardSchema<Input = unknown, Output = Input> {
    readonly '~standard': {
      readonly version: 1
      readonly vendor: string
      readonly validate: (value: unknown) => Result<Output> | Promise<Result<Output>>
      readonly types?: { readonly input: Input, readonly output: Output } | undefined
    }
  }

  type Result<Output> =
    | { readonly value: Output, readonly issues?: undefined }
    | { readonly issues: ReadonlyArray<SchemaIssue> }

  interface SchemaIssue {
    readonly message: string
    readonly path?: ReadonlyArray<PropertyKey | { readonly key: PropertyKey }> | undefined
  }

  interface Schemas {
    /** of `ctx.params` */
    params?: StandardSchema | undefined
    /** of `ctx.query` */
    query?: StandardSchema | undefined
    /** of `ctx.headers`, names in lower case */
    headers?: StandardSchema | undefined
    /** of the cookies, as an object */
    cookies?: StandardSchema | undefined
    /** of `ctx.request.body`, which a body parser set */
    body?: StandardSchema | undefined
  }

  interface Options {
    /** of the JSON body of a success (2xx), or by status; in development a body that does not fit is an error */
    response?: StandardSchema | { readonly [status: number]: StandardSchema } | undefined
    /** true: these bodies are written by fast-json-stringify, which the app installs */
    serialize?: boolean | undefined
    /** instead of the 400: responds or throws */
    onError?: ((err: ValidationError, ctx: Context) => unknown) | undefined
  }

  interface ValidationError extends HttpError<400> {
    issues: Issue[]
  }

  /** What the client reads about one place that does not fit; never the value itself. */
  interface Issue {
    in: 'params' | 'query' | 'headers' | 'cookies' | 'body'
    path: Array<string | number>
    message: string
  }

  type Output<Schema> = Schema extends { readonly '~standard': { readonly types?: infer Types } }
    ? NonNullable<Types> extends { readonly output: infer Value } ? Value : unknown
    : never

  interface ValidContext<S> {
    /** only a type, for client() */
    readonly '~schemas'?: S
    /** the values that the schemas returned */
    valid: { [Part in Exclude<keyof S, keyof Options>]: Output<S[Part]> }
  }
}

export = validate
