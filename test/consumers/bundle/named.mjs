import Kone from 'kone'
import client from 'kone/client'
import { jsonp, router as Router } from 'kone/middleware'

const app = new Kone()
const api = client('http://kone.example', { fetch: app.fetch })
const router = new Router()
router.get('/page/:name', ctx => { ctx.body = `Good day ${ctx.params.name}` })
router.get('/again/:name', async ctx => { ctx.body = await (await api.get('/page/:name', { params: ctx.params })).text() })
app.use(jsonp()).use(router.routes())

const server = app.listen(0, '127.0.0.1', () => console.log(server.address().port))
