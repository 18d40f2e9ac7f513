import type { Context, Middleware } from '../../lib/index'

/**
 * Count requests for Prometheus, by prom-client, and serve the metrics.
 *
 *    app.use(metrics())
 *
 * @throws if prom-client is not installed
 */
declare function metrics (options?: metrics.Options): Middleware

declare namespace metrics {
  interface Options {
    /** where they are served; default '/metrics' */
    path?: string | false
    /** put before the names of the metrics; default none */
    prefix?: string
    /** upper bounds of the durations, in seconds */
    buckets?: number[]
    /** own labels of the durations, by name; called after the response; at most 100 values of 100 characters */
    labels?: Record<string, (ctx: Context) => unknown>
    /** paths whose requests are not counted */
    exclude?: Array<string | RegExp>
    /** who reads the metrics must send it: `Authorization: Bearer …`; default none */
    token?: string
    /** with prom-client's own metrics of the process; default true */
    defaults?: boolean
    /** prom-client, where it cannot be required from kone */
    client?: Client
    /** a Registry of prom-client; default the client's own */
    register?: Registry
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
