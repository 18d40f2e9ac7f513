import Kone = require('../../lib/index')

/** Give `ctx.render(view, locals)`: nunjucks, each template compiled once, text escaped. */
declare function template (root: string, options?: template.Options): template.Middleware

declare namespace template {
  /** Called without a context: the method for `app.context.render`. */
  interface Middleware {
    (ctx: Kone.Context, next: Kone.Next): Promise<any>
    (): Render
  }

  type Render = (view: string, locals?: Record<string, any>) => Promise<string>

  interface Options {
    // <options>
    /**
     * Set `ctx.body` to the rendered text; the promise of `ctx.render()` resolves to the text in any case. Default:
     * `true`.
     */
    autoRender?: boolean | undefined
    /** Extension of a view that is named without one. Default: `'html'`. */
    extension?: string | undefined
    /** More extensions of nunjucks files: `{ tpl: 'nunjucks' }`. */
    map?: { [extension: string]: 'nunjucks' } | undefined
    /** Settings of the engine, which its README lists; all other names are variables of every template. */
    options?: EngineOptions | undefined
    // </options>
  }

  interface EngineOptions {
    filters?: { [name: string]: (...args: any[]) => any } | undefined
    tests?: { [name: string]: (...args: any[]) => any } | undefined
    globals?: { [name: string]: any } | undefined
    extensions?: { [name: string]: any } | undefined
    /** Default: true. */
    autoescape?: boolean | undefined
    throwOnUndefined?: boolean | undefined
    trimBlocks?: boolean | undefined
    lstripBlocks?: boolean | undefined
    tags?: object | undefined
    /** A loader of nunjucks, for templates that are not in `root`. */
    loader?: any
    /** true: compile again what has changed, in production too. */
    watch?: boolean | undefined
    /** As `watch`. */
    noCache?: boolean | undefined
    /** true: as in production, keep what was compiled. */
    cache?: boolean | undefined
    /** An Environment of your own. */
    nunjucksEnv?: any
    /** Variables of every template. */
    [variable: string]: any
  }

  /** For `app.final`: waits for a `ctx.render()` that the handler did not await. */
  function final (): Kone.Final
}

declare module '../../lib/index' {
  interface BaseContext {
    render: template.Render
  }
}

export = template
