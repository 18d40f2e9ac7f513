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
    /** Default: koa-log4's, and the request's id when it has one. */
    format?: Format | undefined
    /** Default: 'info'; 'auto' is info, from 300 on warn, from 400 on error. */
    level?: 'auto' | 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | (string & {}) | { levelStr: string } | undefined
    /** Urls that are not logged. */
    nolog?: string | RegExp | Array<string | RegExp> | undefined
    /** Your own. */
    tokens?: Token[] | undefined
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
