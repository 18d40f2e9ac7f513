// The fields of all sessions, declared once; and those of a form, which upload declares without bodyParser.
import Kone from 'kone'
import session from 'kone/middleware/session'
import upload from 'kone/middleware/upload'

declare module 'kone/middleware/session' {
  interface Data {
    userId?: string
  }
}

declare function is<T> (value: T): void

const app = new Kone<{}, {}>()
app.use(session())
const sessions = session({
  lazy: true,
  genid: ctx => ctx.ip.padEnd(32, '0'),
  valid: (ctx, data) => data.userId !== undefined,
  beforeSave: (ctx, data) => { data.path = ctx.path },
  store: { get: async id => id, set () {}, destroy () {}, replace: () => false, touch: async () => true, ttl: () => 1000 }
})
is<boolean>(sessions.isStoreUp)
app.use(sessions)
// @ts-expect-error: a number is not an id
session({ genid: () => 1 })
app.use(ctx => {
  is<string | undefined>(ctx.session.userId)
  ctx.session = null
  is<Promise<void>>(ctx.session.save())
  is<boolean>(ctx.session.isNew)
  // @ts-expect-error: not declared
  is<any>(ctx.session.user)
  // @ts-expect-error: text
  ctx.session.userId = 1
})
new Kone().use(ctx => {
  // @ts-expect-error: not declared
  is<any>(ctx.session.user)
})

app.use(upload()).use(ctx => { is<unknown>(ctx.request.body) })
