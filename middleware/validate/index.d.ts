import Kone = require('../../lib/index')

/**
 * Validate parts of a request by Standard Schema v1. What the schemas return is `ctx.valid` for the
 * middleware that follow on the same route; what does not fit is a 400.
 *
 *    router.post('/items', validate({ body: Item }), ctx => { ctx.body = ctx.valid.body.price })
 */
declare function validate<const Schemas extends validate.Options> (
  options: Schemas
): Kone.Middleware<{}, validate.ValidContext<Schemas>>

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

  type Part = 'params' | 'query' | 'headers' | 'cookies' | 'body'
  type Schemas = Pick<Options, Part>

  interface Options {
    // <options>
    /** Schema of `ctx.params`, which the router sets. */
    params?: StandardSchema | undefined
    /**
     * Schema of `ctx.query`: strings, and arrays for a repeated key; it must coerce other types; one value fits an
     * array, too.
     */
    query?: StandardSchema | undefined
    /** Schema of `ctx.headers`, with names in lower case. */
    headers?: StandardSchema | undefined
    /**
     * Schema of the cookies, as an object of values as `ctx.cookies.get(name)` returns them; signatures are not
     * verified.
     */
    cookies?: StandardSchema | undefined
    /**
     * Schema of `ctx.request.body`, which a body parser sets before it: `bodyParser`, `upload` or another package.
     */
    body?: StandardSchema | undefined
    /** Schema of the JSON body of a success (2xx), or schemas by status: `{ 200: Item, 404: Problem }`. */
    response?: StandardSchema | { readonly [status: number]: StandardSchema } | undefined
    /** `true`: fast-json-stringify, which the app installs, writes the bodies of `response`. Default: `false`. */
    serialize?: boolean | undefined
    /** `(err, ctx)`, called instead of responding with the 400: it responds or throws. Default: a 400. */
    onError?: ((err: ValidationError, ctx: Kone.Context) => unknown) | undefined
    // </options>
  }

  interface ValidationError extends Kone.HttpError<400> {
    issues: Issue[]
  }

  /** What the client reads about one place that does not fit; never the value itself. */
  interface Issue {
    in: Part
    path: Array<string | number>
    message: string
  }

  type Output<Schema> = Schema extends { readonly '~standard': { readonly types?: infer Types } }
    ? NonNullable<Types> extends { readonly output: infer Value } ? Value : unknown
    : never

  type Input<Schema> = Schema extends { readonly '~standard': { readonly types?: infer Types } }
    ? NonNullable<Types> extends { readonly input: infer Value } ? Value : unknown
    : never

  /** What the schemas by status take, of any status; unknown without one of a success. */
  type Sent<S> = S extends { response: infer R }
    ? Extract<`${keyof R & number}`, `2${string}`> extends never ? unknown : Input<R[keyof R]>
    : unknown

  interface ValidContext<S> {
    /** Only a type, for client(). */
    readonly '~schemas'?: S
    /** Only a type, for the router: the body of a route's last function. */
    readonly '~sent'?: Sent<S>
    /** The values that the schemas returned. */
    valid: { [Name in keyof S & Part]: Output<S[Name]> }
  }
}

export = validate
