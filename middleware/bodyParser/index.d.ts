import Kone = require('../../lib/index')

declare function bodyParser (options?: bodyParser.Options): Kone.Middleware

declare namespace bodyParser {
  type Type = 'json' | 'form' | 'text' | 'xml'
  /** Bytes after decompression, or as '1mb'. */
  type Size = number | string

  interface FormOptions {
    // <options.queryString>
    /** `a.b` is `a[b]`. Default: `true`. */
    allowDots?: boolean | undefined
    /** An index from this on, as in `a[20]`, is the key of an object; at most 1000. Default: 20. */
    arrayLimit?: number | undefined
    /** Levels; more are a 400. Default: 5. */
    depth?: number | undefined
    /** Pairs; more are a 413. Default: 1000. */
    parameterLimit?: number | undefined
    // </options.queryString>
  }

  interface Options {
    // <options>
    /** Kinds of bodies that are parsed: `json`, `form`, `text`, `xml`. Default: `['json', 'form']`. */
    enableTypes?: Type[] | undefined
    /**
     * The largest body, after decompression; 0 allows only an empty one (bytes, or as `'1mb'`). Default: `'1mb'`.
     */
    jsonLimit?: Size | undefined
    /**
     * The largest body, after decompression; 0 allows only an empty one (bytes, or as `'1mb'`). Default: `'1mb'`.
     */
    textLimit?: Size | undefined
    /**
     * The largest body, after decompression; 0 allows only an empty one (bytes, or as `'1mb'`). Default: `'1mb'`.
     */
    xmlLimit?: Size | undefined
    /** The largest form, after decompression (bytes, or as `'1mb'`). Default: `'56kb'`. */
    formLimit?: Size | undefined
    /**
     * Memory of all decoders of compressed bodies in the process together; further bodies are queued (bytes, or as
     * `'1mb'`). Default: `'64mb'`.
     */
    decoderMemory?: Size | undefined
    /** Charset of a request whose Content-Type has no charset. Default: `'utf-8'`. */
    encoding?: string | undefined
    /** JSON must be an object or an array. Default: `true`. */
    strict?: boolean | undefined
    /** Another name of `strict`. */
    jsonStrict?: boolean | undefined
    /** `ctx => boolean`; `true`: parse the body as JSON, whatever its type. */
    detectJSON?: ((ctx: Kone.Context) => boolean) | undefined
    /** More content types per kind, in the syntax of type-is: `{ json: ['application/x-js'] }`. */
    extendTypes?: { [type in Type]?: string | string[] } | undefined
    /** `(err, ctx)`, called instead of throwing, and awaited. */
    onerror?: ((err: Error & { status?: number }, ctx: Kone.Context) => unknown) | undefined
    /** Another name of `onerror`. */
    onError?: ((err: Error & { status?: number }, ctx: Kone.Context) => unknown) | undefined
    /** Methods whose bodies are parsed; for other methods `ctx.request.body` stays undefined. Default: all. */
    parsedMethods?: string[] | undefined
    /** What happens to `__proto__` in JSON. Default: `'error'`. */
    onProtoPoisoning?: 'error' | 'remove' | 'ignore' | undefined
    /** Limits of forms. */
    queryString?: FormOptions | Record<string, unknown> | undefined
    /** An object that parses forms instead; its `parse` gets `queryString`. */
    qs?: { parse (text: string, options?: any): any } | undefined
    patchNode?: false | undefined
    enableRawChecking?: false | undefined
    // </options>
  }
}

declare module '../../lib/index' {
  interface BaseContext {
    /** true: the body of this request is not read. */
    disableBodyParser?: boolean | undefined
  }
  interface Request {
    /** What bodyParser made of the body. */
    body?: unknown
    /** The text it was made of. */
    rawBody?: string
  }
}

export = bodyParser
