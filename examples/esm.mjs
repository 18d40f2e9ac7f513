// kone as an ES module. `Kone` is the class that `require('kone')` returns.
import Kone, { HttpError } from 'kone'

const app = new Kone()

app.use(async (ctx, next) => {
  try {
    await next()
  } catch (err) {
    if (!(err instanceof HttpError && err.expose)) throw err
    ctx.status = err.status
    ctx.body = { error: err.message }
  }
})

app.use(ctx => {
  if (ctx.path !== '/') ctx.throw(404, 'no such page')
  ctx.body = { hello: 'ES modules' }
})

const port = process.env.PORT || 3000
app.listen(port, () => console.log(`http://localhost:${port}`))
