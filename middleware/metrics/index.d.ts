import Kone = require('../../lib/index')

/**
 * Count requests for Prometheus, by prom-client, and serve the metrics.
 *
 *    app.use(metrics())
 *
 * @throws if prom-client is not installed
 */
declare function metrics (options?: metrics.Options): Kone.Middleware

declare namespace metrics {
  interface Options {
    // <options>
    /** Path that serves the metrics; `false`: no path. Default: `'/metrics'`. */
    path?: string | false | undefined
    /** Put before the names of the metrics. Default: none. */
    prefix?: string | undefined
    /** Upper bounds of the durations (s). Default: 0.005 to 10. */
    buckets?: number[] | undefined
    /**
     * Add prom-client's own metrics of the process: event-loop lag, heap, CPU, garbage collection. Default: `true`.
     */
    defaults?: boolean | undefined
    /** Functions `ctx => value` by name: own labels of the durations; called after the response. Default: none. */
    labels?: Record<string, (ctx: Kone.Context) => unknown> | undefined
    /** Paths, and regular expressions for paths, whose requests are not counted. Default: none. */
    exclude?: Array<string | RegExp> | undefined
    /** A client that reads the metrics must send it: `Authorization: Bearer …`. */
    token?: string | undefined
    /** Prom-client itself, if kone cannot require it. Default: `require('prom-client')`. */
    client?: Client | undefined
    /** The `Registry` of prom-client that holds the metrics. Default: the client's. */
    register?: Registry | undefined
    // </options>
  }

  // of prom-client, in as far as they are used: it is an optional peer

  interface Client {
    register: any
    Histogram: new (configuration: any) => any
    Gauge: new (configuration: any) => any
    Counter: new (configuration: any) => any
    collectDefaultMetrics (configuration?: any): void
  }

  interface Registry {
    readonly contentType: string
    metrics (): Promise<string>
    getSingleMetric (name: string): any
    registerMetric (metric: any): void
  }
}

export = metrics
