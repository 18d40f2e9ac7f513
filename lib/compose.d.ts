import Kone = require('./index')

/**
 * Make one middleware of several.
 *
 *    app.use(compose([auth, log, handler]))
 *
 * The state and the context that they ask for add up. A function without types gets a ctx of any names.
 */
declare function compose<
  S1 = Kone.DefaultState, C1 = Kone.DefaultContext, S2 = Kone.DefaultState, C2 = Kone.DefaultContext
> (
  middleware: [Kone.Middleware<S1, C1>, Kone.Middleware<S2, C2>]
): Kone.Middleware<S1 & S2, C1 & C2>
declare function compose<
  S1 = Kone.DefaultState, C1 = Kone.DefaultContext, S2 = Kone.DefaultState, C2 = Kone.DefaultContext,
  S3 = Kone.DefaultState, C3 = Kone.DefaultContext
> (
  middleware: [Kone.Middleware<S1, C1>, Kone.Middleware<S2, C2>, Kone.Middleware<S3, C3>]
): Kone.Middleware<S1 & S2 & S3, C1 & C2 & C3>
declare function compose<
  S1 = Kone.DefaultState, C1 = Kone.DefaultContext, S2 = Kone.DefaultState, C2 = Kone.DefaultContext,
  S3 = Kone.DefaultState, C3 = Kone.DefaultContext, S4 = Kone.DefaultState, C4 = Kone.DefaultContext
> (
  middleware: [
    Kone.Middleware<S1, C1>, Kone.Middleware<S2, C2>, Kone.Middleware<S3, C3>, Kone.Middleware<S4, C4>
  ]
): Kone.Middleware<S1 & S2 & S3 & S4, C1 & C2 & C3 & C4>
declare function compose<T = Kone.Context> (middleware: Array<compose.Middleware<T>>): compose.ComposedMiddleware<T>

declare namespace compose {
  type Middleware<T> = (context: T, next: Kone.Next) => any
  type ComposedMiddleware<T> = (context: T, next?: () => unknown) => Promise<void>
}

export = compose
