// health, metrics and overload.
import Kone from 'kone'
import health from 'kone/middleware/health'
import metrics from 'kone/middleware/metrics'
import overload from 'kone/middleware/overload'
import * as prom from 'prom-client'

const app = new Kone()

app.use(health())
app.use(health({ live: '/live', ready: false, checks: { redis: async ctx => ctx.ip }, timeout: 500 }))
const probes = health({ details: async ctx => ctx.secure, beforeShutdown: () => {}, afterShutdown: async () => {} })
app.use(probes)
probes.shutdown(() => app.close()).then((stopped: void) => stopped)
const load = overload.state()
app.use(overload({ maxEventLoopDelay: false, maxRssBytes: '1gb', retryAfter: load?.isOverloaded ? 1 : 2 }))
app.use(metrics({ labels: { tenant: ctx => ctx.hostname }, exclude: ['/x', /^\/y/], token: 'a secret' }))
app.use(metrics({ client: prom, register: new prom.Registry(), prefix: 'app_', buckets: [1, 2], path: false }))
// @ts-expect-error: no such option
health({ redy: '/' })
// @ts-expect-error a function
probes.shutdown()
// @ts-expect-error: not a path
metrics({ path: true })
