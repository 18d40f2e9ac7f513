import Kone = require('../../lib/index')

/** Speak the language of the client: `ctx.i18n`, `ctx.t`, and the helpers in `ctx.state`. */
declare function i18n (app: i18n.App, options: i18n.Options): Kone.Middleware

declare namespace i18n {
  /** An app of kone or Koa. */
  interface App {
    context: object
    request: object
  }

  type Locale = string | null | undefined | false

  /** A locale, or nothing for the next mode; also promised. */
  type OwnMode = (this: Kone.Context, ctx: Kone.Context) => Locale | PromiseLike<Locale>

  interface Options {
    // <options>
    /** Names of catalogues, or the catalogues by name. */
    locales: string[] | { [name: string]: Catalogue }
    /** Folder of the catalogues. Default: `'./locales'`. */
    directory?: string | undefined
    /** Extension of the files. Default: `.js`, which holds JSON text, else `.json`. */
    extension?: string | undefined
    /** Converts the text of a file to a catalogue. Default: `JSON.parse`. */
    parse?: ((text: string) => Catalogue) | undefined
    /**
     * `query`, `subdomain`, `cookie`, `header`, `url`, `tld`, or `(ctx) => locale`, which may return a promise; the
     * first mode that finds a locale wins. Default: `[]`.
     */
    modes?: Array<Mode | OwnMode> | undefined
    /** Locale of a request for which no mode finds one. Default: the first of `locales`. */
    defaultLocale?: string | undefined
    /**
     * Locale whose texts replace the missing texts of another locale; `false`: no replacement. Default: the default
     * locale.
     */
    fallback?: string | false | undefined
    /** Name of the query parameter and of the cookie. Default: `'locale'`. */
    key?: string | undefined
    // </options>
  }

  type Mode = 'query' | 'subdomain' | 'cookie' | 'header' | 'url' | 'tld' | (string & {})

  interface Catalogue {
    [key: string]: any
  }

  /** `%s` and `%d` take arguments in order; one object is for i18next: `{ count, name, … }`. */
  type Translate = (key: string, ...args: any[]) => any

  interface TranslatePlural {
    (key: string, count: number, ...args: any[]): string
    (one: string, other: string, count: number, ...args: any[]): string
  }

  interface I18n {
    readonly locale: string
    readonly defaultLocale: string
    readonly locales: { [name: string]: Catalogue }
    __: Translate
    __n: TranslatePlural
    getLocale (): string
    /** An unknown name is the default locale. */
    setLocale (name: string): string | undefined
    isPreferredLocale (): boolean
    setLocaleFromQuery (): true | undefined
    setLocaleFromSubdomain (): true | undefined
    setLocaleFromCookie (): true | undefined
    setLocaleFromHeader (): true | undefined
    setLocaleFromUrl (): true | undefined
    setLocaleFromTLD (): true | undefined
  }
}

declare module '../../lib/index' {
  interface BaseContext {
    readonly i18n: i18n.I18n
    readonly t: i18n.Translate
    getLocaleFromQuery (): string | undefined
    getLocaleFromSubdomain (): string | undefined
    getLocaleFromCookie (): string | undefined
    getLocaleFromHeader (multi: true): string[]
    getLocaleFromHeader (multi?: false): string | undefined
    getLocaleFromUrl (options?: { offset?: number | undefined }): string | undefined
    getLocaleFromTLD (): string | undefined
  }
}

export = i18n
