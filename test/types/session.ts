// The fields of all sessions, declared once.
import Kone from 'kone'
import session from 'kone/middleware/session'

declare module 'kone/middleware/session' {
  interface Data {
    userId?: string
  }
}

declare function is<T> (value: T): void

const app = new Kone<{}, {}>()
app.use(session())
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
