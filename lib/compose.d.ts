import Kone = require('./index')

/**
 * Make one middleware of several.
 *
 *    app.use(compose([auth, log, handler]))
 *
 * The state and the context that they ask for add up.
 */
declare function compose<S1, C1, S2, C2> (
  middleware: [Kone.Middleware<S1, C1>, Kone.Middleware<S2, C2>]
): Kone.Middleware<S1 & S2, C1 & C2>
declare function compose<S1, C1, S2, C2, S3, C3> (
  middleware: [Kone.Middleware<S1, C1>, Kone.Middleware<S2, C2>, Kone.Middleware<S3, C3>]
): Kone.Middleware<S1 & S2 & S3, C1 & C2 & C3>
declare function compose<S1, C1, S2, C2, S3, C3, S4, C4> (
  middleware: [
    Kone.Middleware<S1, C1>, Kone.Middleware<S2, C2>, Kone.Middleware<S3, C3>, Kone.Middleware<S4, C4>
  ]
): Kone.Middleware<S1 & S2 & S3 & S4, C1 & C2 & C3 & C4>
declare function compose<T> (middleware: Array<compose.Middleware<T>>): compose.ComposedMiddleware<T>

declare namespace compose {
  type Middleware<T> = (context: T, next: Kone.Next) => any
  type ComposedMiddleware<T> = (context: T, next?: Kone.Next) => Promise<void>
}

export = compose
