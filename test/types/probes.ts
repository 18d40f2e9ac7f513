// health and metrics.
import Kone from 'kone'
import health from 'kone/middleware/health'
import metrics from 'kone/middleware/metrics'
import * as prom from 'prom-client'

const app = new Kone()

app.use(health())
app.use(health({ live: '/live', ready: false, checks: { redis: async ctx => ctx.ip }, timeout: 500 }))
app.use(metrics({ client: prom, register: new prom.Registry(), prefix: 'app_', buckets: [1, 2], path: false }))
// @ts-expect-error: no such option
health({ redy: '/' })
// @ts-expect-error: not a path
metrics({ path: true })
