import type { Context, Middleware } from '../../lib/index'

declare function bodyParser (options?: bodyParser.Options): Middleware

declare namespace bodyParser {
  type Type = 'json' | 'form' | 'text' | 'xml'
  /** bytes after decompression, or as '1mb' */
  type Size = number | string

  interface FormOptions {
    /** `a.b` is `a[b]`; default true */
    allowDots?: boolean
    /** from this index on `a[20]` is the key of an object; default 20, at most 1000 */
    arrayLimit?: number
    /** levels, more is a 400; default 5 */
    depth?: number
    /** pairs, more is a 413; default 1000 */
    parameterLimit?: number
  }

  interface Options {
    /** default json and form */
    enableTypes?: Type[]
    /** default '1mb' */
    jsonLimit?: Size
    /** default '56kb' */
    formLimit?: Size
    /** default '1mb' */
    textLimit?: Size
    /** default '1mb' */
    xmlLimit?: Size
    /** of all decoders of compressed bodies in the process together; further ones are queued; default '64mb' */
    decoderMemory?: Size
    /** where the request names no charset; default 'utf-8' */
    encoding?: string
    /** JSON must be an object or an array; default true */
    strict?: boolean
    /** true: parse the body as JSON, whatever its type */
    detectJSON?: (ctx: Context) => boolean
    /** more content types: `{ json: ['application/x-js'] }` */
    extendTypes?: { [type in Type]?: string | string[] }
    /** instead of throwing; in @koa/bodyparser it is onError */
    onerror?: (err: Error, ctx: Context) => void
    onError?: (err: Error, ctx: Context) => void
    /** `strict` by its name in @koa/bodyparser */
    jsonStrict?: boolean
    /** methods whose bodies are parsed; default: all */
    parsedMethods?: string[]
    patchNode?: false
    enableRawChecking?: false
    /** what `__proto__` in JSON means; default 'error' */
    onProtoPoisoning?: 'error' | 'remove' | 'ignore'
    queryString?: FormOptions | Record<string, unknown>
    /** parses forms instead, called with queryString */
    qs?: { parse (text: string, options?: any): any }
  }
}

declare module '../../lib/index' {
  interface Request {
    /** what bodyParser made of the body */
    body?: unknown
    /** the text it was made of */
    rawBody?: string
  }
}

export = bodyParser
