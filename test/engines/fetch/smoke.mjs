// Run on Bun and on Deno by runtimes.once.long.test.js: `export default app` is what both serve. The app uses
// what an app has beside ctx.req and ctx.res.
import Kone from 'kone'
import bodyParser from 'kone/middleware/bodyParser'
import cors from 'kone/middleware/cors'
import helmet from 'kone/middleware/helmet'
import requestId from 'kone/middleware/requestId'
import Router from 'kone/middleware/router'
import session from 'kone/middleware/session'

const app = new Kone({ keys: ['a secret of at least thirty-two bytes!'] })
app.on('error', err => console.error(err.message))

const router = new Router()
router.get('/', ctx => { ctx.body = { ip: ctx.ip, host: ctx.host, id: ctx.state.id } })
router.get('/visits', ctx => {
  ctx.session.visits = (ctx.session.visits || 0) + 1
  ctx.body = ctx.session
})
router.post('/echo', ctx => { ctx.body = ctx.request.body })
router.get('/inject', async ctx => {
  const { status } = await app.inject('/visits')
  try {
    await app.inject.websocket('/')
  } catch (err) {
    ctx.body = { status, message: err.message }
  }
})
router.get('/stream', ctx => {
  ctx.type = 'text'
  ctx.body = new ReadableStream({
    start (controller) {
      controller.enqueue(new TextEncoder().encode('one '))
      controller.enqueue(new TextEncoder().encode('two'))
      controller.close()
    }
  })
})
router.get('/unread', async ctx => {
  ctx.body = await new Promise(resolve => {
    const body = new ReadableStream({ cancel: () => resolve('cancelled') })
    app.fetch(new Request('http://kone.example/nope', { method: 'POST', body, duplex: 'half' }))
  })
})
const left = []
router.get('/waits', async ctx => {
  const began = Date.now()
  ctx.onFinished(err => left.push({ code: err?.code ?? 'ok', waited: Date.now() - began }))
  await new Promise(resolve => setTimeout(resolve, 1500))
  ctx.body = 'late'
})
router.get('/left', ctx => { ctx.body = left })
router.get('/broken', () => { throw new Error('broken on purpose') })
router.get('/node', ctx => { ctx.body = ctx.req.url })

app.use(requestId())
app.use(cors())
app.use(helmet())
app.use(session({ store: session.sealedCookie({ keys: app.keys }) }))
app.use(bodyParser())
app.use(router.routes())

export default app
