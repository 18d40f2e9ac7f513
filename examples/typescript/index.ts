// npx tsc -p examples/typescript && node examples/typescript/dist
import Kone, { type Middleware } from 'kone'

interface State {
  user: { name: string }
}

interface Context {
  greet (name: string): string
}

const app = new Kone<State, Context>()

app.context.greet = name => `Hello ${name}`

const auth: Middleware<State, Context> = (ctx, next) => {
  const { name } = ctx.query
  if (typeof name !== 'string') return ctx.throw(401, 'who are you?')
  ctx.state.user = { name }
  return next()
}

app.use(auth)
app.use(ctx => { ctx.body = { greeting: ctx.greet(ctx.state.user.name) } })

const port = Number(process.env.PORT) || 3000
app.listen(port, () => console.log(`http://localhost:${port}`))
