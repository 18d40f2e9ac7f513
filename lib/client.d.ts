/**
 * Send requests to an app whose routes TypeScript knows: their paths, params, queries, bodies and responses.
 *
 *    const router = new Router().get('/notes/:id', validate({ response: Note }), show) // on the server
 *    const api = client<typeof router>('https://example.com')
 *    const res = await api.get('/notes/:id', { params: { id: 7 } })
 *    if (res.ok) (await res.json()).title
 */
declare function client<RouterT extends { readonly '~routes': unknown }> (
  base: string,
  options?: client.Options
): client.Client<RouterT['~routes']>

declare namespace client {
  interface Options extends Omit<RequestInit, 'method' | 'body'> {
    /** sends the requests, such as `app.fetch` in a test; default: the global one */
    fetch?: ((request: Request) => Promise<Response>) | undefined
  }

  type Methods = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS'

  type Client<RoutesT> = {
    [Method in Methods as Lowercase<Method>]: VerbOf<RoutesT, Method, PathsOf<RoutesT, Method>>
  }

  /** Without a path of the method, the compiler's error has the text. */
  type VerbOf<RoutesT, Method extends string, PathT extends string> = [PathT] extends [never]
    ? (path: `the router's type has no ${Method}: chain the routes: router.get(…).post(…)`, ...rest: unknown[]) => never
    : Verb<RoutesT, Method, PathT>

  interface Verb<RoutesT, Method extends string, PathT extends string> {
    <P extends PathT> (
      path: P, ...options: Given<ContextOf<RoutesT, Method, P>>
    ): Promise<SentOf<SchemasOf<ContextOf<RoutesT, Method, P>>>>
  }

  type PathsOf<RoutesT, Method extends string> =
    keyof RoutesT extends infer Key ? Key extends `${Method | 'ALL'} ${infer P}` ? P : never : never

  /** The context of a route's last function. */
  type ContextOf<RoutesT, Method extends string, P extends string> =
    `${Method} ${P}` extends infer Key extends keyof RoutesT ? RoutesT[Key]
      : `ALL ${P}` extends infer Key extends keyof RoutesT ? RoutesT[Key] : never

  type SchemasOf<ContextT> = ContextT extends { readonly '~schemas'?: infer S } ? NonNullable<S> : {}
  type Input<Schema> = Schema extends { readonly '~standard': { readonly types?: infer Types } }
    ? NonNullable<Types> extends { readonly input: infer Value } ? Value : unknown
    : never

  type Given<ContextT> = GivenOf<ContextT> extends infer T ? {} extends T ? [options?: T] : [options: T] : never

  type GivenOf<ContextT> =
    & Omit<RequestInit, 'method' | 'body'>
    & Params<ContextT extends { params: infer T } ? { [K in keyof T]: string | number } : {}>
    & QueryOf<SchemasOf<ContextT>>
    & BodyOf<SchemasOf<ContextT>>

  type QueryOf<S> = S extends { query: infer Schema }
    ? Query<Input<Schema>>
    : { query?: Record<string, unknown> | URLSearchParams | undefined }

  type BodyOf<S> = S extends { body: infer Schema }
    ? { body: Input<Schema> | FormData | URLSearchParams }
    : { body?: unknown }

  type Params<T> = {} extends T ? { params?: T | undefined } : { params: T }
  type Query<T> = {} extends T ? { query?: T | undefined } : { query: T }

  /** What the route responds with, by the `response` of its validate(). */
  type SentOf<S> = S extends { response: infer Schema }
    ? Schema extends { readonly '~standard': unknown }
      ? Success<number, Input<Schema>> | Failure<number, unknown>
      : ByStatus<Schema> | Failure<Exclude<FailureStatus, keyof Schema>, unknown>
    : Response

  type ByStatus<Schemas> = {
    [Status in keyof Schemas & number]: `${Status}` extends `2${string}`
      ? Success<Status, Input<Schemas[Status]>>
      : Failure<Status, Input<Schemas[Status]>>
  }[keyof Schemas & number]

  type Success<Status, T> = { readonly ok: true, readonly status: Status, json (): Promise<T> } & Response
  type Failure<Status, T> = { readonly ok: false, readonly status: Status, json (): Promise<T> } & Response

  /** What middleware around the route, servers and proxies send. */
  type FailureStatus =
    | 400 | 401 | 403 | 404 | 405 | 406 | 408 | 409 | 410 | 411 | 412 | 413 | 414 | 415 | 422 | 425 | 426 | 428 | 429
    | 431 | 500 | 501 | 502 | 503 | 504
}

export = client
