import Kone = require('../../lib/index')

/** Log one line per request, when its response is sent or the client has disconnected. */
declare function logger (
  options?: logger.Options & { transporter?: logger.Transporter | undefined }
): Kone.Middleware
declare function logger (
  log: logger.Logger | logger.Transporter | null | undefined,
  options?: logger.Options | logger.Format
): Kone.Middleware

declare namespace logger {
  /** log4js, pino, winston, bunyan, console: any object with a method per level. */
  interface Logger {
    info (line: string): any
    [level: string]: any
  }

  /** `args` is `[format, method, url, status, time, length]`, as koa-logger's. */
  type Transporter = (line: string, args: Array<string | number>) => any

  /**
   * Tokens of a text: :remote-addr :method :url :http-version :protocol :hostname :status :content-length :referrer
   * :user-agent :response-time (ms) :date :id :req[field] :res[field]. A function that returns '' logs nothing.
   */
  type Format =
    string | ((ctx: Kone.Context, expand: (format: string) => string) => string | undefined | false)

  interface Options {
    // <options>
    /**
     * Text with tokens, or `(ctx, expand) => line`; an empty line is not logged. Default: koa-log4's with date and
     * duration, and the request's id if it has one.
     */
    format?: Format | undefined
    /**
     * A level of the logger, or `'auto'`: info; warn from status 300 on; error from status 400 on. Default:
     * `'info'`.
     */
    level?: 'auto' | 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | (string & {}) | { levelStr: string } | undefined
    /** URLs that are not logged: a RegExp (its flags apply), the source of one as a string, or an array of both. */
    nolog?: string | RegExp | Array<string | RegExp> | undefined
    /** Your own tokens: `{ token, replacement }` or `{ token, content: ctx => … }`. Default: `[]`. */
    tokens?: Token[] | undefined
    // </options>
  }

  interface LoggerOptions extends Options {
    transporter?: Transporter | undefined
  }

  interface Token {
    token: string | RegExp
    replacement?: string | ((...match: string[]) => any) | undefined
    content?: ((ctx: Kone.Context) => any) | undefined
  }

  /** The same for `app.final`. */
  function final (options?: LoggerOptions): Kone.Final
  function final (log: Logger | Transporter | null | undefined, options?: Options | Format): Kone.Final
}

export = logger
