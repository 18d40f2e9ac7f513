// What packages add with `declare module` is on ctx.
import Kone from 'kone'

declare module 'kone' {
  interface DefaultContextExtends {
    tenant: { id: number }
  }
  interface DefaultStateExtends {
    visits: number
  }
  interface BaseContext {
    paint (wall: string): Promise<void>
  }
  interface BaseState {
    trace: string
  }
  interface ExtendableContext {
    locale: 'en' | 'zh'
  }
  interface Request {
    files: string[]
  }
  interface Response {
    sent: boolean
  }
}

declare function is<T> (value: T): void

const app = new Kone()
app.use(async (ctx, next) => {
  is<number>(ctx.tenant.id)
  is<number>(ctx.state.visits)
  is<Promise<void>>(ctx.paint('north'))
  is<'en' | 'zh'>(ctx.locale)
  is<string[]>(ctx.request.files)
  is<boolean>(ctx.response.sent)
  // @ts-expect-error: a number
  is<string>(ctx.tenant.id)
  // @ts-expect-error: a number
  is<string>(ctx.state.visits)
  // @ts-expect-error: not a language of ours
  ctx.locale = 'fr'
  await next()
})
app.final(ctx => { is<number>(ctx.tenant.id) })
new Kone<{ own: number }, {}>().use(ctx => {
  is<number>(ctx.state.own)
  is<string>(ctx.state.trace)
  is<Promise<void>>(ctx.paint('north'))
  // @ts-expect-error: only where the app has no state of its own
  is<number>(ctx.state.visits)
})
new Kone<{ own: number }>().use(ctx => {
  is<number>(ctx.tenant.id)
  is<string>(ctx.state.trace)
  // @ts-expect-error: nobody declared it
  is<any>(ctx.tennant)
})
